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
