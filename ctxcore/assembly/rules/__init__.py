"""The legality rules: what providers refuse, how it is found, and how it is repaired."""
