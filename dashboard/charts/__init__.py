"""Owns the charts: pure functions from values of ctxcore to what is drawn."""
