"""Shortens a long text to its ends and its most salient passages.

A passage is salient if it contains a term of the query that is rare in the text, or reports an
error. Without one the middle goes: a text is most informative at its beginning and its end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ctxcore.compression.markers import ELISION
from ctxcore.text.signals import error_places

RARE: Final = 3  # chosen: times; a term that is more frequent points to no passage
LEAST_TERM: Final = 4  # chosen: characters of a word; shorter ones are in every text
MOST_PASSAGES: Final = 4  # chosen: more leave too little room for each
SCAN_CHARS: Final = 200_000  # chosen: of a longer text only its head is searched
BEFORE_CHARS: Final = 80  # chosen: of a passage before its term, if no sentence begins there
AFTER_CHARS: Final = 160  # chosen: of a passage after its term, if no sentence ends there
PASSAGE_SHARE: Final = 0.6  # chosen: of what is kept; the rest is for the ends
GAP_CHARS: Final = 14  # of a marker; a shorter gap gains nothing
LEAST_CHARS: Final = 24  # chosen: a shorter passage is not readable

_END: Final = re.compile(r"[.!?;]\s+|[。！？；\n]\s*|[}\]>],?\s*(?=[{\[<])")


class Passage(NamedTuple):
    """A stretch of a text, and the place of its term."""

    start: int
    at: int
    stop: int


class Passages:
    """A text with its salient passages, the most salient one first.

    These contain rare ones of the `terms` or report an error.
    """

    def __init__(self, text: str, terms: Iterable[str] = ()) -> None:
        self.text = text
        head = text[:SCAN_CHARS]
        saliences: dict[int, float] = defaultdict(float)
        for place, salience in _rare_terms(head, terms):
            saliences[place] += salience
        errors = error_places(head, RARE + 1)
        for place in errors if len(errors) <= RARE else ():
            saliences[place] += 1.0
        scores: dict[Passage, float] = defaultdict(float)
        last = Passage(-1, -1, -1)
        for at in sorted(saliences):
            if at >= last.stop:
                last = _around(head, at, last.stop)
            scores[last] += saliences[at]
        best = sorted(scores, key=lambda passage: (-scores[passage], passage.start))
        self.best = tuple(best[:MOST_PASSAGES])

    def shorten(self, keep_chars: int) -> str:
        """About `keep_chars` characters of the text; what is gone is counted in each gap."""
        parts: list[str] = []
        at = 0
        for start, stop in self.gone(keep_chars):
            parts += [self.text[at:start], f"{ELISION}{stop - start:,} chars{ELISION}"]
            at = stop
        return "".join([*parts, self.text[at:]])

    def gone(self, keep_chars: int) -> list[tuple[int, int]]:
        """The stretches that are left out, in order."""
        if keep_chars >= len(self.text):
            return []
        kept = self._kept(keep_chars)
        ends = keep_chars - sum(stop - start + GAP_CHARS for start, stop in kept)
        start, stop = self._middle(max(0, ends))
        gaps: list[tuple[int, int]] = []
        for begin, end in (*kept, (stop, stop)):
            if min(begin, stop) - start > GAP_CHARS:
                gaps.append((start, self._pair_safe(min(begin, stop))))
            start = max(start, self._pair_safe(end))
        return gaps

    def _kept(self, keep_chars: int) -> list[tuple[int, int]]:
        """The stretches of the best passages that have room, in order."""
        room = int(keep_chars * PASSAGE_SHARE)
        kept: list[tuple[int, int]] = []
        for start, at, stop in self.best:
            if room < LEAST_CHARS + GAP_CHARS:
                break
            chars = min(stop - start, room - GAP_CHARS)
            begin = max(start, min(at - chars // 3, stop - chars))
            kept.append((begin, begin + chars))
            room -= chars + GAP_CHARS
        return sorted(kept)

    def _middle(self, keep_chars: int) -> tuple[int, int]:
        """The start and stop of the middle that leaves about `keep_chars` characters around it.

        Two thirds of them are at the head.
        """
        head = self._pair_safe(keep_chars - keep_chars // 3)
        return head, self._pair_safe(max(head, len(self.text) - keep_chars // 3))

    def _pair_safe(self, at: int) -> int:
        """`at`, or the place before it if it is between the halves of a surrogate pair."""
        splits = 0 < at < len(self.text) and (
            "\ud800" <= self.text[at - 1] <= "\udbff" and "\udc00" <= self.text[at] <= "\udfff"
        )
        return at - 1 if splits else at


def _rare_terms(text: str, terms: Iterable[str]) -> Iterator[tuple[int, float]]:
    """The places of rare terms, and how rare each is."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # a letter whose small form is longer; places must not shift
    for term in sorted(terms):
        if term.isascii() and len(term) < LEAST_TERM and not any(map(str.isdigit, term)):
            continue
        places = _places(lowered, term)
        yield from ((at, 1 / len(places)) for at in places if len(places) <= RARE)


def _places(text: str, term: str) -> list[int]:
    """The first places of a word in a text, at most `RARE` + 1."""
    found: list[int] = []
    at = text.find(term)
    while at >= 0 and len(found) <= RARE:
        stop = at + len(term)
        around = text[at - 1 : at] + text[stop : stop + 1]
        if not (term.isascii() and any(map(str.isalnum, around))):
            found.append(at)
        at = text.find(term, stop)
    return found


def _around(text: str, at: int, least: int) -> Passage:
    """The sentence around a place, or the part of it nearest to the place."""
    start = max(least, at - BEFORE_CHARS, 0)
    stop = min(len(text), at + AFTER_CHARS)
    begins = [found.end() for found in _END.finditer(text, start, at)]
    ends = _END.search(text, at, stop)
    return Passage(begins[-1] if begins else start, at, ends.end() if ends else stop)
