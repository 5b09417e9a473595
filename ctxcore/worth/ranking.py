"""Owns the order in which units are kept: the most worth per token first, in groups that belong.

A group is opened with the loose units that make it worth most per token; each further one then
competes alone. A literal pays once and a repeated utterance does not pay again. An entry is
valued again only when it comes up, so ten thousand messages take a fraction of a second.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from ctxcore.worth.scoring import Worth, score_units
from ctxcore.worth.units import Unit

REPEAT_CHARS = 60
"""Shorter texts say something else each time: "No, it is free." answers many questions."""

Entry = tuple[float, int, int]  # minus the rate, minus the group, the loose unit or -1 to open


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Units that can only be kept together with what surrounds them, e.g. those of a message."""

    units: tuple[Unit, ...]
    loose: frozenset[int] = frozenset()
    """Which of them may be left out while the others are kept."""
    tokens: int
    """What it takes without any loose unit."""
    gap_tokens: int = 0
    """What each loose unit takes besides its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to keep: a group with some of its loose units, or one more of an open group."""

    group: int
    loose: tuple[int, ...]


class Ranking:
    """What of the groups is kept so far, and what comes next."""

    def __init__(
        self,
        groups: Sequence[Group],
        worths: Sequence[Sequence[Worth]] | None = None,
        *,
        most_tokens: int | None = None,
    ) -> None:
        """`worths` are of each group's units; with `most_tokens`, no group is opened with more."""
        self._groups = groups
        self._worths = score_groups(groups) if worths is None else worths
        self._most = most_tokens
        self._covered: set[str] = set()
        self._said: set[str] = set()
        self._counts: Callable[[Unit], bool] | None = None
        self.chosen: list[set[int] | None] = [None] * len(groups)
        """The loose units kept of each group; None where it is not open."""

    def steps(self, counts: Callable[[Unit], bool] | None = None) -> Iterator[Step]:
        """What to keep, best first; each is passed over unless it is taken before the next.

        What is worth nothing never comes. With `counts`, only such units are worth anything.
        """
        self._counts = counts
        heap: list[Entry] = []
        for at in range(len(self._groups)):
            heap += self._entries(at)
        heapq.heapify(heap)
        while heap:
            rate, back, unit = heapq.heappop(heap)
            loose, now = self._value(-back, unit)
            if heap and -now > rate and (-now, back, unit) > heap[0]:
                heapq.heappush(heap, (-now, back, unit))
            elif now > 0:
                yield Step(group=-back, loose=loose)
                if unit < 0 and self.chosen[-back] is not None:
                    for entry in self._entries(-back):
                        heapq.heappush(heap, entry)

    def take(self, step: Step) -> None:
        """Keeps it: its literals and utterances are worth nothing elsewhere from now on."""
        group, chosen = self._groups[step.group], self.chosen[step.group]
        taken = list(step.loose)
        if chosen is None:
            chosen = self.chosen[step.group] = set()
            taken += self._fixed(group)
        chosen.update(step.loose)
        for unit in taken:
            self._said.add(group.units[unit].text)
            self._covered.update(lit for lit, _ in self._worths[step.group][unit].literals)

    def _entries(self, at: int) -> Iterator[Entry]:
        """The ways to keep more of a group, with their rates."""
        group, chosen = self._groups[at], self.chosen[at]
        if chosen is None and self._most is not None and group.tokens > self._most:
            return
        for unit in [-1] if chosen is None else sorted(group.loose - chosen):
            rate = self._value(at, unit)[1]
            if rate > 0:
                yield -rate, -at, unit

    def _value(self, at: int, unit: int) -> tuple[tuple[int, ...], float]:
        """The loose units that an entry adds, and what it adds per token."""
        if unit < 0:
            return self._opening(at)
        return (unit,), self._worth(at, unit, set()) / self._cost(at, unit)

    def _opening(self, at: int) -> tuple[tuple[int, ...], float]:
        """The loose units with which a group is worth most per token, and how much that is."""
        group, seen = self._groups[at], set[str]()
        worth = sum([self._worth(at, unit, seen) for unit in self._fixed(group)])
        tokens, loose = max(1, group.tokens), list[int]()
        best, count = worth / tokens, 0
        if not group.loose:
            return (), best
        for unit in self._by_rate(at, seen):
            tokens += self._cost(at, unit)
            if self._most is not None and tokens > self._most:
                break
            worth += self._worth(at, unit, seen)
            loose.append(unit)
            if worth / tokens >= best:
                best, count = worth / tokens, len(loose)
        return tuple(loose[:count]), best

    def _by_rate(self, at: int, seen: set[str]) -> list[int]:
        """The loose units of a group, the most worth per token first, each as if taken alone."""
        rates = {
            unit: self._worth_alone(at, unit, seen) / self._cost(at, unit)
            for unit in self._groups[at].loose
        }
        return sorted(rates, key=lambda unit: (-rates[unit], unit))

    def _fixed(self, group: Group) -> list[int]:
        return [unit for unit in range(len(group.units)) if unit not in group.loose]

    def _worth(self, at: int, place: int, seen: set[str]) -> float:
        """What a unit adds to what is kept and to the literals `seen`, to which its own go."""
        total = self._worth_alone(at, place, seen)
        if self._counts is None or self._counts(self._groups[at].units[place]):
            seen.update(literal for literal, _ in self._worths[at][place].literals)
        return total

    def _worth_alone(self, at: int, place: int, seen: Set[str]) -> float:
        """The same with `seen` left as it is."""
        unit, worth = self._groups[at].units[place], self._worths[at][place]
        if self._counts is not None and not self._counts(unit):
            return 0.0
        is_repeated = len(unit.text) >= REPEAT_CHARS and unit.text in self._said
        total = 0.0 if is_repeated else worth.talk
        for literal, value in worth.literals:
            if literal not in self._covered and literal not in seen:
                total += value
        return total

    def _cost(self, at: int, unit: int) -> int:
        group = self._groups[at]
        return max(1, group.units[unit].tokens + group.gap_tokens)


def score_groups(groups: Sequence[Group], *, request: str = "") -> list[list[Worth]]:
    """What the units of each group are worth, in a conversation of those groups, oldest first, to
    somebody with that `request`.
    """
    units = [unit for group in groups for unit in group.units]
    worths = iter(score_units(units, request=request))
    return [[next(worths) for _ in group.units] for group in groups]


def is_talk(unit: Unit) -> bool:
    """Whether it was said by a person or a model, not by a machine."""
    return unit.kind == "talk"
