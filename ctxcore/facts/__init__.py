"""Owns facts: what matters in a conversation, found without a model, carried beside a summary."""
