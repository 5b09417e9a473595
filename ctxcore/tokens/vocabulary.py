"""Counts the tokens of texts by the ranks of a vocabulary, exactly as tiktoken does.

tiktoken first builds tables of the ranks, which takes longer than all else that a command does
with a small file. So the first texts are counted by the ranks alone, and the tables are built when
there is more to count. The ranks are forgotten then, since they take as much memory.
"""

from __future__ import annotations

import threading
import unicodedata
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from regex import Pattern
    from tiktoken import Encoding

FIRST_CHARS: Final = 12_000  # counted without tables; chosen: about half of what they take
_MOST_BYTES: Final = 48  # of a piece merged here; chosen: the time grows with the square
_NO_RANK: Final = 1 << 32


class Vocabulary:
    """The ranks of a published vocabulary, and the pattern that splits texts into its pieces."""

    def __init__(self, name: str, pattern: str, ranks: dict[bytes, int]) -> None:
        """`pattern` is in the syntax that tiktoken and the package regex share."""
        self.name = name
        self._pattern, self._ranks = pattern, ranks
        self._left = FIRST_CHARS
        self._tables: Encoding | None = None
        self._using_ranks = threading.Lock()

    @property
    def has_tables(self) -> bool:
        """Whether tiktoken's tables are built."""
        return self._tables is not None

    @property
    def tables(self) -> Encoding:
        """tiktoken's own, which take a fifth of a second to build."""
        with self._using_ranks:
            if self._tables is None:
                from tiktoken import Encoding  # late: the import is slow

                self._tables = Encoding(
                    self.name, pat_str=self._pattern, mergeable_ranks=self._ranks, special_tokens={}
                )
                self._left = 0
                self._ranks.clear()  # the tables keep the dictionary, but count without it
            return self._tables

    def count(self, text: str) -> int:
        """The tokens of `text`, which has no lone surrogate; all of it is ordinary text."""
        count = self._counted_first(text) if len(text) <= self._left else None
        return len(self.tables.encode_ordinary(text)) if count is None else count

    def _counted_first(self, text: str) -> int | None:
        with self._using_ranks:
            if len(text) > self._left:  # another thread has built the tables
                return None
            self._left -= len(text)
            return self._count_by_ranks(text)

    @cached_property
    def _split(self) -> Pattern[str]:
        import regex  # late: many programs count too much to need it

        return regex.compile(self._pattern)

    def _count_by_ranks(self, text: str) -> int | None:
        """The tokens of `text`; None where it has a character or a piece that tables are for."""
        if not text.isascii() and any(unicodedata.category(sign) == "Cn" for sign in set(text)):
            return None  # too new a character: one library may know its class and another not
        pieces = [piece.encode() for piece in self._split.findall(text)]
        if max(map(len, pieces), default=0) > _MOST_BYTES:
            return None
        return sum(1 if piece in self._ranks else self._merged(piece) for piece in pieces)

    def _merged(self, piece: bytes) -> int:
        """The tokens of a piece: neighbours of the lowest rank are merged first, from the left."""
        parts = [piece[place : place + 1] for place in range(len(piece))]
        while len(parts) > 1:
            ranks = [self._ranks.get(one + next_one, _NO_RANK) for one, next_one in pairwise(parts)]
            lowest = min(ranks)
            if lowest == _NO_RANK:
                break
            place = ranks.index(lowest)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return len(parts)
