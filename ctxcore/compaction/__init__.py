"""Compaction of a conversation: triggers, plans, strategies, summaries and what they lose."""
