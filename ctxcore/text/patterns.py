"""Compiles patterns when they are first used, which all together take long; writes fast ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Late:
    """Stands for a pattern; after the first use it has the pattern's own methods."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:  # asked by copy and pickle, say
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(source, flags)`, put off until the pattern is used."""
    return cast("re.Pattern[str]", _Late(source, flags))


def one_of(words: Iterable[str]) -> str:
    """The source of a pattern that finds any of `words`, where none begins with another.

    What some have in common at their beginning is looked at once.
    """
    parts = []
    for first, same in groupby(sorted(words), key=lambda word: word[0]):
        rests = [word[1:] for word in same]
        rest = re.escape(rests[0]) if len(rests) == 1 else f"(?:{one_of(rests)})"
        parts.append(re.escape(first) + rest)
    return "|".join(parts)


FIRSTS_AT_ONCE = 16  # chosen: less than half the time of 4, and of 64


def longest_of(words: Iterable[str]) -> str:
    """The source of a pattern that finds the longest of `words` at a place.

    What words begin with is looked at in sets, so that many words cost little more than a few.
    """
    ordered = sorted(words, key=lambda word: (word[0], -len(word)))
    of_first = {
        first: f"(?<={re.escape(first)})(?:{'|'.join(re.escape(word[1:]) for word in same)})"
        for first, same in groupby(ordered, key=lambda word: word[0])
    }
    firsts = list(of_first)
    branches = []
    for at in range(0, len(firsts), FIRSTS_AT_ONCE):
        some = firsts[at : at + FIRSTS_AT_ONCE]
        rests = "|".join(of_first[first] for first in some)
        branches.append(f"[{re.escape(''.join(some))}](?:{rests})")
    return "|".join(branches)


def blanks_except(kept: str, *, is_lower: bool = False) -> str:
    """A table for `str.translate` with blanks in place of all ASCII but `kept`.

    An ASCII text that it has changed is split into words in a quarter of the time that a pattern
    takes.
    """
    signs = (sign if sign in kept else " " for sign in map(chr, range(128)))
    return "".join(map(str.lower, signs) if is_lower else signs)
