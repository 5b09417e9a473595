"""The usage page: rows made from calls, token shares, charts and sections."""
