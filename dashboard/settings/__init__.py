"""The settings page: thresholds by scope, assignments, connections, models and users."""
