"""Owns the choice: which units stay verbatim within a budget, the most worth per token first.

A literal pays once and a repeated utterance does not pay again. The order does not depend on the
budget, so what a smaller budget keeps, a larger one keeps too.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from ctxcore.worth.scoring import Worth
from ctxcore.worth.units import Unit

REPEAT_CHARS = 60
"""Shorter texts say something else each time: "No, it is free." answers many questions."""


def choose_units(
    units: Sequence[Unit], worths: Sequence[Worth], budget_tokens: int, *, fill: bool = False
) -> list[int]:
    """Which units to keep, ascending; their tokens are at most `budget_tokens`.

    With `fill`, units that fit what is left after the first that does not are kept too; a larger
    budget may then keep others.
    """
    kept: list[int] = []
    left = budget_tokens
    for at in rank_units(units, worths):
        if units[at].tokens <= left:
            kept.append(at)
            left -= units[at].tokens
        elif not fill:
            break
    return sorted(kept)


def rank_units(units: Sequence[Unit], worths: Sequence[Worth]) -> Iterator[int]:
    """All units, the one to keep first first; of equal ones the newer."""
    order = _Order(units, worths)
    while (at := order.pop()) is not None:
        yield at


class _Order:
    """A heap whose entries are valued again only when they come up."""

    def __init__(self, units: Sequence[Unit], worths: Sequence[Worth]) -> None:
        self._units = units
        self._worths = worths
        self._covered: set[str] = set()
        self._said: set[str] = set()
        self._heap = [
            (-worth.total / max(1, units[at].tokens), -at) for at, worth in enumerate(worths)
        ]
        heapq.heapify(self._heap)

    def pop(self) -> int | None:
        """The best unit that is left, taken as kept; None after the last."""
        while self._heap:
            rate, at = heapq.heappop(self._heap)
            now = -self._rate(-at)
            if now > rate and self._heap and (now, at) > self._heap[0]:
                heapq.heappush(self._heap, (now, at))
                continue
            self._cover(-at)
            return -at
        return None

    def _rate(self, at: int) -> float:
        worth, unit = self._worths[at], self._units[at]
        is_repeated = len(unit.text) >= REPEAT_CHARS and unit.text in self._said
        talk = 0.0 if is_repeated else worth.talk
        new = sum(value for literal, value in worth.literals if literal not in self._covered)
        return (talk + new) / max(1, unit.tokens)

    def _cover(self, at: int) -> None:
        self._said.add(self._units[at].text)
        self._covered.update(literal for literal, _ in self._worths[at].literals)
