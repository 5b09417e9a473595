"""Owns the lines of markup: of HTML its words, of XML its elements, one of a list a line.

What the tags of a page say is for a browser; what those of a document say is half of its data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from ctxcore.compression.salience import odd_members
from ctxcore.compression.structures import Kind
from ctxcore.compression.target import shared_terms
from ctxcore.messages.values import JsonValue
from ctxcore.text.signals import error_report, mentions_error

SAMPLE_LINES: Final = 20

_RULE: Final = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_GAP: Final = re.compile(r" {2,}|\t+")


def header_lines(lines: Mapping[int, str]) -> list[int]:
    """The places of the header: the first line, and a rule above or below it."""
    first = [at for at, line in lines.items() if line.strip()][:3]
    rules = [at for at in first if _RULE.fullmatch(lines[at])]
    words = [at for at in first if at not in rules]
    return sorted({*rules, *words[:1]})


def odd_rows(lines: Mapping[int, str]) -> list[int]:
    """The places of the rows with a cell that few others have where the others agree."""
    places = [at for at, line in lines.items() if line.strip()]
    split = _splitter([lines[at] for at in places[:SAMPLE_LINES]])
    rows = [split.split(lines[at].strip()) for at in places]
    width = max(map(len, rows), default=0)
    records: list[JsonValue] = [
        {str(c): cell.strip() for c, cell in enumerate(row)} for row in rows if len(row) == width
    ]
    whole = [at for at, row in zip(places, rows, strict=True) if len(row) == width]
    return [whole[n] for n in odd_members(records) if n > 0]


def _splitter(sample: Sequence[str]) -> re.Pattern[str]:
    """What separates the cells: the mark that most lines of a sample have as often as the first."""
    for mark in ("\t", "|", ",", ";"):
        counts = [line.count(mark) for line in sample]
        if counts and counts[0] > 1 and counts.count(counts[0]) * 2 > len(counts):
            return re.compile(re.escape(mark))
    return _GAP


HEAD_SALIENCE: Final = 2.0
TAIL_SALIENCE: Final = 1.0
ERROR_SALIENCE: Final = 6.0
SUMMARY_SALIENCE: Final = 3.0
DEFINITION_SALIENCE: Final = 2.5
CHANGE_SALIENCE: Final = 2.0
NAMED_SALIENCE: Final = 5.0
NEW_TERM_SALIENCE: Final = 0.25
REPEATED_FACTOR: Final = 0.4
CLIFF: Final = 0.8
LEAST_NAMED: Final = 0.6  # of a term that one line alone has; below, the query names no line
MOST_ALIKE: Final = 4
MOST_BELOW: Final = 4
MOST_LINES: Final = 2_000
LINE_CHARS: Final = 400  # of a longer line only its head is judged
BESIDE_FACTOR: Final = 0.5

_SUMMARY: Final = re.compile(  # of a lower-cased line, which is twice as fast as any case
    r"\b(?:\d+ (?:passed|failed|errors?|warnings?|skipped|tests?|files?|matches|rows)|"
    r"total|summary|exit code|exit status|finished|completed|succeeded|warn(?:ing)?s?|result)\b|"
    r"总计|合计|共计|完成|成功|警告|结果|總計|合計|共計|結果",
)
_DEFINITION: Final = re.compile(
    r"\W*+(?:\d++\W++)?(?:(?:async|export|default|pub|public|private|static|abstract)\s+)*"
    r"(?:def|class|function|fn|func|struct|interface|enum|impl|trait|type|module|defmodule|defp?)\s+\w"
)
_CHANGE: Final = re.compile(r"^(?:[+-](?![+-]{2})|@@|diff --git|\+\+\+)")
_NUMBER: Final = re.compile(r"^ *\d+→")
_SAYS: Final = re.compile(r"\w")
_DIGITS: Final = re.compile(r"\d+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.:/-]*[\w.:/-]{3}")


def line_salience(
    lines: Mapping[int, str],
    failing: Collection[int],
    named: Mapping[int, float],
    kind: Kind,
    *,
    count: int,
) -> dict[int, float]:
    """The worth of each line, by its place of `count`; 0 for one that says nothing.

    `failing` are the places of those that speak of errors, `named` what the query names.
    """
    said = _saliences(lines, failing, named, kind)
    return {
        at: 0.0 if own is None else _place_salience(at, count) + own + beside
        for at, own, beside in zip(lines, said, _beside(said), strict=True)
    }


def named_lines(named: Mapping[int, float]) -> list[int]:
    """The few lines that share the rarest terms with the query; none if many share them."""
    best = max(named.values(), default=0.0)
    near = [at for at, score in named.items() if score >= best * CLIFF]
    return near if best >= LEAST_NAMED and len(near) <= MOST_ALIKE else []


def below(lines: Mapping[int, str], at: int) -> list[int]:
    """The first lines that stand indented below a line: what an entry or a definition holds."""
    own, found = _indent(lines[at]), list[int]()
    for place in range(at + 1, at + 1 + MOST_BELOW):
        if place not in lines or _indent(lines[place]) <= own:
            break
        found.append(place)
    return found


def _indent(line: str) -> int:
    """How far a line is indented; one that says nothing not at all."""
    line = _NUMBER.sub("", line, count=1)
    return len(line) - len(line.lstrip()) if line.strip() else 0


def failing_lines(lines: Mapping[int, str]) -> list[int]:
    """The places of the lines that speak of something that went wrong."""
    return [at for at, line in lines.items() if mentions_error(line)]


def error_lines(lines: Mapping[int, str], failing: Iterable[int]) -> list[int]:
    """The lines that tell of an error, the plainest first, each form of them a few times."""
    plain = [at for at, line in lines.items() if error_report(line)]
    forms: Counter[str] = Counter()
    found: list[int] = []
    for at in dict.fromkeys([*plain, *failing]):
        form = _DIGITS.sub("0", lines[at][:60])
        forms[form] += 1
        if forms[form] <= MOST_ALIKE:
            found.append(at)
    return found


def looked_at(lines: Sequence[str], terms: frozenset[str]) -> list[int]:
    """The places of the lines that can matter: all, or of very many the ends and what stands out.

    A budget holds a few hundred lines; to judge a million would take seconds.
    """
    if len(lines) <= MOST_LINES:
        return list(range(len(lines)))
    ends = MOST_LINES // 4
    inner = range(ends, len(lines) - ends)
    outstanding = (at for at in inner if lines[at] and _stands_out(lines[at][:LINE_CHARS], terms))
    return [*range(ends), *islice(outstanding, ends), *range(len(lines) - ends, len(lines))]


def _stands_out(line: str, terms: frozenset[str]) -> bool:
    return mentions_error(line) or bool(shared_terms(terms, line))


def _saliences(
    lines: Mapping[int, str], failing: Collection[int], named: Mapping[int, float], kind: Kind
) -> list[float | None]:
    """What each line says is salience, wherever it stands; None if it says nothing."""
    forms: Counter[str] = Counter()
    known: set[str] = set()
    said: list[float | None] = []
    for at, line in lines.items():
        number = _NUMBER.match(line)
        if not _SAYS.search(line, number.end() if number else 0):
            said.append(None)
            continue
        salience = _own_salience(line, kind) + NAMED_SALIENCE * named.get(at, 0.0)
        salience += ERROR_SALIENCE if at in failing and kind != "code" else 0.0
        salience += NEW_TERM_SALIENCE * _new_terms(line, known)
        form = _DIGITS.sub("0", line[:60])
        forms[form] += 1
        said.append(salience * (REPEATED_FACTOR if forms[form] > 2 else 1.0))
    return said


def _beside(said: Sequence[float | None]) -> Iterator[float]:
    """For each line a share of what the lines around it say: they explain each other."""
    saliences = [0.0, *(salience or 0.0 for salience in said), 0.0]
    return (BESIDE_FACTOR * max(around) for around in zip(saliences, saliences[2:], strict=False))


def _place_salience(at: int, count: int) -> float:
    from_end = count - 1 - at
    return 1.0 + HEAD_SALIENCE / (1 + at / 4) + TAIL_SALIENCE / (1 + from_end / 2)


def _own_salience(line: str, kind: Kind) -> float:
    salience = SUMMARY_SALIENCE if _SUMMARY.search(line.lower()) else 0.0
    if kind in ("code", "diff") and _DEFINITION.match(line):
        salience += DEFINITION_SALIENCE
    if kind == "diff" and _CHANGE.match(line):
        salience += CHANGE_SALIENCE
    return salience


def _new_terms(line: str, known: set[str]) -> int:
    """How many identifiers the line is the first to name."""
    found = set(_IDENTIFIER.findall(line)) - known
    known |= found
    return min(len(found), 8)


def named_scores(lines: Mapping[int, str], terms: frozenset[str]) -> dict[int, float]:
    """How rare the terms are that each line shares with the query; only lines that share any."""
    shared = {at: found for at, line in lines.items() if (found := shared_terms(terms, line))}
    seen_in = Counter(term for found in shared.values() for term in found)
    most = math.log(1 + len(lines))
    rarity = {term: math.log(1 + len(lines) / count) / most for term, count in seen_in.items()}
    return {
        at: min(2.0, math.fsum(sorted(rarity[term] for term in found)))
        for at, found in shared.items()
    }
