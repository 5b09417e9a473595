"""Owns which lines of a text and which names of the others fit a budget, and what is then gone.

A part of the budget is for error lines, one for lines that the query names, one for names of the
lines that are gone; what those leave goes to the lines worth most.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from ctxcore.compression.kinds import Kind
from ctxcore.compression.line_choice import GAP_TOKENS, choose_lines, render_lines
from ctxcore.compression.line_names import LineNames, choose_names, find_names, in_gaps
from ctxcore.compression.line_worth import (
    LINE_CHARS,
    below,
    error_lines,
    failing_lines,
    line_worths,
    looked_at,
    named_lines,
    named_scores,
)
from ctxcore.compression.long_lines import LongLines
from ctxcore.compression.markers import Elision, Unit, gone_ranges
from ctxcore.compression.target import Target, estimate_tokens
from ctxcore.compression.text_tables import header_lines, odd_rows

NAMES_SHARE: Final[dict[Kind, float]] = {
    **dict.fromkeys(get_args(Kind), 0.4),
    "code": 0.45,
    "text": 0.45,
    "diff": 0.15,
}
"""Of the budget, for names of the lines that are gone. Measured: more keeps more of what is used
later, up to all of it, and says less and less about what the names do."""
ERROR_SHARE: Final[dict[Kind, float]] = {**dict.fromkeys(get_args(Kind), 0.55), "code": 0.3}
NAMED_SHARE: Final = 0.25  # of the budget, for the lines that the query names
MOST_ODD: Final = 6
FEW_LINES: Final = 3  # their middles are cut; there is no gap to tell names in
PROMISING: Final = 1  # lines for each token of the budget; a tenth of them can be shown
MAX_ROUNDS: Final = 8
LEAST_STEP: Final = 0.04  # of the budget; a smaller one would not bring another line
WELL_USED: Final = 0.96  # of the budget; below it another round looks for more lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of an output with all that is decided about them before a budget is known."""

    lines: Sequence[str]
    worths: Mapping[int, float]
    heads: Sequence[int]
    """The header of a table."""
    errors: Sequence[int]
    """Error lines, the plainest first, and odd rows of a table."""
    named: Sequence[int]
    """The lines that the query names, if it names a few, and what stands below them."""
    names: LineNames
    kind: Kind
    long_lines: LongLines

    @classmethod
    def of(cls, lines: Sequence[str], kind: Kind, target: Target) -> Lines:
        places = looked_at(lines, target.terms)
        long_lines = LongLines(lines, target.terms)
        judged = {
            at: lines[at] if len(lines[at]) <= LINE_CHARS else long_lines.gist(at) for at in places
        }
        failing = failing_lines(judged)
        named = named_scores(judged, target.terms)
        errors = error_lines(judged, failing)
        heads: Sequence[int] = ()
        if kind == "table":
            heads = header_lines(judged)
            errors = list(dict.fromkeys([*errors, *odd_rows(judged)[:MOST_ODD]]))
        few_named = named_lines(named)
        few_named = list(
            dict.fromkeys([*few_named, *(near for at in few_named for near in below(judged, at))])
        )
        worths = line_worths(judged, frozenset(failing), named, kind, count=len(lines))
        always = [*heads, *errors, *few_named]
        worths = _promising(worths, judged, always, most=PROMISING * target.max_tokens)
        return cls(
            lines=lines,
            worths=worths,
            heads=heads,
            errors=errors,
            named=few_named,
            names=find_names(judged, target.terms),
            kind=kind,
            long_lines=long_lines,
        )

    def select(self, room: float) -> tuple[str, list[Elision]]:
        """The lines worth most in about `room` tokens, and what is gone."""
        count = len(self.lines)
        names_room = room * NAMES_SHARE[self.kind] if count > FEW_LINES else 0.0
        lines_room = room - min(names_room, self.names.tokens)
        shown = {at: self.long_lines.shorten(at, lines_room) for at in self.worths}
        shown |= {at: self.long_lines.shorten(at, 1.5 * room) for at in self.errors}
        first = [
            *self.heads,
            *self._within(room * ERROR_SHARE[self.kind], self.errors, shown),
            *self._within(room * NAMED_SHARE, self.named, shown),
        ]
        kept = choose_lines(shown, self.worths, lines_room, count=count, first=first)
        if not kept:
            return "", []
        told = choose_names(self.names.gone(kept), names_room)
        shown_lines = [(at, shown[at]) for at in kept]
        unit: Unit = "rows" if self.kind == "table" else "lines"
        text = render_lines(shown_lines, count=count, names=in_gaps(told, kept), unit=unit)
        cut = {at: len(self.lines[at]) - len(shown[at]) for at in kept}
        short = [
            Elision(unit="characters", count=chars, start=at, stop=at + 1)
            for at, chars in cut.items()
            if chars > 0
        ]
        return text, [*gone_ranges(unit, count, kept), *short]

    def _within(
        self, room: float, places: Iterable[int], shown: Mapping[int, str]
    ) -> Iterator[int]:
        """The first of these lines that fit into a share of the room."""
        for at in places:
            tokens = estimate_tokens(shown[at]) + GAP_TOKENS
            if tokens <= room:
                room -= tokens
                yield at


def _promising(
    worths: Mapping[int, float], lines: Mapping[int, str], always: Iterable[int], *, most: int
) -> dict[int, float]:
    """The lines that may be chosen: the best `most`, those beside them and those of `always`."""
    if len(worths) <= most:
        return dict(worths)
    best = heapq.nlargest(most, worths, key=lambda at: (worths[at] / (len(lines[at]) + 16), -at))
    near = {at + off for at in (*best, *always) for off in (-1, 0, 1)}
    return {at: worth for at, worth in worths.items() if at in near}


def fit_lines(lines: Lines, target: Target) -> tuple[str, list[Elision]] | None:
    """The fullest selection that fits; None if none does."""
    best: tuple[str, list[Elision]] | None = None
    low, high = 0.0, 0.0  # rooms whose selection fits, and does not
    room = float(target.max_tokens)
    for _ in range(MAX_ROUNDS):
        text, gone = lines.select(room)
        tokens = target.counter.count(text)
        if gone and tokens <= target.max_tokens:
            best, low = (text, gone), room
            if tokens >= target.max_tokens * WELL_USED:
                break
        else:
            high = room
            if best and high - low < LEAST_STEP * target.max_tokens:
                break
        ratio = target.max_tokens / max(1, tokens)
        if high and low:
            room = (low + high) / 2
        else:
            room *= max(1.05, ratio) if low else min(0.95, ratio)
    return best
