"""Caches the messages that contexts of the sessions used last were built from, with their sizes.

The next context needs nearly the same ones, and messages never change; entries stay valid until
their session is erased.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from ctxcore.assembly.history import Counted

MAX_CHARS: Final = 16_000_000  # of stored texts in all; chosen: some windows of 200,000 tokens

Key = tuple[str, datetime, str]
"""A session, when it was created, and the counter."""


class Known(NamedTuple):
    """A message in its history, the running sum of sizes up to it, and the length of its text."""

    row: Counted
    cum: int
    chars: int


@dataclass
class _Shelf:
    """What is known of one session by one counter, in the order in which it was read."""

    rows: dict[int, Known] = field(default_factory=dict)
    chars: int = 0


class KnownRows:
    """The rows of sessions; safe to share between threads."""

    def __init__(self, most_chars: int = MAX_CHARS) -> None:
        self._shelves: OrderedDict[Key, _Shelf] = OrderedDict()
        self._chars = 0
        self._most_chars = most_chars
        self._lock = Lock()

    def of(self, key: Key, seqs: Iterable[int]) -> dict[int, Known]:
        """Those of the rows `seqs` that are known, by sequence number."""
        with self._lock:
            shelf = self._shelves.get(key)
            if shelf is None:
                return {}
            self._shelves.move_to_end(key)
            rows = shelf.rows
            return {seq: rows[seq] for seq in seqs if seq in rows}

    def add(self, key: Key, read: Iterable[Known]) -> None:
        """Keeps rows that were read; the longest unused sessions give way, then older rows."""
        with self._lock:
            shelf = self._shelves.setdefault(key, _Shelf())
            self._shelves.move_to_end(key)
            for known in read:
                if known.row.seq not in shelf.rows:
                    shelf.rows[known.row.seq] = known
                    shelf.chars += known.chars
                    self._chars += known.chars
            while self._chars > self._most_chars:
                self._drop_oldest()

    def forget(self, session_ids: Iterable[str]) -> None:
        """Drops erased sessions."""
        erased = set(session_ids)
        with self._lock:
            for key in [key for key in self._shelves if key[0] in erased]:
                self._chars -= self._shelves.pop(key).chars

    def _drop_oldest(self) -> None:
        """Drops the session that was not used for longest; of the last one, what was read first."""
        key, shelf = next(iter(self._shelves.items()))
        if len(self._shelves) > 1:
            del self._shelves[key]
            self._chars -= shelf.chars
            return
        known = shelf.rows.pop(next(iter(shelf.rows)))
        shelf.chars -= known.chars
        self._chars -= known.chars
