"""Kills, crowds, starves and feeds nonsense to the library, and counts what was lost."""
