"""Selects the lines of an output for a budget; gaps count and name what is gone.

Each line is analysed once, however often the selection is repeated for another room.
"""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, get_args

from ctxcore.compression.line_salience import (
    LINE_CHARS,
    LINE_NUMBER,
    Judged,
    below,
    candidate_lines,
    error_lines,
    header_lines,
    line_salience,
    named_lines,
    odd_rows,
)
from ctxcore.compression.markers import ELISION, Elision, Unit, amount, gone_ranges
from ctxcore.compression.passages import Passages
from ctxcore.compression.structures import Kind
from ctxcore.compression.target import Target, estimate_tokens, shared_by_line
from ctxcore.text.joined_lines import JoinedLines

NAMES_SHARE: Final[dict[Kind, float]] = {**dict.fromkeys(get_args(Kind), 0.65), "diff": 0.15}
"""Of what error lines leave of the budget, for names of the lines that are gone. Measured: more
keeps more of what is used later, up to all of it, and shows less and less of what the names do."""
ERROR_SHARE: Final[dict[Kind, float]] = {**dict.fromkeys(get_args(Kind), 0.7), "code": 0.4}
"""Of the budget, for error lines. Chosen: code mentions errors without having any."""
NAMED_SHARE: Final = 0.25  # chosen: of the budget, for the lines that the query names
MOST_ODD: Final = 6  # chosen: odd rows of a table that are kept first
LEAST_DIGITS: Final = 3  # chosen: of a number that may be a name; shorter ones are counts
MOST_NUMBERS: Final = 0.5  # chosen: for each line; more are measures, of which none is a name
FEW_LINES: Final = 3  # their middles are cut; there is no gap to list names in
PROMISING: Final = 1  # chosen: lines for each token of the budget; a tenth of them can be shown
MAX_ROUNDS: Final = 8  # chosen: of selecting lines for another room; three are usual
LEAST_STEP: Final = 0.04  # chosen: of the budget; a smaller one would not bring another line
WELL_USED: Final = 0.96  # chosen: of the budget; below it another round looks for more lines
GAP_TOKENS: Final = 4.0  # measured: 6 keeps fewer, longer passages and less of what is used later
LEAST_SALIENCE: Final = 0.05  # chosen: of an empty line: it fills a gap, it never opens one

WHOLE_LINE_TOKENS: Final = 32  # chosen: a line this short stays whole or goes
LONGEST_SHARE: Final = 3  # chosen: of many lines, one takes at most a third of the room
SAMPLE_CHARS: Final = 1_000  # chosen: of a long line, to estimate its tokens
MARKER_TOKENS: Final = 20  # of a cut line, for the counts of what is gone

# Chosen on one half of recorded conversations and checked on the other: ADR 0021.
PATH_SALIENCE: Final = 3.0
COMPOUND_SALIENCE: Final = 2.0
NUMBER_SALIENCE: Final = 0.5
NAMED_SALIENCE: Final = 3.0
LONGEST_NAME_TOKENS: Final = 24  # chosen: a longer name leaves no room for others

_NAME: Final = re.compile(r"[@#]?[A-Za-z_0-9][\w.:/@-]*\w|\b\d{3,}\b")
# Of names behind a blank, within a tenth of cl100k, which joins a mark with the letters after it.
_NAME_PIECE: Final = re.compile(r"[^\sA-Za-z\d]?[A-Za-z]{1,7}|\d{1,3}|[^\sA-Za-z\d]{1,2}")
_LINE_NUMBER: Final = re.compile(r" *\d+(?:→|:(?!\d)|\t)")
_JOINT: Final = re.compile(r"[/.:@]")
_COMPOUND: Final = re.compile(
    r"[a-z0-9][A-Z]|[A-Za-z]_[A-Za-z]|\w[.:]+[A-Za-z]|\w-\w+-\w|[A-Za-z]\d"
)
_PATH: Final = re.compile(r"(?<![\w.-])[\w.-]++/[\w./-]*\w|(?<!\w)\w++\.[a-z]{1,5}$")


class Lines:
    """The lines of an output, with everything about them that does not depend on the room."""

    def __init__(self, lines: Sequence[str], kind: Kind, target: Target) -> None:
        terms = target.terms
        self._lines, self._kind = lines, kind
        self._tokens = cache(self._estimate_tokens)
        self._passages = cache(lambda at: Passages(lines[at], terms))
        gists = {at: self._gist(at) for at in candidate_lines(lines, terms)}
        judged = Judged.of(gists, terms)
        errors, heads = error_lines(judged, kind), list[int]()
        if kind == "table":
            heads = header_lines(gists)
            errors += odd_rows(gists)[:MOST_ODD]
        named = named_lines(judged.scores)
        named += [near for at in named for near in below(gists, at)]
        saliences = line_salience(judged, kind, count=len(lines))
        self._heads = heads
        self._errors = list(dict.fromkeys(errors))
        self._named = list(dict.fromkeys(named))
        first = [*heads, *errors, *named]
        self._saliences = _promising(saliences, gists, first, most=PROMISING * target.max_tokens)
        self._names = LineNames(gists, terms)

    def select(self, room: float) -> tuple[str, list[Elision]]:
        """The most salient lines in about `room` tokens, and what is gone."""
        count = len(self._lines)
        failing = self._shown(self._errors, 1.5 * room)
        first = [
            *self._heads,
            *_fitting(self._errors, failing, room * ERROR_SHARE[self._kind]),
        ]
        taken = sum(estimate_tokens(failing[at]) + GAP_TOKENS for at in first if at in failing)
        names_room = (room - taken) * NAMES_SHARE[self._kind] if count > FEW_LINES else 0.0
        lines_room = room - min(names_room, self._names.tokens)
        shown = self._shown(self._saliences, lines_room) | failing
        first += _fitting(self._named, shown, room * NAMED_SHARE)
        kept = choose_lines(shown, self._saliences, lines_room, count=count, first=first)
        if not kept:
            return "", []
        unit: Unit = "rows" if self._kind == "table" else "lines"
        names = self._names.in_gaps(kept, names_room)
        text = render_lines([(at, shown[at]) for at in kept], count=count, names=names, unit=unit)
        cut = {at: len(self._lines[at]) - len(shown[at]) for at in kept}
        short = [
            Elision(unit="characters", count=chars, start=at, stop=at + 1)
            for at, chars in cut.items()
            if chars > 0
        ]
        return text, [*gone_ranges(unit, count, kept), *short]

    def _gist(self, at: int) -> str:
        """The text by which a line is judged: all of it, or its head and its salient passages."""
        line = self._lines[at]
        if len(line) <= LINE_CHARS:
            return line
        best = (line[passage.start : passage.stop] for passage in self._passages(at).best)
        return " ".join([line[:LINE_CHARS], *best])

    def _shown(self, places: Iterable[int], room: float) -> dict[int, str]:
        """These lines, without their least salient parts where they take more than their share."""
        most_tokens = max(2.0, room - MARKER_TOKENS) / min(LONGEST_SHARE, len(self._lines))
        most_tokens = max(most_tokens, min(WHOLE_LINE_TOKENS, room / 2))
        return {
            at: self._lines[at] if self._tokens(at) <= most_tokens else self._cut(at, most_tokens)
            for at in places
        }

    def _cut(self, at: int, tokens: float) -> str:
        chars = int(tokens * len(self._lines[at]) / self._tokens(at))
        return self._passages(at).shorten(max(8, chars))

    def _estimate_tokens(self, at: int) -> float:
        line = self._lines[at]
        sample = line[:SAMPLE_CHARS]
        return estimate_tokens(sample) * len(line) / max(1, len(sample))


def _promising(
    saliences: Mapping[int, float], lines: Mapping[int, str], first: Iterable[int], *, most: int
) -> dict[int, float]:
    """The lines that may be chosen: the best `most`, those beside them and those beside `first`."""
    if len(saliences) <= most:
        return dict(saliences)
    best = heapq.nlargest(
        most, saliences, key=lambda at: (saliences[at] / (len(lines[at]) + 16), -at)
    )
    near = {at + off for at in (*best, *first) for off in (-1, 0, 1)}
    return {at: salience for at, salience in saliences.items() if at in near}


def _fitting(places: Iterable[int], lines: Mapping[int, str], room: float) -> Iterator[int]:
    """The first of these lines that fit into the room."""
    for at in places:
        tokens = estimate_tokens(lines[at]) + GAP_TOKENS
        if tokens <= room:
            room -= tokens
            yield at


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


def choose_lines(
    lines: Mapping[int, str],
    saliences: Mapping[int, float],
    room: float,
    *,
    count: int,
    first: Iterable[int] = (),
) -> list[int]:
    """The places of the lines to keep in about `room` tokens, in order, of `count` lines.

    Those of `first` that fit are kept whatever the salience of the others is.
    """
    costs = {at: estimate_tokens(line) + 1 for at, line in lines.items()}
    kept = {-1, count}  # the ends of the text, so that no gap opens before its first line

    def price(at: int) -> float:
        is_after, is_before = at - 1 in kept, at + 1 in kept
        if is_after and is_before:
            return max(1.0, costs[at] - GAP_TOKENS)
        return costs[at] if is_after or is_before else costs[at] + GAP_TOKENS

    used = GAP_TOKENS
    for at in first:
        if used + price(at) <= room:
            used += price(at)
            kept.add(at)
    heap = [
        (-salience / price(at), at)
        for at, salience in saliences.items()
        if salience > 0 and at not in kept
    ]
    heapq.heapify(heap)
    while heap and used + 2 < room:
        _, at = heapq.heappop(heap)
        if at in kept or used + price(at) > room:
            continue
        used += price(at)
        kept.add(at)
        for beside in (at - 1, at + 1):
            if beside in saliences and beside not in kept:
                salience = max(saliences[beside], LEAST_SALIENCE)
                heapq.heappush(heap, (-salience / price(beside), beside))
    return sorted(kept - {-1, count})


def render_lines(
    kept: Sequence[tuple[int, str]],
    *,
    count: int,
    names: Mapping[int, Sequence[str]],
    unit: Unit = "lines",
) -> str:
    """The kept lines, each with its place, and how many are gone in each gap.

    `names` are listed in the gap before the line at their place; those of the last gap at -1. The
    first gap names the unit and the others only count, since a marker can cost as much as a line.
    Line numbers are written once for a run of lines, and there the number shows the gap.
    """
    parts: list[str] = []
    previous, is_first_gap = -1, True
    for at, line in kept:
        gap, listed = at - previous - 1, names.get(at, ())
        previous = at
        number = LINE_NUMBER.match(line)
        if gap and number and not listed and not is_first_gap:
            parts.append(ELISION + line.lstrip())
            continue
        if gap:
            parts.append(_gap(gap, listed, unit if is_first_gap else ""))
            is_first_gap = False
        parts.append(line[number.end() :] if number and at and not gap else line)
    if previous < count - 1:
        parts.append(_gap(count - 1 - previous, names.get(-1, ()), unit if is_first_gap else ""))
    return "\n".join(parts)


def _gap(count: int, names: Sequence[str], unit: str) -> str:
    gone = amount(count, unit) if unit else f"{count:,}"
    listed = f": {' '.join(names)}" if names else ""
    return f"[{ELISION} {gone}{listed}]"


@dataclass(frozen=True, slots=True)
class Name:
    """A name, the first line with it, its salience per token, and its tokens."""

    text: str
    at: int
    ratio: float
    tokens: int


class LineNames:
    """The paths, compound names and numbers in some lines."""

    def __init__(self, lines: Mapping[int, str], terms: frozenset[str]) -> None:
        words = {at: _NAME.findall(line, _start(line)) for at, line in lines.items()}
        names = set(filter(_is_name, set().union(*words.values())))
        numbers = set(filter(str.isdecimal, names))
        if len(numbers) > MOST_NUMBERS * len(lines):
            names -= numbers
        self._by_line = {
            at: [word for word in found if word in names] for at, found in words.items()
        }
        places: dict[str, list[int]] = {}
        for at, found in self._by_line.items():
            for name in found:
                places.setdefault(name, []).append(at)
        named = shared_by_line(terms, JoinedLines(places))
        rated = (
            _rate(name, at[0], len(at), is_named=nth in named)
            for nth, (name, at) in enumerate(places.items())
        )
        usable = [name for name in rated if name.ratio > 0]
        self._ranked = sorted(usable, key=lambda name: (-name.ratio, name.at, name.text))
        self.tokens = sum(name.tokens for name in usable)

    def in_gaps(self, kept: Sequence[int], room: float) -> dict[int, list[str]]:
        """The best names that no kept line has, in about `room` tokens, in their order.

        Each at the place of the kept line after its gap; -1 for the gap at the end.
        """
        present = {part for at in kept for name in self._by_line[at] for part in _parts(name)}
        chosen: list[Name] = []
        for name in self._ranked:
            if name.text in present:
                continue
            if name.tokens <= room:
                chosen.append(name)
                present.update(_parts(name.text))
                room -= name.tokens
            if room < 2:
                break
        gaps: dict[int, list[str]] = {}
        ends = [*kept, -1]
        for name in sorted(chosen, key=lambda name: name.at):
            gaps.setdefault(ends[bisect_left(kept, name.at)], []).append(name.text)
        return gaps


def _start(line: str) -> int:
    """Where the words of a line begin, behind its number."""
    number = _LINE_NUMBER.match(line)
    return number.end() if number else 0


def _is_name(word: str) -> bool:
    """Whether the word is a path, a compound or a number of three digits or more."""
    if word.isdecimal() and len(word) >= LEAST_DIGITS:
        return True
    if len(word) <= 3 or (word.isalpha() and word[1:].islower()):  # most words, told apart fast
        return False
    return _is_path(word) or bool(_COMPOUND.search(word))


def _is_path(word: str) -> bool:
    return ("/" in word or "." in word) and bool(_PATH.search(word))


def _parts(name: str) -> list[str]:
    """A name and the names that it is made of: who reads it has read those too."""
    return [name, *_JOINT.split(name)]


def _rate(text: str, at: int, count: int, *, is_named: bool) -> Name:
    tokens = len(_NAME_PIECE.findall(text))
    salience = NUMBER_SALIENCE if text.isdigit() else COMPOUND_SALIENCE
    if _is_path(text):
        salience = PATH_SALIENCE
    salience *= 1 + 0.5 * math.log(count)
    if is_named:
        salience += NAMED_SALIENCE
    return Name(text, at, 0.0 if tokens > LONGEST_NAME_TOKENS else salience / tokens, tokens)
