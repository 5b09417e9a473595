"""Owns the settings page: thresholds by scope, connections, users."""
