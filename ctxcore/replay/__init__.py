"""Replay of a recorded conversation call by call under a policy: its costs and its losses."""
