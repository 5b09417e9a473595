"""Owns what a store is: everything the engine asks of one; any that keeps it will do."""

from __future__ import annotations

from typing import Protocol

from ctxcore.store.history_protocol import HistoryStore
from ctxcore.store.record_protocol import RecordStore


class SessionStore(HistoryStore, RecordStore, Protocol):
    """Keeps conversations whole, with all that was decided about them; safe between threads."""

    def close(self) -> None:
        """Lets go of everything the store holds open."""
        ...
