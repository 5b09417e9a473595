"""Summarizers, and what they share: requests, prompts, checks and the form of quotes."""
