"""Figures beside peers; never run by the tests."""
