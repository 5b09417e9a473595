"""Codecs for the message shapes of providers: each reads and writes lists of `Message` values."""
