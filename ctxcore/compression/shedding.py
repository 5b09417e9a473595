"""Owns the steps by which a tree loses parts: each takes one part out, and can put it back.

A step says its price when asked, since prices change while other parts go.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from ctxcore.compression.record_table import Table
from ctxcore.compression.tree import MARKER_TOKENS, Branch, Leaf, Node

LEAST_PLACE: Final = 0.7
PLACE_HALVED_AFTER: Final = 12
WHOLE_TOKENS: Final = 17  # a larger container shrinks from inside, it never goes at once


def place_factor(at: int, count: int) -> float:
    """How much the place of an item says: the first and last of a long list more than the rest."""
    from_edge = min(at, 2 * (count - 1 - at))
    return LEAST_PLACE + (1 - LEAST_PLACE) / (1 + from_edge / PLACE_HALVED_AFTER)


class Step(Protocol):
    """One part that can go."""

    @property
    def node(self) -> Node:
        """What the part is taken out of; while that is gone itself, a step changes nothing."""
        ...

    def price(self) -> tuple[float, float] | None:
        """Worth lost and tokens freed now, in a `node` that is there; None if it cannot go."""
        ...

    def apply(self) -> None:
        """Take the part out."""
        ...

    def undo(self) -> None:
        """Put the part back."""
        ...

    def next_steps(self) -> Iterator[Step]:
        """Steps that became possible by it."""
        ...


@dataclass(slots=True)
class DropMember:
    """Take a member out of an object or list."""

    node: Branch
    at: int

    def price(self) -> tuple[float, float] | None:
        child = self.node.children[self.at]
        if child.tokens > WHOLE_TOKENS and not isinstance(child, Leaf):
            return None
        if self.at in self.node.out:
            return None
        worth = child.worth
        if self.node.keys is None:
            worth *= place_factor(self.at, len(self.node.children))
        return worth, self.node.freed_by(self.at) + self.node.share_of_marker()

    def apply(self) -> None:
        self.node.take_out(self.at)

    def undo(self) -> None:
        self.node.put_back(self.at)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.node)
        if len(self.node.out) == 1:  # the marker is paid for: the others free more from now on
            yield from (DropMember(self.node, at) for at in range(len(self.node.children)))


@dataclass(slots=True)
class DropRow:
    """Take a row out of a table."""

    node: Table
    row: int

    def price(self) -> tuple[float, float] | None:
        if self.row in self.node.out_rows:
            return None
        worth = self.node.row_worth[self.row] * place_factor(self.row, len(self.node.rows))
        return worth, self.node.row_freed(self.row)

    def apply(self) -> None:
        self.node.take_out_row(self.row)

    def undo(self) -> None:
        self.node.put_back_row(self.row)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.node)


@dataclass(slots=True)
class DropColumn:
    """Take a column out of a table, or what is left of it; the last one stays."""

    node: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table = self.node
        left = len(table.columns) - len(table.out_columns)
        if self.column in table.out_columns or left == 1:
            return None
        return table.column_lost(self.column), table.column_freed(self.column)

    def apply(self) -> None:
        self.node.take_out_column(self.column)

    def undo(self) -> None:
        self.node.put_back_column(self.column)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.node)


@dataclass(slots=True)
class ListValues:
    """Take a column out of the rows and keep a list of its few values."""

    node: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table, c = self.node, self.column
        if c in table.out_columns or c in table.listed or table.distinct(c) is None:
            return None
        return table.listing_price(c)

    def apply(self) -> None:
        self.node.list_values(self.column)

    def undo(self) -> None:
        self.node.unlist_values(self.column)

    def next_steps(self) -> Iterator[Step]:
        yield DropColumn(self.node, self.column)


@dataclass(slots=True)
class DropNames:
    """Keep the values of an object without their names."""

    node: Branch

    def price(self) -> tuple[float, float] | None:
        return None if self.node.bare or self.node.out else self.node.names_price()

    def apply(self) -> None:
        self.node.set_bare(True)

    def undo(self) -> None:
        self.node.set_bare(False)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.node)
        yield from (DropMember(self.node, at) for at in range(len(self.node.children)))


@dataclass(slots=True)
class DropColumnNames:
    """Keep the values of the objects in a column without their names."""

    node: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table, c = self.node, self.column
        if c in table.out_columns or c in table.bare:
            return None
        if any(cell.bare or cell.out for cell in table.objects(c)):
            return None
        return table.names_price(c)

    def apply(self) -> None:
        self.node.set_bare(self.column, True)

    def undo(self) -> None:
        self.node.set_bare(self.column, False)

    def next_steps(self) -> Iterator[Step]:
        yield DropColumn(self.node, self.column)


@dataclass(slots=True)
class Shorten:
    """Cut more out of the middle of a long text."""

    node: Leaf

    def price(self) -> tuple[float, float] | None:
        return self.node.shortening_price() if self.node.can_shorten else None

    def apply(self) -> None:
        self.node.shorten()

    def undo(self) -> None:
        self.node.lengthen()

    def next_steps(self) -> Iterator[Step]:
        yield Shorten(self.node)


def _drop_if_small(node: Node) -> Iterator[Step]:
    if node.tokens <= WHOLE_TOKENS and isinstance(node.parent, Branch):
        yield DropMember(node.parent, node.place[0])


def steps_of(tree: Node) -> list[Step]:
    """Every step that a tree offers at first."""
    steps: list[Step] = []
    _collect(tree, steps)
    return steps


def _collect(node: Node, steps: list[Step]) -> None:
    match node:
        case Leaf():
            if node.can_shorten:
                steps.append(Shorten(node))
        case Branch():
            if node.can_be_bare and node.parent is not None:
                steps.append(DropNames(node))
            for at, child in enumerate(node.children):
                steps.append(DropMember(node, at))
                _collect(child, steps)
        case Table():
            _collect_of_table(node, steps)


def _collect_of_table(table: Table, steps: list[Step]) -> None:
    if table.matches is not None:
        _collect(table.matches, steps)
    for node in table.constants.values():
        _collect(node, steps)
    for c in range(len(table.columns)):
        steps.append(DropColumn(table, c))
        if table.distinct(c) is not None:
            steps.append(ListValues(table, c))
        elif table.objects(c):
            steps.append(DropColumnNames(table, c))
    for r, row in enumerate(table.rows):
        if r in table.lifted:
            continue
        steps.append(DropRow(table, r))
        for cell in row:
            if cell is not None:
                _collect(cell, steps)


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
