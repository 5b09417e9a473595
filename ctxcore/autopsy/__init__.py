"""Examines recorded conversations: what was lost, repeated and paid, and why; writes nothing."""
