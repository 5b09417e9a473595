"""What each part of a conversation is worth keeping verbatim, said without a model."""
