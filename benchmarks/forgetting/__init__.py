"""How many forgetting signals are found, and how many of those found are right."""
