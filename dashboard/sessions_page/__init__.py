"""Owns the sessions page: finding, keeping, importing and exporting sessions."""
