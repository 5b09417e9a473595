"""The steps by which a tree loses parts: each leaves one part out, and can restore it.

A step computes its price when it is needed, since prices change while other parts go.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from ctxcore.compression.record_table import Table
from ctxcore.compression.tree import MARKER_TOKENS, Branch, Leaf, Node

LEAST_PLACE: Final = 0.7  # chosen: the middle of a list counts less, and still counts
PLACE_HALVED_AFTER: Final = 12  # chosen: items from an end
WHOLE_TOKENS: Final = 17  # chosen: a larger container shrinks from inside, it never goes at once
FREES_NOTHING: Final = 1e6  # puts steps that free nothing last, the least salient first
MOST_COMPARED: Final = 200  # chosen: alternatives to the last step; more take time

NodeT = TypeVar("NodeT", bound=Node)


@dataclass(slots=True)
class Step(ABC, Generic[NodeT]):
    """One part of a node that can be left out: a member, row, column, name or stretch of text."""

    node: NodeT
    """While it is not present itself, the step changes nothing."""
    at: int = 0
    """The place of the part in the node; nothing for steps on the whole node."""

    @abstractmethod
    def price(self) -> tuple[float, float] | None:
        """Salience lost and tokens freed now, in a `node` that is there; None if it cannot go."""

    @abstractmethod
    def set_out(self, is_out: bool) -> None:
        """Leaves the part out, or restores it."""

    def next_steps(self) -> Iterator[AnyStep]:
        """Steps that became possible by leaving the part out."""
        parent = self.node.parent
        if self.node.tokens <= WHOLE_TOKENS and isinstance(parent, Branch):
            yield DropMember(parent, self.node.place[0])

    def present_price(self) -> tuple[float, float] | None:
        """The price; None if the node is not present."""
        return self.price() if self.node.is_present else None


AnyStep: TypeAlias = Step[Branch] | Step[Leaf] | Step[Table]


class DropMember(Step[Branch]):
    """Leaves a member out of an object or list."""

    def price(self) -> tuple[float, float] | None:
        branch, child = self.node, self.node.children[self.at]
        is_large = child.tokens > WHOLE_TOKENS and not isinstance(child, Leaf)
        if is_large or self.at in branch.out:
            return None
        factor = place_factor(self.at, len(branch.children)) if branch.keys is None else 1.0
        return child.salience * factor, branch.freed_by(self.at) + branch.share_of_marker()

    def set_out(self, is_out: bool) -> None:
        self.node.set_out(self.at, is_out)

    def next_steps(self) -> Iterator[AnyStep]:
        yield from super().next_steps()
        if len(self.node.out) == 1:  # the marker is paid for: the others free more from now on
            yield from (DropMember(self.node, at) for at in range(len(self.node.children)))


class DropNames(Step[Branch]):
    """Keeps the values of an object without their names."""

    def price(self) -> tuple[float, float] | None:
        return None if self.node.bare or self.node.out else self.node.names_price()

    def set_out(self, is_out: bool) -> None:
        self.node.set_bare(is_out)

    def next_steps(self) -> Iterator[AnyStep]:
        yield from super().next_steps()
        yield from (DropMember(self.node, at) for at in range(len(self.node.children)))


class DropRow(Step[Table]):
    """Leaves a row out of a table."""

    def price(self) -> tuple[float, float] | None:
        table, r = self.node, self.at
        if r in table.out_rows:
            return None
        return table.row_salience[r] * place_factor(r, len(table.rows)), table.row_freed(r)

    def set_out(self, is_out: bool) -> None:
        self.node.set_row_out(self.at, is_out)


class DropColumn(Step[Table]):
    """Leaves a column out of a table, or the list of its values; the last one stays."""

    def price(self) -> tuple[float, float] | None:
        table = self.node
        left = len(table.columns) - len(table.out_columns)
        return None if self.at in table.out_columns or left == 1 else table.column_price(self.at)

    def set_out(self, is_out: bool) -> None:
        self.node.set_column_out(self.at, is_out)


class ListValues(Step[Table]):
    """Leaves a column out of the rows and keeps a list of its few values."""

    def price(self) -> tuple[float, float] | None:
        table, c = self.node, self.at
        if c in table.out_columns or c in table.listed or table.distinct(c) is None:
            return None
        return table.listing_price(c)

    def set_out(self, is_out: bool) -> None:
        self.node.set_listed(self.at, is_out)

    def next_steps(self) -> Iterator[AnyStep]:
        yield DropColumn(self.node, self.at)


class DropColumnNames(Step[Table]):
    """Keeps the values of the objects in a column without their names."""

    def price(self) -> tuple[float, float] | None:
        table, c = self.node, self.at
        if c in table.out_columns or c in table.bare:
            return None
        if any(cell.bare or cell.out for cell in table.objects(c)):
            return None
        return table.names_price(c)

    def set_out(self, is_out: bool) -> None:
        self.node.set_bare(self.at, is_out)

    def next_steps(self) -> Iterator[AnyStep]:
        yield DropColumn(self.node, self.at)


class Shorten(Step[Leaf]):
    """Cuts a long text by one step more."""

    def price(self) -> tuple[float, float] | None:
        return self.node.shortening_price() if self.node.can_shorten else None

    def set_out(self, is_out: bool) -> None:
        (self.node.shorten if is_out else self.node.lengthen)()

    def next_steps(self) -> Iterator[AnyStep]:
        yield Shorten(self.node)


def place_factor(at: int, count: int) -> float:
    """The salience of an item by its place: at the ends of a long list it is higher."""
    from_edge = min(at, 2 * (count - 1 - at))
    return LEAST_PLACE + (1 - LEAST_PLACE) / (1 + from_edge / PLACE_HALVED_AFTER)


def steps_of(node: Node) -> Iterator[AnyStep]:
    """Every step that a tree offers at first."""
    match node:
        case Leaf() if node.can_shorten:
            yield Shorten(node)
        case Branch():
            if node.can_be_bare and node.parent is not None:
                yield DropNames(node)
            for at, child in enumerate(node.children):
                yield DropMember(node, at)
                if _has_steps(child):
                    yield from steps_of(child)
        case Table():
            yield from _steps_of_table(node)


def _steps_of_table(table: Table) -> Iterator[AnyStep]:
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
    for r in table.shown_rows:
        yield DropRow(table, r)
        for cell in table.rows[r]:
            if cell is not None and _has_steps(cell):
                yield from steps_of(cell)


def _has_steps(node: Node) -> bool:
    """Whether a part offers any: most are short texts and numbers, which do not."""
    return not isinstance(node, Leaf) or node.can_shorten


Taken: TypeAlias = tuple[AnyStep, int]
"""A step and the tokens that it freed."""


class Shedding:
    """Sheds parts of one tree: a heap of possible steps, a list of those taken."""

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self._taken: list[Taken] = []
        self._heap: list[tuple[float, int, AnyStep]] = []
        self._order = 0
        for step in steps_of(tree):
            self._offer(step, step.price())  # all nodes are present

    def shed_to(self, tokens: float) -> bool:
        """Leaves parts out until the tree's estimate is at most `tokens`; False if none is left."""
        while self.tree.tokens > tokens:
            step = self._next()
            if step is None:
                return False
            self._take(self._gentler(step, self.tree.tokens - tokens))
        return True

    def refill(self, tokens: float) -> list[Taken]:
        """Restores the best parts that fit into `tokens` more; the steps that were undone."""
        limit = self.tree.tokens + tokens
        undone: list[Taken] = []
        still_taken: list[Taken] = []
        for taken in reversed(self._taken):
            (undone if self._undo(taken, limit) else still_taken).append(taken)
        self._taken = still_taken[::-1]
        return undone

    def _undo(self, taken: Taken, limit: float) -> bool:
        """Undoes a step if there is room for its part and its container is present."""
        step, freed = taken
        # It may bring its marker's tokens back.
        if self.tree.tokens + freed > limit + MARKER_TOKENS or not step.node.is_present:
            return False
        step.set_out(False)
        if self.tree.tokens <= limit and step.price() is not None:
            return True
        step.set_out(True)
        return False

    def retake(self, undone: list[Taken]) -> None:
        """Leaves out again what the last `refill` restored."""
        for step, _ in reversed(undone):
            step.set_out(True)
        self._taken += reversed(undone)

    def _next(self) -> AnyStep | None:
        """The step that loses the least salience per token at current prices."""
        while self._heap:
            ratio, order, step = heapq.heappop(self._heap)
            price = step.present_price()
            if price is None:
                continue
            now = _ratio(price)
            if now <= ratio * 1.02 or not self._heap or now <= self._heap[0][0]:
                return step
            heapq.heappush(self._heap, (now, order, step))
        return None

    def _gentler(self, step: AnyStep, excess: float) -> AnyStep:
        """The step that loses least among those that free `excess`; `step` if it frees less."""
        price = step.present_price()
        if price is None or price[1] < excess:
            return step
        best, least = step, price[0]
        for _, _, other in self._heap[:MOST_COMPARED]:
            price = other.present_price()
            if price is not None and price[1] >= excess and price[0] < least:
                best, least = other, price[0]
        if best is not step:
            self._offer(step, step.present_price())
        return best

    def _take(self, step: AnyStep) -> None:
        before = self.tree.tokens
        step.set_out(True)
        self._taken.append((step, before - self.tree.tokens))
        for following in step.next_steps():
            self._offer(following, following.present_price())

    def _offer(self, step: AnyStep, price: tuple[float, float] | None) -> None:
        if price is not None:
            self._order += 1
            heapq.heappush(self._heap, (_ratio(price), self._order, step))


def _ratio(price: tuple[float, float]) -> float:
    """Salience lost for each token freed."""
    salience, tokens = price
    return salience / tokens if tokens > 0 else salience * FREES_NOTHING
