"""Owns how an output that is not JSON is made to fit: whole lines stay, gaps say how many are gone.

First what only a terminal or a browser needs goes; if that is not enough, the lines worth most per
token stay. A line too long for the budget is cut in its middle.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from ctxcore.compression.kinds import Kind, Source
from ctxcore.compression.line_choice import GAP_TOKENS, choose_lines, render_lines
from ctxcore.compression.line_names import LineNames, choose_names, find_names, in_gaps
from ctxcore.compression.line_worth import (
    LINE_CHARS,
    error_lines,
    failing_lines,
    line_worths,
    looked_at,
    named_lines,
    named_scores,
)
from ctxcore.compression.markers import (
    ELISION,
    Elided,
    Elision,
    amount,
    cut_middle,
    gone_ranges,
    totals,
)
from ctxcore.compression.target import Target, estimate_tokens

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
FEW_LINES: Final = 3  # their middles are cut; there is no gap to tell names in
PROMISING: Final = 1  # lines for each token of the budget; a tenth of them can be shown
MAX_ROUNDS: Final = 8
LEAST_STEP: Final = 0.04  # of the budget; a smaller one would not bring another line
WELL_USED: Final = 0.96  # of the budget; below it another round looks for more lines
LONGEST_SHARE: Final = 3  # of many lines, one takes at most a third of the budget
MARKER_TOKENS: Final = 20  # of a cut line, for what says how much is gone
CHARS_PER_TOKEN: Final = 16  # a text above this ratio is taken not to fit without being counted
SAMPLE_CHARS: Final = 1_000

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAG: Final = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)


def compress_text(source: Source, target: Target) -> tuple[str, Elided]:
    """The lines worth most within the budget, or the smallest marker there is."""
    lines, tags = clean_lines(source)
    cleaned = "\n".join(lines)
    if not cleaned.strip():
        return text_marker(source, target)
    may_fit = len(cleaned) <= target.max_tokens * CHARS_PER_TOKEN
    if may_fit and len(cleaned) < len(source.text) and target.fits(cleaned):
        return cleaned, _tags(tags)
    found = _fit(_Lines.of(lines, source.kind, target), target)
    if found is None:
        return text_marker(source, target)
    text, gone = found
    return text, (*_tags(tags), *(gone if source.kind != "html" else _without_places(gone)))


def _without_places(gone: Iterable[Elision]) -> Elided:
    """How much is gone; the lines of a text without its tags are no lines of the source."""
    return tuple(Elision(unit=unit, count=count) for unit, count in totals(gone).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """The lines of an output with all that is decided about them before a budget is known."""

    lines: Sequence[str]
    worths: Mapping[int, float]
    errors: Sequence[int]
    """Error lines, the plainest first."""
    named: Sequence[int]
    """The lines that the query names, if it names a few."""
    names: LineNames
    kind: Kind

    @classmethod
    def of(cls, lines: Sequence[str], kind: Kind, target: Target) -> _Lines:
        judged = {at: lines[at][:LINE_CHARS] for at in looked_at(lines, target.terms)}
        failing = failing_lines(judged)
        named = named_scores(judged, target.terms)
        errors = error_lines(judged, failing)
        worths = line_worths(judged, frozenset(failing), named, kind, count=len(lines))
        return cls(
            lines=lines,
            worths=_promising(worths, judged, errors, most=PROMISING * target.max_tokens),
            errors=errors,
            named=named_lines(named),
            names=find_names(judged, target.terms),
            kind=kind,
        )

    def select(self, room: float) -> tuple[str, list[Elision]]:
        """The lines worth most in about `room` tokens, and what is gone."""
        count = len(self.lines)
        names_room = room * NAMES_SHARE[self.kind] if count > FEW_LINES else 0.0
        lines_room = room - min(names_room, self.names.tokens)
        shown = {at: shorten_line(self.lines[at], lines_room, count) for at in self.worths}
        shown |= {at: shorten_line(self.lines[at], 1.5 * room, count) for at in self.errors}
        first = [
            *self._within(room * ERROR_SHARE[self.kind], self.errors, shown),
            *self._within(room * NAMED_SHARE, self.named, shown),
        ]
        kept = choose_lines(shown, self.worths, lines_room, count=count, first=first)
        if not kept:
            return "", []
        told = choose_names(self.names.gone(kept), names_room)
        shown_lines = [(at, shown[at]) for at in kept]
        text = render_lines(shown_lines, count=count, names=in_gaps(told, kept))
        cut = {at: len(self.lines[at]) - len(shown[at]) for at in kept}
        short = [
            Elision(unit="characters", count=chars, start=at, stop=at + 1)
            for at, chars in cut.items()
            if chars > 0
        ]
        return text, [*gone_ranges("lines", count, kept), *short]

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


def _fit(lines: _Lines, target: Target) -> tuple[str, list[Elision]] | None:
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


def _tags(count: int) -> Elided:
    return (Elision(unit="tags", count=count),) if count else ()


def clean_lines(source: Source) -> tuple[list[str], int]:
    """The lines of an output without what only a terminal or a browser needs; tags removed."""
    text, tags = source.text, 0
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if source.kind == "html":
        text, tags = _TAG.subn("\n", text)
        return [line for line in map(str.strip, text.splitlines()) if line], tags
    if "\r" in text:
        text = "\n".join(map(_last_overwrite, text.replace("\r\n", "\n").split("\n")))
    return [line.rstrip() for line in text.split("\n")], tags


def _last_overwrite(line: str) -> str:
    """What a terminal shows of a line that a progress bar wrote again and again."""
    return line.rstrip("\r").rpartition("\r")[2]


def shorten_line(line: str, room: float, count: int) -> str:
    """`line`, cut in its middle if it takes more than its share of `room` tokens."""
    sample = line[:SAMPLE_CHARS]
    most_tokens = max(2.0, room - MARKER_TOKENS) / min(LONGEST_SHARE, count)
    if len(line) <= most_tokens:
        return line
    most_chars = int(most_tokens * len(sample) / max(1, estimate_tokens(sample)))
    return line if len(line) <= most_chars else cut_middle(line, max(8, most_chars))


def compress_binary(source: Source, target: Target) -> tuple[str, Elided]:
    """One line that says what it is and how long; nothing of it says anything to a model."""
    return text_marker(source, target, what="binary or base64 data")


def text_marker(source: Source, target: Target, *, what: str = "") -> tuple[str, Elided]:
    """The whole output as one marker: as much of the description as fits."""
    count = len(source.text)
    chars = amount(count, "characters")
    texts = [
        f"[{ELISION} {what or source.kind}, {chars} left out {ELISION}]",
        f"[{ELISION} {chars} {ELISION}]",
        ELISION,
    ]
    return target.first_fitting(texts) or ELISION, (Elision(unit="characters", count=count),)
