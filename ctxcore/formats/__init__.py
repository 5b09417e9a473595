"""Conversations of other products, read as values; nothing here writes."""
