"""Owns tables that are text: CSV, Markdown, and columns aligned by a shell.

Their header always stays, and so do rows in which a cell is odd: one value where all others agree
on a few.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ctxcore.compression.focus import odd_members
from ctxcore.messages.values import JsonValue

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
