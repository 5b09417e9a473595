"""Owns replay: a recorded conversation call by call under a policy, its costs and losses."""
