"""Computes the salience of lines from their words, the query, and their position."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxcore.compression.focus import odd_members
from ctxcore.compression.structures import Kind
from ctxcore.compression.target import shared_by_line
from ctxcore.messages.values import JsonValue
from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.patterns import one_of
from ctxcore.text.signals import error_report, mentions_error, suspect_lines

# Chosen on one half of recorded conversations and checked on the other: ADR 0021.
HEAD_SALIENCE: Final = 2.0
TAIL_SALIENCE: Final = 1.0
ERROR_SALIENCE: Final = 6.0
SUMMARY_SALIENCE: Final = 3.0
DEFINITION_SALIENCE: Final = 2.5
CHANGE_SALIENCE: Final = 2.0
NAMED_SALIENCE: Final = 5.0
NEW_TERM_SALIENCE: Final = 0.25
REPEATED_FACTOR: Final = 0.4
BESIDE_FACTOR: Final = 0.5
CLIFF: Final = 0.8  # chosen: of the best score; below it the query does not name the line
LEAST_NAMED: Final = 0.6  # chosen: of the score of a term that a single line has
MOST_ALIKE: Final = 4  # chosen: lines of one form, or as close to the query, that are kept first
MOST_MENTIONS: Final = 5  # of errors in code: with more different ones it handles errors, has none
MOST_BELOW: Final = 4  # chosen: lines of an entry that are kept with its first
MOST_LINES: Final = 2_000  # chosen: a budget holds a few hundred; to judge a million takes seconds
SEARCHED_LINES: Final = 256  # chosen: of very many, so many are searched at once
LINE_CHARS: Final = 400  # chosen: of a longer line only the head is judged
FORM_CHARS: Final = 60  # chosen: lines are of one form if these differ in digits only
LEAST_USUAL: Final = 4  # chosen: lines of one form, for it to be usual
USUAL_SHARE: Final = 0.7  # chosen: of the lines, for the others to be odd
MOST_ODD_ALIKE: Final = 2  # chosen: lines of one form that are odd
MOST_ODD_LINES: Final = 12  # chosen: with more, none says more than the others
SAMPLE_LINES: Final = 20  # chosen: enough to find what separates the cells of a table

_SUMMARY: Final = re.compile(  # of a lower-cased line, which is twice as fast as any case
    r"\b(?:\d+ (?:passed|failed|errors?|warnings?|skipped|tests?|files?|matches|rows)|"
    r"total|summary|exit code|exit status|finished|completed|succeeded|warn(?:ing)?s?|result)\b|"
    r"总计|合计|共计|完成|成功|警告|结果|總計|合計|共計|結果",
)
# One is in whatever `_SUMMARY` finds, and several times as fast to find.
_SUMMARY_STEM: Final = re.compile(
    one_of(
        [
            *(" passed", " failed", " error", " warning", " skipped", " test", " file"),
            *(" matches", " rows", "total", "summary", "exit code", "exit status", "finished"),
            *("completed", "succeeded", "warn", "result", "总计", "合计", "共计", "完成", "成功"),
            *("警告", "结果", "總計", "合計", "共計", "結果"),
        ]
    )
)
_DEFINITION: Final = re.compile(
    r"\W*+(?:\d++\W++)?(?:(?:async|export|default|pub|public|private|static|abstract)\s+)*"
    r"(?:def|class|function|fn|func|struct|interface|enum|impl|trait|type|module|defmodule|defp?)\s+\w"
)
_CHANGE: Final = re.compile(r"^(?:[+-](?![+-]{2})|@@|diff --git|\+\+\+)")
LINE_NUMBER: Final = re.compile(r"^ *\d+→")
_WORD: Final = re.compile(r"\w")
_DIGITS: Final = re.compile(r"\d+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.:/-]{3,}")
_VALUE: Final = re.compile(r"[\w./:@-]*[\d_/][\w./:@-]*")
# In other words than those of `mentions_error`.
_TROUBLE: Final = re.compile(
    r"\b(?:can(?:no|')t|can not|could(?: not|n't)|unable to|did(?: not|n't) (?:finish|complete)"
    r"|exit(?:ed)?(?: with)?(?: code| status)? [1-9]|non-?zero|abort(?:ed|ing)?|crashed"
    r"|giv(?:en?|ing) up|unreachable|back-?off|mismatch(?:ed)?)\b|[✕✗✘❌×]"
    r"|无法|不能|不足|找不到|未能|中断|無法|找不到|未能|中斷",
)
_POINT: Final = re.compile(r"\s*(?:[-*+#>|•]|\d+\.)\s")  # of a list: speaks of what may happen
_RULE: Final = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_GAP: Final = re.compile(r" {2,}|\t+")


def candidate_lines(lines: Sequence[str], terms: frozenset[str]) -> list[int]:
    """The places of the lines to judge: all, or of very many the ends and what stands out."""
    if len(lines) <= MOST_LINES:
        return list(range(len(lines)))
    ends = MOST_LINES // 4
    outstanding = _outstanding(lines, range(ends, len(lines) - ends), terms)
    return [*range(ends), *islice(outstanding, ends), *range(len(lines) - ends, len(lines))]


def _outstanding(lines: Sequence[str], places: range, terms: frozenset[str]) -> Iterator[int]:
    """Those of `places` where a line mentions an error or is named by the query."""
    for start in range(0, len(places), SEARCHED_LINES):
        some = places[start : start + SEARCHED_LINES]
        heads = [lines[at][:LINE_CHARS] for at in some]
        joined = JoinedLines(heads)
        failing = {n for n in suspect_lines(joined) if mentions_error(heads[n])}
        yield from (some[n] for n in sorted(failing.union(shared_by_line(terms, joined))))


@dataclass(frozen=True, slots=True)
class Judged:
    """The lines by which an output is judged, by their places, and what is found in all at once."""

    lines: Mapping[int, str]
    failing: Sequence[int]
    """The places of those that mention errors."""
    troubled: Sequence[int]
    """The places of those that say so in other words."""
    suspect: Sequence[int]
    """The places outside which none reports an error."""
    summing_up: frozenset[int]
    """The places of those that sum up."""
    scores: Mapping[int, float]
    """Of the lines that share terms with the query: how rare these are, 2 at most."""

    @classmethod
    def of(cls, lines: Mapping[int, str], terms: frozenset[str]) -> Judged:
        """What is found in `lines` and by the terms of a query."""
        places, joined = list(lines), JoinedLines(lines.values())
        suspect = [places[n] for n in sorted(suspect_lines(joined))]
        troubled = (places[n] for n in sorted(joined.matching(_TROUBLE)))
        sums = (places[n] for n in joined.matching(_SUMMARY_STEM))
        shared = shared_by_line(terms, joined)
        return cls(
            lines=lines,
            failing=[at for at in suspect if mentions_error(lines[at])],
            troubled=[at for at in troubled if not _POINT.match(lines[at])],
            suspect=suspect,
            summing_up=frozenset(at for at in sums if _SUMMARY.search(lines[at].lower())),
            scores=_scores({places[n]: those for n, those in shared.items()}, len(lines)),
        )


def line_salience(judged: Judged, kind: Kind, *, count: int) -> dict[int, float]:
    """The salience of each line, by its place of `count`; 0 for a line without words.

    Lines gain from those beside them, since they explain each other.
    """
    own = _own_salience(judged, kind)
    padded = [0.0, *(salience or 0.0 for salience in own), 0.0]
    beside = (BESIDE_FACTOR * max(pair) for pair in zip(padded, padded[2:], strict=False))
    return {
        at: 0.0 if salience is None else _place_salience(at, count) + salience + near
        for at, salience, near in zip(judged.lines, own, beside, strict=True)
    }


def _own_salience(judged: Judged, kind: Kind) -> list[float | None]:
    """The salience of the words of each line, wherever it stands; None if it has none."""
    forms: Counter[str] = Counter()
    known: set[str] = set()
    failing = frozenset(judged.failing if kind != "code" else ())
    saliences: list[float | None] = []
    for at, line in judged.lines.items():
        number = LINE_NUMBER.match(line)
        if not _WORD.search(line, number.end() if number else 0):
            saliences.append(None)
            continue
        salience = SUMMARY_SALIENCE if at in judged.summing_up else 0.0
        if kind in ("code", "diff") and _DEFINITION.match(line):
            salience += DEFINITION_SALIENCE
        if kind == "diff" and _CHANGE.match(line):
            salience += CHANGE_SALIENCE
        salience += NAMED_SALIENCE * judged.scores.get(at, 0.0)
        if at in failing:
            salience += ERROR_SALIENCE
        new_terms = set(_IDENTIFIER.findall(line)).difference(known)
        known.update(new_terms)
        salience += NEW_TERM_SALIENCE * min(len(new_terms), 8)
        form = _form(line)
        forms[form] += 1
        saliences.append(salience * (REPEATED_FACTOR if forms[form] > 2 else 1.0))
    return saliences


def odd_lines(judged: Judged) -> list[int]:
    """The lines of a form that few have, where nearly all others are of a few forms.

    A program that prints the same again and again has something to say when it does not.
    """
    forms = {at: _words_alone(line) for at, line in judged.lines.items() if line.strip()}
    counts = Counter(forms.values())
    usual = sum(count for count in counts.values() if count >= LEAST_USUAL)
    odd = [at for at, form in forms.items() if counts[form] <= MOST_ODD_ALIKE]
    is_usual = usual >= USUAL_SHARE * len(forms)
    return odd if is_usual and len(odd) <= MOST_ODD_LINES else []


def _words_alone(line: str) -> str:
    """What is the same in lines that differ in numbers, names and paths only."""
    return _VALUE.sub("0", line[:FORM_CHARS])


def _form(line: str) -> str:
    return _DIGITS.sub("0", line[:FORM_CHARS])


def _place_salience(at: int, count: int) -> float:
    from_end = count - 1 - at
    return 1.0 + HEAD_SALIENCE / (1 + at / 4) + TAIL_SALIENCE / (1 + from_end / 2)


def _scores(shared: Mapping[int, Collection[str]], count: int) -> dict[int, float]:
    """How rare the terms are that lines share with the query, 2 at most, among `count` lines."""
    seen_in = Counter(term for found in shared.values() for term in found)
    most = math.log(1 + count)
    rarity = {term: math.log(1 + count / lines) / most for term, lines in seen_in.items()}
    return {
        at: min(2.0, math.fsum(sorted(rarity[term] for term in found)))
        for at, found in shared.items()
    }


def named_lines(named: Mapping[int, float]) -> list[int]:
    """The few lines that share the rarest terms with the query; none if many share them."""
    best = max(named.values(), default=0.0)
    near = [at for at, score in named.items() if score >= best * CLIFF]
    return near if best >= LEAST_NAMED and len(near) <= MOST_ALIKE else []


def below(lines: Mapping[int, str], at: int) -> list[int]:
    """The first lines that stand indented below a line: the content of an entry or a definition."""
    own, found = _indent(lines[at]), list[int]()
    for place in range(at + 1, at + 1 + MOST_BELOW):
        if place not in lines or _indent(lines[place]) <= own:
            break
        found.append(place)
    return found


def _indent(line: str) -> int:
    """How far a line is indented; 0 for a blank line."""
    line = LINE_NUMBER.sub("", line, count=1)
    return len(line) - len(line.lstrip()) if line.strip() else 0


def error_lines(judged: Judged, kind: Kind) -> list[int]:
    """The lines that report an error, the plainest first, a few of each form; then odd lines."""
    plain = [at for at in judged.suspect if error_report(judged.lines[at])]
    mentions = list(dict.fromkeys([*judged.failing, *judged.troubled]))
    if kind == "code" and len({judged.lines[at].strip() for at in mentions}) > MOST_MENTIONS:
        mentions = []
    forms: Counter[str] = Counter()
    found: list[int] = []
    for at in dict.fromkeys([*plain, *mentions]):
        form = _form(judged.lines[at])
        forms[form] += 1
        if forms[form] <= MOST_ALIKE:
            found.append(at)
    odd = odd_lines(judged) if kind not in ("code", "diff") else []
    return list(dict.fromkeys([*found, *odd]))


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
