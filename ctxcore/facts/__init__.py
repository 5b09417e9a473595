"""Finds in messages what must not get lost, and follows what holds of it."""
