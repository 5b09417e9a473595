"""Owns the dashboard behind the pages: shell, running turns, texts and charts."""
