"""Owns how an output that is not JSON is made to fit: whole lines stay, gaps say how many are gone.

First what only a terminal or a browser needs goes; if that is not enough, the lines worth most per
token stay. A line too long for the budget is cut in its middle, and where no line fits, the whole
text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ctxcore.compression.kinds import Source
from ctxcore.compression.line_selection import Lines, fit_lines
from ctxcore.compression.markers import ELISION, Elided, Elision, amount, totals
from ctxcore.compression.markup import markup_lines
from ctxcore.compression.passages import Passages
from ctxcore.compression.target import Target

CHARS_PER_TOKEN: Final = 16  # a text above this ratio is taken not to fit without being counted

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def compress_text(source: Source, target: Target) -> tuple[str, Elided]:
    """The lines worth most within the budget, or the smallest marker there is."""
    lines, tags = clean_lines(source)
    cleaned = "\n".join(lines)
    if not cleaned.strip():
        return text_marker(source, target)
    may_fit = len(cleaned) <= target.max_tokens * CHARS_PER_TOKEN
    if may_fit and len(cleaned) < len(source.text) and target.fits(cleaned):
        return cleaned, _tags(tags)
    found = fit_lines(Lines.of(lines, source.kind, target), target)
    found = found or fit_passages(cleaned, target)
    if found is None:
        return text_marker(source, target)
    text, gone = found
    return text, (*_tags(tags), *(gone if source.kind != "html" else _without_places(gone)))


def fit_passages(text: str, target: Target) -> tuple[str, list[Elision]] | None:
    """The most of the ends of `text` and its passages that fits; None if not a few words do."""
    passages = Passages.of(text, target.terms)
    low, high = 0, min(len(text) - 1, target.max_tokens * CHARS_PER_TOKEN)
    best: str | None = None
    while low < high:
        keep = (low + high + 1) // 2
        shorter = passages.shorten(keep)
        if target.fits(shorter):
            low, best = keep, shorter
        else:
            high = keep - 1
    if best is None:
        return None
    gone = sum(stop - start for start, stop in passages.gone(low))
    place = (0, 1) if "\n" not in text else (None, None)
    return best, [Elision(unit="characters", count=gone, start=place[0], stop=place[1])]


def _without_places(gone: Iterable[Elision]) -> Elided:
    """How much is gone; the lines of markup are not those of the source."""
    return tuple(Elision(unit=unit, count=count) for unit, count in totals(gone).items())


def _tags(count: int) -> Elided:
    return (Elision(unit="tags", count=count),) if count else ()


def clean_lines(source: Source) -> tuple[list[str], int]:
    """The lines of an output without what only a terminal or a browser needs, and how
    many tags that was."""
    text = source.text
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if source.kind == "html":
        return markup_lines(text)
    if "\r" in text:
        text = "\n".join(map(_last_overwrite, text.replace("\r\n", "\n").split("\n")))
    return [line.rstrip() for line in text.split("\n")], 0


def _last_overwrite(line: str) -> str:
    """What a terminal shows of a line that a progress bar wrote again and again."""
    return line.rstrip("\r").rpartition("\r")[2]


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
