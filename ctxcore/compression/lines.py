"""Owns lines that may be too long for the budget: what they are judged by, what stays of them.

Each is looked through once, however often it is shortened.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

from ctxcore.compression.line_salience import (
    LINE_CHARS,
    below,
    error_lines,
    failing_lines,
    header_lines,
    line_salience,
    looked_at,
    named_lines,
    named_scores,
    odd_rows,
)
from ctxcore.compression.markers import ELISION, Elision, Unit, amount, gone_ranges
from ctxcore.compression.passages import Passages
from ctxcore.compression.structures import Kind
from ctxcore.compression.target import Target, estimate_tokens, shared_terms

WHOLE_LINE_TOKENS: Final = 32  # a line this short stays whole or goes
LONGEST_SHARE: Final = 3  # of many lines, one takes at most a third of the room
SAMPLE_CHARS: Final = 1_000
MARKER_TOKENS: Final = 20  # of a cut line, for what says how much is gone


@dataclass(frozen=True, slots=True)
class LongLines:
    """The lines of an output, with what is known of those that were looked through."""

    lines: Sequence[str]
    terms: frozenset[str]
    known: dict[int, Passages] = field(default_factory=dict)
    sizes: dict[int, float] = field(default_factory=dict)

    def gist(self, at: int) -> str:
        """What a line is judged by: its head, and the passages that matter behind it."""
        line, best = self.lines[at], self._passages(at).best
        behind = (line[passage.start : passage.stop] for passage in best)
        return " ".join([line[:LINE_CHARS], *behind])

    def shorten(self, at: int, room: float) -> str:
        """The line, without what matters least if it takes more than its share of the room."""
        most_tokens = max(2.0, room - MARKER_TOKENS) / min(LONGEST_SHARE, len(self.lines))
        most_tokens = max(most_tokens, min(WHOLE_LINE_TOKENS, room / 2))
        line, tokens = self.lines[at], self._tokens(at)
        if tokens <= most_tokens:
            return line
        return self._passages(at).shorten(max(8, int(most_tokens * len(line) / tokens)))

    def _tokens(self, at: int) -> float:
        """About how many tokens a line takes; of a long one only the head is looked at."""
        if at not in self.sizes:
            line = self.lines[at]
            sample = line[:SAMPLE_CHARS]
            self.sizes[at] = estimate_tokens(sample) * len(line) / max(1, len(sample))
        return self.sizes[at]

    def _passages(self, at: int) -> Passages:
        if at not in self.known:
            self.known[at] = Passages.of(self.lines[at], self.terms)
        return self.known[at]


PATH_SALIENCE: Final = 3.0
COMPOUND_SALIENCE: Final = 2.0
NUMBER_SALIENCE: Final = 1.0
NAMED_SALIENCE: Final = 2.0
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
    salience = NUMBER_SALIENCE if text.isdigit() else COMPOUND_SALIENCE
    if _PATH.search(text):
        salience = PATH_SALIENCE
    salience *= 1 + 0.5 * math.log(count)
    if shared_terms(terms, text):
        salience += NAMED_SALIENCE
    ratio = 0.0 if tokens > LONGEST_NAME_TOKENS else salience / tokens
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


GAP_TOKENS: Final = 4.0  # measured: 6 keeps fewer, longer passages and less of what is used later
LEAST_SALIENCE: Final = 0.05  # of an empty line: it fills a gap, it never opens one

_NUMBER: Final = re.compile(r"^ *\d+→")


def choose_lines(
    lines: Mapping[int, str],
    saliences: Mapping[int, float],
    room: float,
    *,
    count: int,
    first: Iterable[int] = (),
) -> list[int]:
    """The places of the lines to keep in about `room` tokens, in order, of `count` lines.

    Those of `first` that fit are kept whatever the others are worth.
    """
    costs = {at: estimate_tokens(line) + 1 for at, line in lines.items()}
    kept = {-1, count}  # the ends of the text, so that no gap opens before its first line

    def price(at: int) -> float:
        gaps_more = (at - 1 not in kept) + (at + 1 not in kept) - 1
        return max(1.0, costs[at] + GAP_TOKENS * gaps_more)

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

    `names` are told in the gap before a line, by its place; those of the last gap under -1. The
    first gap says what is counted and the others only how many, since a marker can cost as much
    as a line. Line numbers are written once for a run of lines, and there they show the gap.
    """
    parts: list[str] = []
    previous, is_first_gap = -1, True
    for at, line in kept:
        gap, told = at - previous - 1, names.get(at, ())
        previous = at
        number = _NUMBER.match(line)
        if gap and number and not told and not is_first_gap:
            parts.append(ELISION + line.lstrip())
            continue
        if gap:
            parts.append(_gap(gap, told, unit if is_first_gap else ""))
            is_first_gap = False
        parts.append(line[number.end() :] if number and at and not gap else line)
    if previous < count - 1:
        parts.append(_gap(count - 1 - previous, names.get(-1, ()), unit if is_first_gap else ""))
    return "\n".join(parts)


def _gap(count: int, names: Sequence[str], unit: str) -> str:
    gone = amount(count, unit) if unit else f"{count:,}"
    told = f": {' '.join(names)}" if names else ""
    return f"[{ELISION} {gone}{told}]"


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
    saliences: Mapping[int, float]
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
        saliences = line_salience(judged, frozenset(failing), named, kind, count=len(lines))
        always = [*heads, *errors, *few_named]
        saliences = _promising(saliences, judged, always, most=PROMISING * target.max_tokens)
        return cls(
            lines=lines,
            saliences=saliences,
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
        shown = {at: self.long_lines.shorten(at, lines_room) for at in self.saliences}
        shown |= {at: self.long_lines.shorten(at, 1.5 * room) for at in self.errors}
        first = [
            *self.heads,
            *self._within(room * ERROR_SHARE[self.kind], self.errors, shown),
            *self._within(room * NAMED_SHARE, self.named, shown),
        ]
        kept = choose_lines(shown, self.saliences, lines_room, count=count, first=first)
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
    saliences: Mapping[int, float], lines: Mapping[int, str], always: Iterable[int], *, most: int
) -> dict[int, float]:
    """The lines that may be chosen: the best `most`, those beside them and those of `always`."""
    if len(saliences) <= most:
        return dict(saliences)
    best = heapq.nlargest(
        most, saliences, key=lambda at: (saliences[at] / (len(lines[at]) + 16), -at)
    )
    near = {at + off for at in (*best, *always) for off in (-1, 0, 1)}
    return {at: salience for at, salience in saliences.items() if at in near}


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
