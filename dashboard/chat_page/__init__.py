"""The chat page: actions, transcript, running turns, and the column beside them."""
