"""Builds the tree of a JSON output: a node with a salience for each value.

Very long containers are thinned first, collections of records become tables, JSON inside strings
is parsed, and long texts of many lines, e.g. what a command printed, lose whole lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final

from ctxcore.compression.focus import (
    GREATEST_SHARE,
    MOST_VALUES,
    Members,
    Outstanding,
    standing_out,
)
from ctxcore.compression.lines import Lines
from ctxcore.compression.lossless import TABLE, TABLES, keyed_records, listed_records
from ctxcore.compression.markers import Elision, member_path
from ctxcore.compression.naming import Query
from ctxcore.compression.record_table import Origin, Table
from ctxcore.compression.records import Missing, Records, RecordSheet, to_record_sheet
from ctxcore.compression.salience import IDENTIFIER, REPEATED_FACTOR, scalar_salience
from ctxcore.compression.structures import detect_text_kind, parse_inner
from ctxcore.compression.target import Target
from ctxcore.compression.tree import Branch, Leaf, Node
from ctxcore.messages.values import JsonObject, JsonValue

# Thinning keeps what the budget could hold (ADR 0021).
CHARS_PER_TOKEN: Final = 30  # chosen: a shorter output is not thinned
RECORD_TOKENS: Final = 3  # no record takes less
SCALAR_TOKENS: Final = 2  # no item with its comma takes less
MOST_SCALARS: Final = 3  # chosen: kept by thinning for each token of the budget
SAMPLE: Final = 8  # chosen: members by which the size of all is estimated
LEAST_PARTS: Final = 8  # chosen: a list that short is not thinned
LEAST_MEMBERS: Final = 64  # chosen: an object with fewer members is a record, which is not thinned
LEAST_KEYS: Final = (
    20  # chosen: an object with so many is a map, of which few members are asked for
)
TAIL_SHARE: Final = 8  # chosen: an eighth of what is kept is from the end

# Chosen on one half of recorded conversations and checked on the other: ADR 0021.
DEPTH_FACTOR: Final = 0.94
OWN_ID_FACTOR: Final = 4.0
OWN_COLUMN_FACTOR: Final = 1.6
ODD_FACTOR: Final = 8.0
# Chosen: all that is in a record that the query names goes after the names of the others.
NAMED_FACTOR: Final = 30.0
LEAST_NAMED: Final = 3.0
ASKED_FACTOR: Final = 10.0
MOST_SALIENCE: Final = 1e6  # chosen: of a leaf that many containers around it raise
MOST_VISITS: Final = 2_000  # chosen: of leaves, to raise some; in deep lists each is in many parts

DEEPEST_INNER: Final = 32  # chosen: JSON inside JSON adds levels; a tree is walked by recursion
LEAST_REPEATED_CHARS: Final = 4  # chosen: a shorter text is not counted as repeated
NOISE_DIGITS: Final = 10  # chosen: 0.1 + 0.2 has sixteen digits, all noise after the first

LEAST_LINES: Final = 8  # chosen: a text of fewer lines or characters loses its middle instead
LEAST_CHARS: Final = 400  # chosen: as for LEAST_LINES


@dataclass(frozen=True, slots=True)
class Thinned:
    """The members of a container that are in its tree."""

    places: Sequence[int] = ()
    """Their places in the source; all if empty."""
    total: int = 0
    """How many members the source has; 0 if all are in the tree."""
    outstanding: Outstanding | None = None
    """Those that stand out; None if not yet known."""


WHOLE: Final = Thinned()


@dataclass(slots=True)
class TreeBuilder:
    """Builds the tree of one output."""

    target: Target
    thinned: dict[int, Thinned] = field(default_factory=dict)
    """The containers that are not whole, by identity."""
    seen: set[str | float] = field(default_factory=set)
    query: Query = field(init=False)
    _visits: int = 0
    """How many leaves were looked at to raise some."""
    is_shorter: bool = False
    """Whether a string was parsed or a number rounded, so that the whole tree may fit."""

    def __post_init__(self) -> None:
        self.query = Query(self.target.query)

    def thin(self, value: JsonValue, chars: int) -> JsonValue:
        """`value`, of `chars` characters, with containers thinned to what the budget could hold."""
        if chars <= self.target.max_tokens * CHARS_PER_TOKEN:
            return value
        return self._thin(value, max(LEAST_PARTS, self.target.max_tokens))

    def _thin(self, value: JsonValue, tokens: int) -> JsonValue:
        match value:
            case str():
                inner = parse_inner(value)
                return value if inner is None else self._thin(inner, tokens)
            case dict() if len(value) < LEAST_MEMBERS:
                return {
                    key: self._thin(item, tokens) if isinstance(item, str | list | dict) else item
                    for key, item in value.items()
                }
            case dict():
                keys, members = list(value), list(value.values())
                found = self._choose(Members(members, keys), tokens, LEAST_MEMBERS)
                places = found.places or range(len(members))
                shorter: JsonValue = {
                    keys[at]: self._thin(members[at], LEAST_PARTS) for at in places
                }
            case list():
                found = self._choose(Members(value), tokens, LEAST_PARTS)
                places = found.places or range(len(value))
                share = max(LEAST_PARTS, tokens // max(1, len(places)))
                shorter = [self._thin(value[at], share) for at in places]
            case _:
                return value
        if found is not WHOLE:
            self.thinned[id(shorter)] = found
        return shorter

    def _choose(self, all_members: Members, tokens: int, least: int) -> Thinned:
        """The head and tail of long containers, and the members that stand out."""
        members = all_members.values
        if len(members) <= least:
            return WHOLE
        is_flat = not any(isinstance(member, list | dict) for member in members)
        most = tokens // (SCALAR_TOKENS if is_flat else RECORD_TOKENS)
        scalars = sum(map(_count_scalars, members[:SAMPLE])) // min(SAMPLE, len(members))
        most = max(least, min(most, tokens * MOST_SCALARS // max(1, scalars)))
        if len(members) <= most:
            return WHOLE
        outstanding = standing_out(all_members, self.target, self.query)
        places = {*outstanding.places, *range(len(members) - most // TAIL_SHARE, len(members))}
        head = [at for at in range(len(members)) if at not in places]
        places.update(head[: max(0, most - len(places))])
        return Thinned(sorted(places), len(members), outstanding)

    def build(self, value: JsonValue, key: str = "", depth: int = 0) -> Node:
        """The tree of `value`, a member named `key`."""
        match value:
            case list():
                return self._list(value, key, depth)
            case dict():
                return self._object(value, depth)
            case _:
                return self._scalar(value, key, depth)

    def _list(self, value: list[JsonValue], key: str, depth: int) -> Node:
        thinned = self.thinned.get(id(value), WHOLE)
        table = self._table_of_list(value, depth, thinned)
        if table is not None:
            return table
        children = [self.build(item, key, depth + 1) for item in value]
        found = self._outstanding(Members(value), thinned)
        for at in found.places:
            self._raise(children[at], is_named=at in found.named)
        return Branch(children, places=thinned.places, total=thinned.total)

    def _table_of_list(self, value: list[JsonValue], depth: int, thinned: Thinned) -> Table | None:
        """The table of a list of records, or of a list of lists of records."""
        found = listed_records(value)
        if found is None:
            return None
        records, sizes = found
        if not sizes:
            places = thinned.places or range(len(value))
            return self._table(records, TABLE, [f"[{at}]" for at in places], depth, thinned)
        if thinned is not WHOLE or any(id(group) in self.thinned for group in value):
            return None
        of = [(g, at) for g, size in enumerate(sizes) for at in range(size)]
        paths = [f"[{g}][{at}]" for g, at in of]
        return self._table(records, TABLES, paths, depth, WHOLE, groups=[g for g, _ in of])

    def _object(self, value: JsonObject, depth: int) -> Node:
        thinned = self.thinned.get(id(value), WHOLE)
        keyed = keyed_records(value)
        if keyed is not None:
            form, key, records = keyed
            paths = [member_path("", name) for name in value]
            table = self._table(records, form, paths, depth, thinned, keep=key)
            if table is not None:
                return table
        children = [self.build(item, name, depth + 1) for name, item in value.items()]
        keys = list(value)
        asked = self.query.asked(keys)
        is_map = len(keys) >= LEAST_KEYS and 0 < len(asked) <= len(keys) // GREATEST_SHARE
        for at in asked if is_map else ():
            self._scale(children[at], NAMED_FACTOR)
        if all(isinstance(item, dict) for item in value.values()):
            found = self._outstanding(Members(list(value.values()), keys), thinned)
            for at in found.places:
                self._raise(children[at], is_named=at in found.named)
        return Branch(
            children, keys, places=thinned.places, total=thinned.total, keeps_names=is_map
        )

    def _scalar(self, value: str | float | bool | None, key: str, depth: int) -> Node:
        if isinstance(value, str) and depth < DEEPEST_INNER:
            inner = parse_inner(value)
            if inner is not None:
                self.is_shorter = True
                return self.build(inner, key, depth + 1)
        if isinstance(value, float) and value != (rounded := round(value, NOISE_DIGITS)):
            value, self.is_shorter = rounded, True
        salience = self._salience(value, key, depth)
        if (
            isinstance(value, str)
            and len(value) >= LEAST_CHARS
            and value.count("\n") >= LEAST_LINES
        ):
            return LinedLeaf(value, salience, self.target)
        return Leaf(value, salience, self.target.terms)

    def _salience(self, value: str | float | bool | None, key: str, depth: int) -> float:
        salience = scalar_salience(key, value) * DEPTH_FACTOR**depth
        if isinstance(value, bool) or value is None:
            return salience
        if value in self.seen:
            return salience * REPEATED_FACTOR
        if not isinstance(value, str) or len(value) >= LEAST_REPEATED_CHARS:
            self.seen.add(value)
        return salience

    def _outstanding(self, members: Members, thinned: Thinned) -> Outstanding:
        """Which of the members in the tree stand out, by their places there."""
        found = thinned.outstanding
        if found is None:
            return standing_out(members, self.target, self.query)
        at = {place: at for at, place in enumerate(thinned.places)}
        return Outstanding(*(frozenset(map(at.__getitem__, p)) for p in (found.named, found.odd)))

    def _raise(self, node: Node, *, is_named: bool) -> None:
        """Raises the salience of a part that stands out; what the query asks of it most."""
        if not is_named:
            self._scale(node, ODD_FACTOR)
            return
        for leaf in self._leaves(node):
            _scale_leaf(leaf, NAMED_FACTOR * max(1.0, LEAST_NAMED / leaf.salience))
        self._raise_asked(node)

    def _raise_asked(self, node: Node) -> None:
        """Raises what the query asks for, or names, of the parts of `node`."""
        parts: Sequence[Node] = ()
        if isinstance(node, Branch):
            parts = node.children
            asked = self.query.asked(node.keys or [])
            if node.keys is None and len(parts) > 1:
                asked = [at for at, part in enumerate(parts) if self._names_any([part])]
            for at in asked:
                self._scale(parts[at], ASKED_FACTOR)
        elif isinstance(node, Table):
            rows = [[cell for cell in row if cell is not None] for row in node.rows]
            for cell in chain.from_iterable(filter(self._names_any, rows)):
                self._scale(cell, ASKED_FACTOR)
            parts = list(chain.from_iterable(rows))
        for part in parts:
            if not isinstance(part, Leaf) and self._visits < MOST_VISITS:
                self._raise_asked(part)

    def _names_any(self, nodes: Iterable[Node]) -> bool:
        """Whether the query names one of the first values in them."""
        leaves = chain.from_iterable(map(self._leaves, nodes))
        values = (leaf.value for leaf in islice(leaves, MOST_VALUES))
        return any(
            isinstance(value, str | int) and self.query.phrase(str(value)) for value in values
        )

    def _scale(self, node: Node, factor: float) -> None:
        for leaf in self._leaves(node):
            _scale_leaf(leaf, factor)

    def _leaves(self, node: Node) -> Iterator[Leaf]:
        """The leaves in `node`; none once so many were visited that it would take long."""
        for leaf in node.leaves() if self._visits < MOST_VISITS else ():
            self._visits += 1
            yield leaf

    def _table(
        self,
        records: Records,
        form: str,
        paths: Sequence[str],
        depth: int,
        thinned: Thinned,
        *,
        groups: Sequence[int] = (),
        keep: str | None = None,
    ) -> Table | None:
        """The table of the records; None if it would be longer than they are."""
        if any(id(record) in self.thinned for record in records):
            return None  # a row has no place for the count of its own missing members
        sheet = to_record_sheet(records, keep=keep)
        if sheet is None:
            return None
        origin = Origin(
            form=form, paths=paths, groups=groups, places=thinned.places, total=thinned.total
        )
        table = self._fill(sheet, origin, depth)
        found = self._outstanding(Members(records), thinned)
        if found.places:
            matches = table.lift(found.places)
            for at, match in zip(found.places, matches.children, strict=True):
                self._raise(match, is_named=at in found.named)
                if isinstance(match, Branch) and match.keys is not None:
                    _favour_own_id(match.keys, match.children, OWN_ID_FACTOR)
        return table

    def _fill(self, sheet: RecordSheet, origin: Origin, depth: int) -> Table:
        constants = {
            c: self.build(column.value, column.name, depth + 1)
            for c, column in enumerate(sheet.columns)
            if column.constant is not None
        }
        varying = [c for c in range(len(sheet.columns)) if c not in constants]
        names = [column.name for column in sheet.columns]
        rows: list[list[Node | None]] = []
        for cells in sheet.rows:
            row: list[Node | None] = [None] * len(names)
            for c, cell in zip(varying, cells, strict=True):
                if not isinstance(cell, Missing):
                    row[c] = self.build(cell, names[c], depth + 2)
            _favour_own_id(names, row, OWN_COLUMN_FACTOR)
            rows.append(row)
        return Table(sheet.columns, rows, constants, origin)


def _count_scalars(value: JsonValue) -> int:
    match value:
        case list():
            return sum(map(_count_scalars, value))
        case dict():
            return sum(map(_count_scalars, value.values()))
        case _:
            return 1


def _scale_leaf(leaf: Leaf, factor: float) -> None:
    leaf.scale(min(factor, max(1.0, MOST_SALIENCE / leaf.salience)))


def _favour_own_id(keys: Sequence[str], cells: Sequence[Node | None], factor: float) -> None:
    """Raises the salience of a record's own identifier above those it refers to."""
    for key, cell in zip(keys, cells, strict=True):
        if isinstance(cell, Leaf) and scalar_salience(key, cell.value) >= IDENTIFIER:
            cell.scale(factor)
            return


class LinedLeaf(Leaf):
    """A text of many lines: shortened, it keeps the most salient lines."""

    __slots__ = ("_found", "_lines", "_target")

    def __init__(self, value: str, salience: float, target: Target) -> None:
        super().__init__(value, salience, target.terms)
        self._target = target
        self._lines: Lines | None = None
        self._found: dict[int, tuple[str, list[Elision]]] = {}

    def gone(self, path: str) -> Iterator[Elision]:
        text, gone = self._selected() if self._keep_chars else ("", [])
        return (replace(part, path=path) for part in gone) if text else super().gone(path)

    def _shortened(self) -> str:
        return self._selected()[0] or super()._shortened()

    def _selected(self) -> tuple[str, list[Elision]]:
        """The lines for the current length, and what is gone; no text if no line fits."""
        keep = self._keep_chars[-1]
        if keep not in self._found:
            text = str(self.value)
            if self._lines is None:
                self._lines = Lines(text.split("\n"), detect_text_kind(text), self._target)
            self._found[keep] = self._lines.select(self._full[0] * keep / len(text))
        return self._found[keep]
