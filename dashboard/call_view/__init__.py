"""Draws what a past call was sent, on every page that shows calls."""
