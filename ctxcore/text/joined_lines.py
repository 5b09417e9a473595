"""Searches many lines at once, as one text: a search of each by itself costs more than the words.

A line is named by its number, from 0. No line may hold a line feed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate


class JoinedLines:
    """Lines in lower case, as one text."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.text = "\n".join(lines).lower()

    @cached_property
    def _ends(self) -> Sequence[int]:
        """The end of each line; needed only where something is found."""
        return list(accumulate(len(line) + 1 for line in self.text.split("\n")))

    def matching(self, pattern: re.Pattern[str]) -> set[int]:
        """The lines in which `pattern` finds something; it finds nothing across lines."""
        places = (found.start() for found in pattern.finditer(self.text))
        return {bisect_right(self._ends, at) for at in places}

    def containing(self, words: str) -> Iterator[int]:
        """The lines that contain `words`, which hold no line feed, in order."""
        at = self.text.find(words)
        while at >= 0:
            line = bisect_right(self._ends, at)
            yield line
            at = self.text.find(words, self._ends[line])

    def line(self, number: int) -> str:
        """The line of this number, in lower case."""
        return self.text[self._ends[number - 1] if number else 0 : self._ends[number] - 1]
