"""Forgetting signals: turns that show that something said earlier was not in the context."""
