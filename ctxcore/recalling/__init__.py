"""Recall: finding and ranking messages that a context does not show."""
