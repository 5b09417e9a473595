"""Policies: the thresholds of budgets and compactions, and the presets that set them."""
