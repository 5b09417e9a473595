"""Owns which parts of a tree go first: the ones worth least per token, until the rest fits.

Each part that can go is a step with a price. Prices change while other parts go, so a step is
priced again when its turn comes. At the end the best steps that still fit are undone.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ctxcore.compression.steps import Step, steps_of
from ctxcore.compression.tree import MARKER_TOKENS, Node

FREES_NOTHING: Final = 1e6  # puts steps that free nothing last, the least worth first
MOST_LOOKED_AT: Final = 200

Taken: TypeAlias = tuple[Step, int]
"""A step and the tokens that it freed."""


@dataclass(slots=True)
class Shedding:
    """The steps of one tree: a heap of those to come, a list of those taken."""

    tree: Node
    taken: list[Taken] = field(default_factory=list)
    _heap: list[tuple[float, int, Step]] = field(default_factory=list)
    _order: int = 0

    def __post_init__(self) -> None:
        for step in steps_of(self.tree):
            self._offer(step)

    def shed_to(self, tokens: float) -> bool:
        """Take out parts until the tree's estimate is at most `tokens`; False if none is left."""
        while self.tree.tokens > tokens:
            step = self._next()
            if step is None:
                return False
            self._take(self._gentler(step, self.tree.tokens - tokens))
        return True

    def refill(self, tokens: float) -> list[Taken]:
        """Put back the best parts that fit into `tokens` more; the steps that were undone."""
        limit = self.tree.tokens + tokens
        undone: list[Taken] = []
        still_taken: list[Taken] = []
        for taken in reversed(self.taken):
            if self._undo(taken, limit):
                undone.append(taken)
            else:
                still_taken.append(taken)
        self.taken = still_taken[::-1]
        return undone

    def _undo(self, taken: Taken, limit: float) -> bool:
        """Undo a step if its part has room and somewhere to be."""
        step, freed = taken
        # It may bring its marker's tokens back.
        if self.tree.tokens + freed > limit + MARKER_TOKENS or not step.node.is_present:
            return False
        step.undo()
        if self.tree.tokens <= limit and step.price() is not None:
            return True
        step.apply()
        return False

    def retake(self, undone: list[Taken]) -> None:
        """Take out again what the last `refill` put back."""
        for step, _ in reversed(undone):
            step.apply()
        self.taken += reversed(undone)

    def _next(self) -> Step | None:
        """The step worth least per token at today's prices."""
        while self._heap:
            ratio, order, step = heapq.heappop(self._heap)
            now = _ratio(step)
            if now is None:
                continue
            if now <= ratio * 1.02 or not self._heap or now <= self._heap[0][0]:
                return step
            heapq.heappush(self._heap, (now, order, step))
        return None

    def _gentler(self, step: Step, excess: float) -> Step:
        """The step that costs least worth among those that free enough, if `step` ends it."""
        price = _price(step)
        if price is None or price[1] < excess:
            return step
        best, least = step, price[0]
        for _, _, other in self._heap[:MOST_LOOKED_AT]:
            price = _price(other)
            if price is not None and price[1] >= excess and price[0] < least:
                best, least = other, price[0]
        if best is not step:
            self._offer(step)
        return best

    def _take(self, step: Step) -> None:
        before = self.tree.tokens
        step.apply()
        self.taken.append((step, before - self.tree.tokens))
        for following in step.next_steps():
            self._offer(following)

    def _offer(self, step: Step) -> None:
        ratio = _ratio(step)
        if ratio is not None:
            self._order += 1
            heapq.heappush(self._heap, (ratio, self._order, step))


def _price(step: Step) -> tuple[float, float] | None:
    return step.price() if step.node.is_present else None


def _ratio(step: Step) -> float | None:
    price = _price(step)
    if price is None:
        return None
    worth, tokens = price
    return worth / tokens if tokens > 0 else worth * FREES_NOTHING
