"""Messages and their parts, and the dictionaries they are read from and written to."""
