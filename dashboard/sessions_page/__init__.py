"""The sessions page: list, search, import, export and deletion of sessions."""
