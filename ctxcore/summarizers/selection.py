"""Owns which sentences are quoted: greedily the most worth per token, what is covered discounted.

A lazy heap re-values a sentence only when it comes up, so that ten thousand messages take a
fraction of a second. Ties are broken by position: the same input always gives the same choice.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ctxcore.summarizers.candidates import Candidate

REPEAT = 0.5  # what a term is worth each further time it is quoted
LENGTH_POWER = 0.95  # 1 would prefer fragments: worth per token of a word alone is the highest
LABEL_TOKENS = 3  # a speaker and a line break
POINT_LABEL_TOKENS = LABEL_TOKENS + 10  # with a number and a date before them
GAP_TOKENS = 2  # the mark of something left out
LEAST_WORTH = 1e-6  # of a sentence without informative terms: quoted last, where there is room


class Selection:
    """The sentences chosen so far, in the order they were chosen, and what they cover."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        weights: Mapping[str, float],
        count: Callable[[str], int],
        *,
        label_tokens: int = LABEL_TOKENS,
    ) -> None:
        self._candidates = candidates
        self._weights = weights
        self._count = count
        self._label_tokens = label_tokens
        self._covered: Counter[str] = Counter()
        self._places: dict[int, set[int]] = {}
        self._tokens: dict[int, int] = {}
        self._heap = [(-self._bound(at), at) for at in range(len(candidates))]
        heapq.heapify(self._heap)
        self._left = self._left_output = 0
        self.chosen: list[int] = []

    def fill(self, tokens: int, *, output_tokens: int) -> None:
        """Choose with that many tokens more, of which machine output may take `output_tokens`."""
        self._left += tokens
        self._left_output += output_tokens
        self._run()

    def fill_standing(self, tokens: int) -> None:
        """Choose with that many tokens among the standing instructions alone."""
        every = self._heap
        self._heap = [entry for entry in every if self._candidates[entry[1]].is_standing]
        others = [entry for entry in every if not self._candidates[entry[1]].is_standing]
        heapq.heapify(self._heap)
        self.fill(tokens, output_tokens=0)
        self._heap.extend(others)
        heapq.heapify(self._heap)

    def _run(self) -> None:
        too_long: list[tuple[float, int]] = []
        while self._heap and self._left > 0:
            rate, at = heapq.heappop(self._heap)
            cost = self._cost(at)
            if cost > self._room(at):
                too_long.append((rate, at))
                continue
            rate = self._gain(at) / math.pow(cost, LENGTH_POWER)
            if self._heap and rate < -self._heap[0][0]:
                heapq.heappush(self._heap, (-rate, at))
            else:
                self._choose(at, cost)
        for entry in too_long:
            heapq.heappush(self._heap, entry)

    def _room(self, at: int) -> int:
        is_output = self._candidates[at].is_output
        return min(self._left, self._left_output) if is_output else self._left

    def _bound(self, at: int) -> float:
        """At least what its rate can be: no line label, and a cheap lower estimate of tokens."""
        return self._gain(at) / math.pow(1 + len(self._candidates[at].text) / 8, LENGTH_POWER)

    def _gain(self, at: int) -> float:
        candidate = self._candidates[at]
        weights, covered = self._weights, self._covered
        mass = sum(
            weights[term] * (REPEAT ** covered[term] if term in covered else 1.0)
            for term in candidate.terms
        )
        return max(mass * candidate.factor, LEAST_WORTH)

    def _cost(self, at: int) -> int:
        if at not in self._tokens:
            self._tokens[at] = self._count(self._candidates[at].text)
        candidate = self._candidates[at]
        places = self._places.get(candidate.source)
        if places is None:
            return self._tokens[at] + self._label_tokens
        touches = candidate.places[0] - 1 in places or candidate.places[-1] + 1 in places
        return self._tokens[at] + (0 if touches else GAP_TOKENS)

    def _choose(self, at: int, cost: int) -> None:
        candidate = self._candidates[at]
        self._left -= cost
        self._left_output -= cost if candidate.is_output else 0
        self._covered.update(candidate.terms)
        self._places.setdefault(candidate.source, set()).update(candidate.places)
        self.chosen.append(at)
