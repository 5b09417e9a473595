"""Owns long texts inside JSON, e.g. what a command printed: they lose lines, not their middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ctxcore.compression.lines import Lines
from ctxcore.compression.lossless import KEY, TABLE, TABLE_BY, TABLES, keyed_records
from ctxcore.compression.markers import Elision, member_path
from ctxcore.compression.record_table import Origin, Table
from ctxcore.compression.records import (
    Cell,
    Column,
    Missing,
    Records,
    RecordSheet,
    is_records,
    to_record_sheet,
)
from ctxcore.compression.salience import (
    FOCUS_FACTOR,
    IDENTIFIER,
    REPEATED_FACTOR,
    scalar_worth,
    standing_out,
)
from ctxcore.compression.structures import detect_text_kind, parse_inner
from ctxcore.compression.target import Target
from ctxcore.compression.tree import Branch, Leaf, Node
from ctxcore.messages.values import JsonObject, JsonValue

LEAST_LINES: Final = 8
LEAST_CHARS: Final = 400


def has_lines(text: str) -> bool:
    """Whether leaving lines out says more than cutting the middle out."""
    return len(text) >= LEAST_CHARS and text.count("\n") >= LEAST_LINES


class LinedLeaf(Leaf):
    """A text of many lines: shortened, it keeps the lines worth most."""

    __slots__ = ("_found", "_lines", "_target")

    def __init__(self, value: str, worth: float, target: Target) -> None:
        super().__init__(value, worth, target.terms)
        self._target = target
        self._lines: Lines | None = None
        self._found: dict[int, tuple[str, list[Elision]]] = {}

    def _text(self) -> str:
        return self._selected()[0] or super()._text()

    def gone(self, path: str) -> Iterator[Elision]:
        text, gone = self._selected() if self._keep_chars else ("", [])
        if not text:
            yield from super().gone(path)
        for part in gone:
            yield Elision(
                unit=part.unit, count=part.count, path=path, start=part.start, stop=part.stop
            )

    def _selected(self) -> tuple[str, list[Elision]]:
        """The lines for the length that is kept, and what is gone; no text if none has room."""
        keep = self._keep_chars[-1]
        if keep not in self._found:
            text = str(self.value)
            if self._lines is None:
                self._lines = Lines.of(text.split("\n"), detect_text_kind(text), self._target)
            self._found[keep] = self._lines.select(self._full[0] * keep / len(text))
        return self._found[keep]


CHARS_PER_TOKEN: Final = 30  # a shorter output is looked at as a whole
RECORD_TOKENS: Final = 3  # no record takes less
SCALAR_TOKENS: Final = 2
MOST_SCALARS: Final = 3  # looked at for each token of the budget
SAMPLE: Final = 8
LEAST_PARTS: Final = 8
LEAST_MEMBERS: Final = 64  # an object with fewer members is a record, which stays whole
TAIL_SHARE: Final = 8  # every eighth place is one at the end


@dataclass(frozen=True, slots=True)
class Thinned:
    """Which members of a container are looked at, by their place, of how many; which stand out."""

    places: Sequence[int]
    total: int
    outstanding: frozenset[int]


def thin(value: JsonValue, chars: int, target: Target, known: dict[int, Thinned]) -> JsonValue:
    """`value`, of so many characters, with long containers thinned; `known` gets their places."""
    if chars <= target.max_tokens * CHARS_PER_TOKEN:
        return value
    return _thin(value, max(LEAST_PARTS, target.max_tokens), target.terms, known)


def _thin(
    value: JsonValue, tokens: int, terms: frozenset[str], known: dict[int, Thinned]
) -> JsonValue:
    shorter: JsonValue
    match value:
        case list():
            found = _choose(value, tokens, terms, LEAST_PARTS)
            share = max(LEAST_PARTS, tokens // max(1, len(found.places)))
            shorter = [_thin(value[at], share, terms, known) for at in found.places]
        case dict() if len(value) < LEAST_MEMBERS:
            return {key: _thin(item, tokens, terms, known) for key, item in value.items()}
        case dict():
            keys, members = list(value), list(value.values())
            found = _choose(members, tokens, terms, LEAST_MEMBERS)
            shorter = {
                keys[at]: _thin(members[at], LEAST_PARTS, terms, known) for at in found.places
            }
        case str() if (inner := parse_inner(value)) is not None:
            return _thin(inner, tokens, terms, known)
        case _:
            return value
    if len(found.places) < len(value):
        known[id(shorter)] = found
    return shorter


def _choose(
    members: Sequence[JsonValue], tokens: int, terms: frozenset[str], least: int
) -> Thinned:
    """The members to look at: head and tail, and those that stand out."""
    if len(members) <= least:
        return Thinned(range(len(members)), len(members), frozenset())
    is_flat = not any(isinstance(member, list | dict) for member in members)
    most = tokens // (SCALAR_TOKENS if is_flat else RECORD_TOKENS)
    sample = members[:SAMPLE]
    scalars = sum(map(_count_scalars, sample)) // max(1, len(sample))
    most = max(least, min(most, tokens * MOST_SCALARS // max(1, scalars)))
    if len(members) <= most:
        return Thinned(range(len(members)), len(members), frozenset())
    outstanding = frozenset(standing_out(members, terms))
    tail = most // TAIL_SHARE
    places = {*outstanding, *range(len(members) - tail, len(members))}
    head = (at for at in range(len(members)) if at not in places)
    places.update(at for at, _ in zip(head, range(most - len(places)), strict=False))
    return Thinned(sorted(places), len(members), outstanding)


def _count_scalars(value: JsonValue) -> int:
    match value:
        case list():
            return sum(map(_count_scalars, value))
        case dict():
            return sum(map(_count_scalars, value.values()))
        case _:
            return 1


DEPTH_FACTOR: Final = 0.94
OWN_ID_FACTOR: Final = 4.0
OWN_COLUMN_FACTOR: Final = 1.6
DEEPEST_INNER: Final = 32  # JSON inside JSON adds levels; a tree is walked by recursion
LEAST_REPEATED_CHARS: Final = 4
NOISE_DIGITS: Final = 10  # 0.1 + 0.2 has sixteen, and says no more than 0.3


@dataclass(slots=True)
class TreeBuilder:
    """Builds the tree of one output."""

    target: Target
    thinned: dict[int, Thinned] = field(default_factory=dict)
    """The containers that are not whole, by identity."""
    seen: set[str | float] = field(default_factory=set)
    is_shorter: bool = False
    """Whether a string was taken apart or a number rounded, so that the whole tree may fit."""

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
        thinned = self.thinned.get(id(value))
        table = self._table_of_list(value, depth, thinned) if len(value) > 1 else None
        if table is not None:
            return table
        children = [self.build(item, key, depth + 1) for item in value]
        for at in self._outstanding(value, thinned):
            _scale(children[at])
        if thinned is None:
            return Branch(children)
        return Branch(children, places=thinned.places, total=thinned.total)

    def _table_of_list(
        self, value: list[JsonValue], depth: int, thinned: Thinned | None
    ) -> Table | None:
        places = thinned.places if thinned else range(len(value))
        total = thinned.total if thinned else len(value)
        if is_records(value):
            paths = [f"[{at}]" for at in places]
            return self._table(
                value,
                Origin(form=TABLE, paths=paths, places=places, total=total),
                depth,
                outstanding=self._outstanding(value, thinned),
            )
        groups = [group for group in value if isinstance(group, list) and group]
        if (
            thinned
            or len(groups) < len(value)
            or any(id(group) in self.thinned for group in groups)
        ):
            return None
        of = [(g, at) for g, group in enumerate(groups) for at in range(len(group))]
        records = [groups[g][at] for g, at in of]
        if not is_records(records):
            return None
        paths = [f"[{g}][{at}]" for g, at in of]
        return self._table(
            records,
            Origin(form=TABLES, paths=paths, groups=[g for g, _ in of]),
            depth,
            outstanding=self._outstanding(records, None),
        )

    def _object(self, value: JsonObject, depth: int) -> Node:
        thinned = self.thinned.get(id(value))
        members = list(value.values())
        if len(members) > 1 and is_records(members):
            key, records = keyed_records(value, members)
            if records is not None:
                origin = Origin(
                    form=TABLE_BY if key is None else f"{TABLE_BY} {key}",
                    paths=[member_path("", name) for name in value],
                    places=thinned.places if thinned else (),
                    total=thinned.total if thinned else 0,
                )
                table = self._table(
                    records,
                    origin,
                    depth,
                    keep=key or KEY,
                    outstanding=self._outstanding(records, thinned),
                )
                if table is not None:
                    return table
        children = [self.build(item, name, depth + 1) for name, item in value.items()]
        if thinned is None:
            return Branch(children, list(value))
        return Branch(children, list(value), places=thinned.places, total=thinned.total)

    def _scalar(self, value: str | float | bool | None, key: str, depth: int) -> Leaf | Node:
        if isinstance(value, str) and depth < DEEPEST_INNER:
            inner = parse_inner(value)
            if inner is not None:
                self.is_shorter = True
                return self.build(inner, key, depth + 1)
        if isinstance(value, float) and value != (rounded := round(value, NOISE_DIGITS)):
            value, self.is_shorter = rounded, True
        worth = self._worth(value, key, depth)
        if isinstance(value, str) and has_lines(value):
            return LinedLeaf(value, worth, self.target)
        return Leaf(value, worth, self.target.terms)

    def _worth(self, value: str | float | bool | None, key: str, depth: int) -> float:
        worth = scalar_worth(key, value) * DEPTH_FACTOR**depth
        if isinstance(value, bool) or value is None:
            return worth
        if value in self.seen:
            return worth * REPEATED_FACTOR
        if not isinstance(value, str) or len(value) >= LEAST_REPEATED_CHARS:
            self.seen.add(value)
        return worth

    def _outstanding(self, members: Sequence[JsonValue], thinned: Thinned | None) -> list[int]:
        """Which of the members that are looked at stand out."""
        if thinned is None:
            return standing_out(members, self.target.terms)
        return [at for at, place in enumerate(thinned.places) if place in thinned.outstanding]

    def _table(
        self,
        records: Records,
        origin: Origin,
        depth: int,
        *,
        outstanding: Sequence[int],
        keep: str | None = None,
    ) -> Table | None:
        if any(id(record) in self.thinned for record in records):
            return None  # a row has no place for the count of its own missing members
        sheet = to_record_sheet(records, keep=keep)
        if sheet is None:
            return None
        table = self._fill(sheet, origin, depth)
        if outstanding:
            matches = table.lift(outstanding)
            _scale(matches)
            for match in matches.children:
                if isinstance(match, Branch) and match.keys is not None:
                    _favour_own_id(match.keys, match.children, OWN_ID_FACTOR)
        return table

    def _fill(self, sheet: RecordSheet, origin: Origin, depth: int) -> Table:
        constants: dict[int, Node] = {}
        varying: list[int] = []
        for c, column in enumerate(sheet.columns):
            if column.constant is None:
                varying.append(c)
            else:
                constants[c] = self.build(column.value, column.name, depth + 1)
        width = len(sheet.columns)
        rows: list[list[Node | None]] = []
        for given in sheet.rows:
            row: list[Node | None] = [None] * width
            for c, cell in zip(varying, given, strict=True):
                row[c] = self._cell(cell, sheet.columns[c], depth)
            rows.append(row)
        names = [column.name for column in sheet.columns]
        for cells in rows:
            _favour_own_id(names, cells, OWN_COLUMN_FACTOR)
        return Table(sheet.columns, rows, constants, origin)

    def _cell(self, cell: Cell, column: Column, depth: int) -> Node | None:
        return None if isinstance(cell, Missing) else self.build(cell, column.name, depth + 2)


def _scale(node: Node) -> None:
    for leaf in node.leaves():
        leaf.scale(FOCUS_FACTOR)


def _favour_own_id(keys: Sequence[str], cells: Sequence[Node | None], factor: float) -> None:
    """Make the identifier of a record itself worth more than those of others that it names."""
    for key, cell in zip(keys, cells, strict=True):
        if isinstance(cell, Leaf) and scalar_worth(key, cell.value) >= IDENTIFIER:
            cell.scale(factor)
            return
