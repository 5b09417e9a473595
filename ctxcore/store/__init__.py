"""Sessions on disk: histories that only grow, and everything recorded beside them."""

from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import SqlStore, open_store

__all__ = ["SessionStore", "SqlStore", "open_store"]
