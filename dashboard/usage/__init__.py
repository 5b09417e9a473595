"""Owns the usage page: rows from calls, the account of a session, the sections that draw them."""
