"""Finds text whose markdown is more than a browser can parse or draw.

Each level of quotes, lists and emphasis is parsed by a call within that of the level above, and
every row of a table gets as many cells as its first. All counts are upper bounds.
"""

from __future__ import annotations

import re
from typing import Final

MOST_LEVELS: Final = 100  # chosen: Chromium gives up between 1,000 and 2,000; people use ten
MOST_PAIRS: Final = 500  # chosen: of emphasis that may enclose each other; Chromium bears 570
MOST_CELLS: Final = 10_000  # chosen: what is shown at once has room for so many, two signs each
TAB_COLUMNS: Final = 4  # as CommonMark reads tabs
COLUMNS_PER_LEVEL: Final = 2  # the narrowest indentation of a list

_MARK: Final = r">|[-+*](?=\s)|\d{1,9}[.)](?=\s)"
_FRONT: Final = re.compile(rf"^(?=[ \t]*\S)(?:[ \t]|{_MARK})++", re.MULTILINE)
_FRONT_MARK: Final = re.compile(_MARK)
_BLANK_LINE: Final = re.compile(r"\n[ \t>]*(?=\n)")
_EMPHASIS: Final = re.compile(
    r"\*+|~+|(?<![^\W_])_+|_+(?![^\W_])"
)  # none is within a word like a_b
_UNDER_HEAD: Final = re.compile(r"^[ \t>]*[|:-][|: \t-]*$", re.MULTILINE)


def is_beyond_browsers(text: str) -> bool:
    """Whether a browser may fail at `text` as markdown, or take very long."""
    paragraphs = _BLANK_LINE.split(text)
    return (
        any(_levels(front) > MOST_LEVELS for front in _FRONT.findall(text))
        or any(_pairs(paragraph) > MOST_PAIRS for paragraph in paragraphs)
        or sum(map(_cells, paragraphs)) > MOST_CELLS
    )


def _levels(front: str) -> int:
    """How deep a line stands by the marks and blanks in front of it."""
    columns = front.count(" ") + TAB_COLUMNS * front.count("\t")
    return len(_FRONT_MARK.findall(front)) + columns // COLUMNS_PER_LEVEL


def _pairs(paragraph: str) -> int:
    """How many marks of emphasis may open in a paragraph, or may close, whichever are fewer."""
    opening = closing = 0
    for found in _EMPHASIS.finditer(paragraph):
        start, stop = found.span()
        size = (stop - start + 1) // 2  # `**` is one mark, `***` are two
        opening += size * (not paragraph[stop : stop + 1].isspace())
        closing += size * (not paragraph[max(0, start - 1) : start].isspace())
    return min(opening, closing)


def _cells(paragraph: str) -> int:
    """The cells of a table, with those that a browser adds to short rows; 0 if it is none."""
    columns = max((line.count("|") for line in _UNDER_HEAD.findall(paragraph)), default=0)
    return (columns + 1) * paragraph.count("\n") if columns else 0
