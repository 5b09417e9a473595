"""Owns what stays of a text too long for its place: its ends, and the passages that matter.

A passage matters if it holds a term of the query that the text says only a few times, or tells of
an error. Without one the middle goes: what a text begins and ends with says most about it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.compression.markers import gap_marker, middle_of, pair_safe
from ctxcore.text.signals import error_places

RARE: Final = 3  # times; a term said more often points to no passage
LEAST_TERM: Final = 4  # characters of a word; shorter ones are in every text
MOST_PASSAGES: Final = 4
SCAN_CHARS: Final = 200_000  # of a longer text only its head is looked through
BEFORE_CHARS: Final = 80  # of a passage before its term, if no sentence begins there
AFTER_CHARS: Final = 160
PASSAGE_SHARE: Final = 0.6  # of what is kept; the rest is for the ends
GAP_CHARS: Final = 14  # what a marker takes; a gap that short is none
LEAST_CHARS: Final = 24  # a passage below this says nothing

_END: Final = re.compile(r"[.!?;]\s+|[。！？；\n]\s*|[}\]>],?\s*(?=[{\[<])")


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text, and where in it the term stands."""

    start: int
    at: int
    stop: int

    def narrowed(self, chars: int) -> Passage:
        """At most `chars` of it, around its term."""
        if self.stop - self.start <= chars:
            return self
        start = max(self.start, min(self.at - chars // 3, self.stop - chars))
        return Passage(start, self.at, start + chars)


@dataclass(frozen=True, slots=True)
class Passages:
    """A text with its passages that matter, the one that matters most first."""

    text: str
    best: Sequence[Passage] = ()

    @classmethod
    def of(cls, text: str, terms: Iterable[str] = ()) -> Passages:
        """The passages of `text` that hold rare ones of `terms` or tell of an error."""
        head = text[:SCAN_CHARS]
        saliences: dict[int, float] = defaultdict(float)
        for place, salience in (*_rare_terms(head, terms), *((at, 1.0) for at in _errors(head))):
            saliences[place] += salience
        scores: dict[Passage, float] = defaultdict(float)
        last = Passage(-1, -1, -1)
        for at in sorted(saliences):
            if at >= last.stop:
                last = _around(head, at, last.stop)
            scores[last] += saliences[at]
        best = sorted(scores, key=lambda passage: (-scores[passage], passage.start))
        return cls(text, tuple(best[:MOST_PASSAGES]))

    def shorten(self, keep_chars: int) -> str:
        """About `keep_chars` characters of the text; what is gone is counted in each gap."""
        parts: list[str] = []
        at = 0
        for start, stop in self.gone(keep_chars):
            parts += [self.text[at:start], gap_marker(stop - start)]
            at = stop
        return "".join([*parts, self.text[at:]])

    def gone(self, keep_chars: int) -> list[tuple[int, int]]:
        """The stretches that are left out, in order."""
        if keep_chars >= len(self.text):
            return []
        kept = self._kept(keep_chars)
        ends = keep_chars - sum(stop - start + GAP_CHARS for start, stop in kept)
        start, stop = middle_of(self.text, max(0, ends))
        gaps: list[tuple[int, int]] = []
        for begin, end in (*kept, (stop, stop)):
            if min(begin, stop) - start > GAP_CHARS:
                gaps.append((start, pair_safe(self.text, min(begin, stop))))
            start = max(start, pair_safe(self.text, end))
        return gaps

    def _kept(self, keep_chars: int) -> list[tuple[int, int]]:
        room = int(keep_chars * PASSAGE_SHARE)
        kept: list[tuple[int, int]] = []
        for passage in self.best:
            if room < LEAST_CHARS + GAP_CHARS:
                break
            fitting = passage.narrowed(room - GAP_CHARS)
            kept.append((fitting.start, fitting.stop))
            room -= fitting.stop - fitting.start + GAP_CHARS
        return sorted(kept)


def _rare_terms(text: str, terms: Iterable[str]) -> Iterator[tuple[int, float]]:
    """Where rare terms stand, and how rare each is."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # a letter whose small form is longer; places must not shift
    for term in sorted(terms):
        if term.isascii() and len(term) < LEAST_TERM and not any(map(str.isdigit, term)):
            continue
        places = _places(lowered, term)
        yield from ((at, 1 / len(places)) for at in places if len(places) <= RARE)


def _places(text: str, term: str) -> list[int]:
    """The first places of a word in a text, one more than what is rare."""
    found: list[int] = []
    at = text.find(term)
    while at >= 0 and len(found) <= RARE:
        stop = at + len(term)
        around = text[at - 1 : at] + text[stop : stop + 1]
        if not (term.isascii() and any(map(str.isalnum, around))):
            found.append(at)
        at = text.find(term, stop)
    return found


def _errors(text: str) -> list[int]:
    places = error_places(text, RARE + 1)
    return places if len(places) <= RARE else []


def _around(text: str, at: int, least: int) -> Passage:
    """The sentence around a place, or the part of it nearest to the place."""
    start = max(least, at - BEFORE_CHARS, 0)
    stop = min(len(text), at + AFTER_CHARS)
    begins = [found.end() for found in _END.finditer(text, start, at)]
    ends = _END.search(text, at, stop)
    return Passage(begins[-1] if begins else start, at, ends.end() if ends else stop)
