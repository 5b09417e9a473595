"""Keeps what was found out about words, which repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_MOST: Final = 32_768  # chosen: the words of a long conversation, in a few MB
_MOST_CHARS: Final = 40  # of a word that is kept; chosen: longer ones do not come again


class KnownWords(dict[str, T]):
    """What `find` says of each word, asked once; forgotten when there are too many.

    Looking up a word takes half the time that a cached function takes.
    """

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[str], T]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> T:
        found = self._find(word)
        if len(word) < _MOST_CHARS:
            if len(self) >= _MOST:
                self.clear()
            self[word] = found
        return found
