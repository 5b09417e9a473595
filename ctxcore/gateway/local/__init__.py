"""The built-in demo model: a small English chat model in this process, without key or network."""
