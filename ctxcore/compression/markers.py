"""Owns the words that say what is gone: in place, counted in the unit of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.compression.json_text import render_json

ELISION: Final = "…"
MOST_NAMED: Final = 40  # parts of one container that are listed by name; more are counted

Unit = Literal["rows", "columns", "items", "keys", "lines", "characters", "tags", "names"]

_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elision:
    """One part of an output that was left out."""

    unit: Unit
    count: int
    path: str = ""
    """Where, as `extract` takes it, e.g. `items[3].name`; empty for the output as a whole."""
    start: int | None = None
    """The first row, item, line or character that is gone, counted from 0."""
    stop: int | None = None
    """The first one after it that is not."""


Elided = tuple[Elision, ...]


def amount(count: int, unit: str) -> str:
    """`count` with its unit: "1 line", "12 lines", "12,345 characters"."""
    return f"{count:,} {unit if count != 1 else unit.removesuffix('s')}"


def totals(elided: Iterable[Elision]) -> dict[Unit, int]:
    """How much is gone of each unit, units sorted by name."""
    sums: dict[Unit, int] = {}
    for part in elided:
        sums[part.unit] = sums.get(part.unit, 0) + part.count
    return dict(sorted(sums.items()))


def member_path(path: str, key: str) -> str:
    """The path of a member of the object at `path`."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{render_json(key)}]"
    return f"{path}.{key}" if path else key


def gone_ranges(
    unit: Unit, count: int, kept: Sequence[int], *, path: str = ""
) -> Iterator[Elision]:
    """The ranges that are gone of `count` parts, of which those at the places `kept` stay."""
    start = 0
    for at in (*kept, count):
        if at > start:
            yield Elision(unit=unit, count=at - start, path=path, start=start, stop=at)
        start = at + 1


def gap_marker(chars: int) -> str:
    """What stands in a text where so many of its characters are gone."""
    return f"{ELISION}{chars:,} chars{ELISION}"


def middle_of(text: str, keep_chars: int) -> tuple[int, int]:
    """Where the middle starts and stops that leaves about `keep_chars` characters around it.

    Two thirds of them are the head's. Never between the halves of a surrogate pair.
    """
    head = pair_safe(text, keep_chars - keep_chars // 3)
    return head, pair_safe(text, max(head, len(text) - keep_chars // 3))


def pair_safe(text: str, at: int) -> int:
    """`at`, or the place before it if it is between the halves of a surrogate pair."""
    splits = 0 < at < len(text) and (
        "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
    )
    return at - 1 if splits else at
