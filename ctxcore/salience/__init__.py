"""Scores, without a model, what each part of a conversation is worth keeping verbatim."""
