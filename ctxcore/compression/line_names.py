"""Owns which names of the lines that are gone a gap still tells: paths, functions, identifiers.

A name takes a few tokens where its line takes a dozen, and it is what a reader asks for next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.compression.target import estimate_tokens, shared_terms

PATH_WORTH: Final = 3.0
COMPOUND_WORTH: Final = 2.0
NUMBER_WORTH: Final = 1.0
NAMED_WORTH: Final = 2.0
LONGEST_NAME_TOKENS: Final = 24

_NAME: Final = re.compile(r"[@#]?[A-Za-z_0-9][\w.:/@-]*\w|\b\d{3,}\b")
_COMPOUND: Final = re.compile(
    r"[a-z0-9][A-Z]|[A-Za-z]_[A-Za-z]|\w[.:]+[A-Za-z]|\w-\w+-\w|[A-Za-z]\d"
)
_PATH: Final = re.compile(r"[\w.-]++/[\w./-]*\w|\w++\.[a-z]{1,5}$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name that no kept line says, the line that says it first, and its worth per token."""

    text: str
    at: int
    ratio: float
    tokens: int


@dataclass(frozen=True, slots=True)
class LineNames:
    """The names of each line, and all of them, the best per token first."""

    by_line: Mapping[int, tuple[str, ...]]
    ranked: tuple[Name, ...]
    tokens: int
    """Of all names together."""

    def gone(self, kept: Iterable[int]) -> Iterator[Name]:
        """The names that only the lines not kept say."""
        said = {name for at in kept for name in self.by_line[at]}
        return (name for name in self.ranked if name.text not in said)


def find_names(lines: Mapping[int, str], terms: frozenset[str]) -> LineNames:
    """The names in these lines."""
    words = {at: _NAME.findall(line) for at, line in lines.items()}
    names = set(filter(_is_name, set().union(*words.values())))
    by_line = {at: tuple(filter(names.__contains__, words[at])) for at in lines}
    places: dict[str, list[int]] = {}
    for at, said in by_line.items():
        for name in said:
            places.setdefault(name, []).append(at)
    found = [_name(name, said_at[0], len(said_at), terms) for name, said_at in places.items()]
    usable = [name for name in found if name.ratio > 0]
    usable.sort(key=lambda name: (-name.ratio, name.at, name.text))
    return LineNames(by_line, tuple(usable), sum(name.tokens for name in usable))


def _is_name(word: str) -> bool:
    """Whether it is more than a plain word."""
    return len(word) > 3 and bool(_PATH.search(word) or _COMPOUND.search(word) or word.isdigit())


def _name(text: str, at: int, count: int, terms: frozenset[str]) -> Name:
    tokens = estimate_tokens(text) + 1
    worth = NUMBER_WORTH if text.isdigit() else COMPOUND_WORTH
    if _PATH.search(text):
        worth = PATH_WORTH
    worth *= 1 + 0.5 * math.log(count)
    if shared_terms(terms, text):
        worth += NAMED_WORTH
    ratio = 0.0 if tokens > LONGEST_NAME_TOKENS else worth / tokens
    return Name(text, at, ratio, tokens)


def choose_names(names: Iterable[Name], room: float) -> list[Name]:
    """The best of the names in about `room` tokens, in the order of the text."""
    chosen: list[Name] = []
    for name in names:
        if name.tokens <= room:
            chosen.append(name)
            room -= name.tokens
        if room < 2:
            break
    return sorted(chosen, key=lambda name: name.at)


def in_gaps(names: Sequence[Name], kept: Sequence[int]) -> dict[int, list[str]]:
    """The names by the kept line before which their gap is; -1 for the gap at the end."""
    gaps: dict[int, list[str]] = {}
    ends = [*kept, -1]
    nth = 0
    for name in names:
        while nth < len(kept) and kept[nth] < name.at:
            nth += 1
        gaps.setdefault(ends[nth], []).append(name.text)
    return gaps
