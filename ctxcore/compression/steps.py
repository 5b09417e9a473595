"""Owns the steps by which a tree loses parts: each takes one part out, and can put it back.

A step says its price when asked, since prices change while other parts go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ctxcore.compression.table import Table
from ctxcore.compression.tree import Branch, Leaf, Node

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
