"""Owns the words that say what is gone: in place, counted in the unit of the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

ELISION: Final = "…"

Elided = tuple[tuple[str, int], ...]
"""What is gone, as (unit, count), e.g. (("items", 37), ("keys", 12)); units sorted by name."""


def amount(count: int, unit: str) -> str:
    """`count` with its unit: "1 line", "12 lines", "12,345 characters"."""
    return f"{count:,} {unit if count != 1 else unit.removesuffix('s')}"


def total(counts: Iterable[tuple[str, int]]) -> Elided:
    """The sum for each unit, without units of which nothing is gone."""
    sums: Counter[str] = Counter()
    for unit, count in counts:
        sums[unit] += count
    return tuple(sorted((unit, count) for unit, count in sums.items() if count))


def cut_middle(text: str, keep_chars: int) -> str:
    """`text` with its middle replaced by the number of characters gone; head and tail stay.

    About `keep_chars` characters stay, two thirds of them from the head. Never cuts between the
    halves of a surrogate pair.
    """
    head = _pair_safe(text, keep_chars - keep_chars // 3)
    tail = _pair_safe(text, max(head, len(text) - keep_chars // 3))
    gone = tail - head
    return f"{text[:head]}{ELISION}{gone:,} chars{ELISION}{text[tail:]}" if gone else text


def _pair_safe(text: str, at: int) -> int:
    splits = 0 < at < len(text) and (
        "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
    )
    return at - 1 if splits else at
