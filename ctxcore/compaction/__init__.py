"""When to compact, what to fold, and what comes of it."""
