"""The codes of what can be wrong: messages, files, settings, the store, turns and model calls."""
