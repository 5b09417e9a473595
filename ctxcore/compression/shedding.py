"""Owns which parts of a tree go first: the ones worth least per token, until the rest fits.

Each part that can go is a step with a price. Prices change while other parts go, so a step is
priced again when its turn comes. At the end the best steps that still fit are undone.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from ctxcore.compression.table import Table
from ctxcore.compression.tree import Branch, Leaf, Node

LEAST_PLACE: Final = 0.7
PLACE_HALVED_AFTER: Final = 12
FREES_NOTHING: Final = 1e6  # puts steps that free nothing last, the least worth first
MOST_LOOKED_AT: Final = 200
WHOLE_TOKENS: Final = 20  # a larger container shrinks from inside, it never goes at once


def place_factor(at: int, count: int) -> float:
    """How much the place of an item says: the first and last of a long list more than the rest."""
    from_edge = min(at, 2 * (count - 1 - at))
    return LEAST_PLACE + (1 - LEAST_PLACE) / (1 + from_edge / PLACE_HALVED_AFTER)


class Step(Protocol):
    """One part that can go."""

    def price(self) -> tuple[float, float] | None:
        """Worth lost and tokens freed now; None if it cannot go (any more)."""
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

    branch: Branch
    at: int

    def price(self) -> tuple[float, float] | None:
        child = self.branch.children[self.at]
        if child.tokens > WHOLE_TOKENS and not isinstance(child, Leaf):
            return None
        if self.at in self.branch.out or not self.branch.is_present:
            return None
        worth = child.worth
        if self.branch.keys is None:
            worth *= place_factor(self.at, len(self.branch.children))
        return worth, self.branch.freed_by(self.at) + self.branch.share_of_marker()

    def apply(self) -> None:
        self.branch.take_out(self.at)

    def undo(self) -> None:
        self.branch.put_back(self.at)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.branch)
        if len(self.branch.out) == 1:  # the marker is paid for: the others free more from now on
            yield from (DropMember(self.branch, at) for at in range(len(self.branch.children)))


@dataclass(slots=True)
class DropRow:
    """Take a row out of a table."""

    table: Table
    row: int

    def price(self) -> tuple[float, float] | None:
        if self.row in self.table.out_rows or not self.table.is_present:
            return None
        worth = self.table.row_worth[self.row] * place_factor(self.row, len(self.table.rows))
        return worth, self.table.row_freed(self.row)

    def apply(self) -> None:
        self.table.take_out_row(self.row)

    def undo(self) -> None:
        self.table.put_back_row(self.row)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.table)


@dataclass(slots=True)
class DropColumn:
    """Take a column out of a table, or what is left of it; the last one stays."""

    table: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table = self.table
        left = len(table.columns) - len(table.out_columns)
        if self.column in table.out_columns or left == 1 or not table.is_present:
            return None
        return table.column_lost(self.column), table.column_freed(self.column)

    def apply(self) -> None:
        self.table.take_out_column(self.column)

    def undo(self) -> None:
        self.table.put_back_column(self.column)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.table)


@dataclass(slots=True)
class ListValues:
    """Take a column out of the rows and keep a list of its few values."""

    table: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table, c = self.table, self.column
        if c in table.out_columns or c in table.listed or not table.is_present:
            return None
        if table.distinct(c) is None:
            return None
        worth, tokens = table.worth, table.tokens
        table.list_values(c)
        price = worth - table.worth, tokens - table.tokens
        table.unlist_values(c)
        return price

    def apply(self) -> None:
        self.table.list_values(self.column)

    def undo(self) -> None:
        self.table.unlist_values(self.column)

    def next_steps(self) -> Iterator[Step]:
        yield DropColumn(self.table, self.column)


@dataclass(slots=True)
class DropNames:
    """Keep the values of an object without their names."""

    branch: Branch

    def price(self) -> tuple[float, float] | None:
        branch = self.branch
        if branch.bare or not branch.is_present or branch.out:
            return None
        worth, tokens = branch.worth, branch.tokens
        branch.set_bare(True)
        price = worth - branch.worth, tokens - branch.tokens
        branch.set_bare(False)
        return price

    def apply(self) -> None:
        self.branch.set_bare(True)

    def undo(self) -> None:
        self.branch.set_bare(False)

    def next_steps(self) -> Iterator[Step]:
        yield from _drop_if_small(self.branch)
        yield from (DropMember(self.branch, at) for at in range(len(self.branch.children)))


@dataclass(slots=True)
class DropColumnNames:
    """Keep the values of the objects in a column without their names."""

    table: Table
    column: int

    def price(self) -> tuple[float, float] | None:
        table, c = self.table, self.column
        if c in table.out_columns or c in table.bare or not table.is_present:
            return None
        if any(cell.bare or cell.out for cell in table.objects(c)):
            return None
        worth, tokens = table.column_worth[c], table.column_tokens[c]
        table.set_bare(c, True)
        price = worth - table.column_worth[c], tokens - table.column_tokens[c]
        table.set_bare(c, False)
        return price

    def apply(self) -> None:
        self.table.set_bare(self.column, True)

    def undo(self) -> None:
        self.table.set_bare(self.column, False)

    def next_steps(self) -> Iterator[Step]:
        yield DropColumn(self.table, self.column)


@dataclass(slots=True)
class Shorten:
    """Cut more out of the middle of a long text."""

    leaf: Leaf

    def price(self) -> tuple[float, float] | None:
        if not self.leaf.can_shorten or not self.leaf.is_present:
            return None
        worth, tokens = self.leaf.worth, self.leaf.tokens
        self.leaf.shorten()
        price = worth - self.leaf.worth, tokens - self.leaf.tokens
        self.leaf.lengthen()
        return price

    def apply(self) -> None:
        self.leaf.shorten()

    def undo(self) -> None:
        self.leaf.lengthen()

    def next_steps(self) -> Iterator[Step]:
        yield Shorten(self.leaf)


def _drop_if_small(node: Node) -> Iterator[Step]:
    if node.tokens <= WHOLE_TOKENS and isinstance(node.parent, Branch):
        yield DropMember(node.parent, node.place[0])


def steps_of(node: Node) -> Iterator[Step]:
    """Every step that a tree offers at first."""
    match node:
        case Leaf() if node.can_shorten:
            yield Shorten(node)
        case Branch():
            if node.can_be_bare and node.parent is not None:
                yield DropNames(node)
            for at, child in enumerate(node.children):
                yield DropMember(node, at)
                yield from steps_of(child)
        case Table():
            yield from _table_steps(node)


def _table_steps(table: Table) -> Iterator[Step]:
    if table.matches is not None:
        yield from steps_of(table.matches)
    for node in table.constants.values():
        yield from steps_of(node)
    for c in range(len(table.columns)):
        yield DropColumn(table, c)
        if table.distinct(c) is not None:
            yield ListValues(table, c)
        elif table.objects(c):
            yield DropColumnNames(table, c)
    for r, row in enumerate(table.rows):
        if r in table.lifted:
            continue
        yield DropRow(table, r)
        for cell in row:
            if cell is not None:
                yield from steps_of(cell)


@dataclass(slots=True)
class Shedding:
    """The steps of one tree: a heap of those to come, a list of those taken."""

    tree: Node
    taken: list[Step] = field(default_factory=list)
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

    def refill(self, tokens: float) -> list[Step]:
        """Put back the best parts that fit into `tokens` more; the steps that were undone."""
        limit, undone, still_taken = self.tree.tokens + tokens, [], []
        for step in reversed(self.taken):
            step.undo()
            if self.tree.tokens <= limit and step.price() is not None:
                undone.append(step)
            else:
                step.apply()
                still_taken.append(step)
        self.taken = still_taken[::-1]
        return undone

    def retake(self, undone: list[Step]) -> None:
        """Take out again what the last `refill` put back."""
        for step in reversed(undone):
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
        price = step.price()
        if price is None or price[1] < excess:
            return step
        best, least = step, price[0]
        for _, _, other in self._heap[:MOST_LOOKED_AT]:
            price = other.price()
            if price is not None and price[1] >= excess and price[0] < least:
                best, least = other, price[0]
        if best is not step:
            self._offer(step)
        return best

    def _take(self, step: Step) -> None:
        step.apply()
        self.taken.append(step)
        for following in step.next_steps():
            self._offer(following)

    def _offer(self, step: Step) -> None:
        ratio = _ratio(step)
        if ratio is not None:
            self._order += 1
            heapq.heappush(self._heap, (ratio, self._order, step))


def _ratio(step: Step) -> float | None:
    price = step.price()
    if price is None:
        return None
    worth, tokens = price
    return worth / tokens if tokens > 0 else worth * FREES_NOTHING
