"""Tries policies on sessions: choosing, results, a session in another world, applying."""
