"""Owns which lines of a text stay and how the gaps between them are written.

Lines are chosen by worth per token. A line beside a kept one needs no gap of its own, so it is
cheaper, and what stays are passages more than single lines.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ctxcore.compression.markers import ELISION, Unit, amount
from ctxcore.compression.target import estimate_tokens

GAP_TOKENS: Final = 4.0  # measured: 6 keeps fewer, longer passages and less of what is used later
LEAST_WORTH: Final = 0.05  # of an empty line: it fills a gap, it never opens one

_NUMBER: Final = re.compile(r"^ *\d+→")


def choose_lines(
    lines: Mapping[int, str],
    worths: Mapping[int, float],
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
        (-worth / price(at), at) for at, worth in worths.items() if worth > 0 and at not in kept
    ]
    heapq.heapify(heap)
    while heap and used + 2 < room:
        _, at = heapq.heappop(heap)
        if at in kept or used + price(at) > room:
            continue
        used += price(at)
        kept.add(at)
        for beside in (at - 1, at + 1):
            if beside in worths and beside not in kept:
                worth = max(worths[beside], LEAST_WORTH)
                heapq.heappush(heap, (-worth / price(beside), beside))
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
