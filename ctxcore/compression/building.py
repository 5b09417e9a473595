"""Owns how a JSON value becomes a tree: which records share their keys and so form a table.

Nothing is lost here. A list of objects, an object of objects (keyed by id) and a list of lists of
objects become a table when that is shorter; members of an object that every record has become
columns `a.b`; members that only some records have stay together in a last column `+`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeGuard

from ctxcore.compression.json_text import parse_inner, render_json
from ctxcore.compression.table import Table
from ctxcore.compression.target import estimate_tokens
from ctxcore.compression.tree import Branch, Leaf, Node
from ctxcore.compression.worth import REPEATED_FACTOR, scalar_worth
from ctxcore.messages.values import JsonObject, JsonValue

REST_COLUMN: Final = "+"
KEY_COLUMN: Final = "(key)"
GROUP_COLUMN: Final = "(list)"
DEPTH_FACTOR: Final = 0.94
DEEPEST_INNER: Final = 32  # JSON inside JSON adds levels; a tree is walked by recursion
LEAST_CONSTANT_ROWS: Final = 3
TABLE_FRAME_TOKENS: Final = 10

Records = list[JsonObject]


@dataclass(slots=True)
class TreeBuilder:
    """Builds the tree of one output; a value seen before is worth less the second time."""

    seen: set[str] = field(default_factory=set)
    unlisted: dict[int, int] = field(default_factory=dict)
    """For each thinned container, by identity, how many of its members are not in the value."""

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
        unlisted = self.unlisted.get(id(value), 0)
        if is_records(value):
            table = self._table(value, depth, unlisted=unlisted)
            if table is not None:
                return table
        elif not unlisted and (grouped := ungroup(value)) is not None:
            table = self._table(grouped, depth, key_column=GROUP_COLUMN)
            if table is not None:
                return table
        children = [self.build(item, key, depth + 1) for item in value]
        return Branch(children, unlisted=unlisted)

    def _object(self, value: JsonObject, depth: int) -> Node:
        unlisted = self.unlisted.get(id(value), 0)
        members = list(value.values())
        if is_records(members):
            key_column = shared_key_column(value)
            records = members if key_column else with_key_column(value)
            if records is not None:
                column = key_column or KEY_COLUMN
                table = self._table(records, depth, key_column=column, unlisted=unlisted)
                if table is not None:
                    return table
        children = [self.build(item, name, depth + 1) for name, item in value.items()]
        return Branch(children, list(value), unlisted=unlisted)

    def _scalar(self, value: str | float | bool | None, key: str, depth: int) -> Node:
        if isinstance(value, str) and depth < DEEPEST_INNER:
            inner = parse_inner(value)
            if inner is not None:
                return self.build(inner, key, depth + 1)
        worth = scalar_worth(key, value) * DEPTH_FACTOR**depth
        if isinstance(value, str) and len(value) > 3:
            if value in self.seen:
                worth *= REPEATED_FACTOR
            self.seen.add(value)
        return Leaf(value, worth)

    def _table(
        self, records: Records, depth: int, *, key_column: str | None = None, unlisted: int = 0
    ) -> Table | None:
        if any(id(record) in self.unlisted for record in records):
            return None  # a row has no place for the count of its own missing members
        columns, rows = tabulate(records, flat=not self.unlisted)
        if len(columns) < 2 or _saved_tokens(columns, len(rows)) <= 0:
            return None
        constants: dict[str, JsonValue] = {}
        if len(rows) >= LEAST_CONSTANT_ROWS and not unlisted:
            constants = constant_columns(columns, rows, keep=key_column)
        varying = [c for c, name in enumerate(columns) if name not in constants]
        names = [columns[c] for c in varying]
        cells = [
            [self.build(row[c], columns[c].rpartition(".")[2], depth + 2) for c in varying]
            for row in rows
        ]
        hoisted = [self.build(item, name, depth + 1) for name, item in constants.items()]
        around = Branch(hoisted, list(constants)) if constants else None
        return Table(names, cells, constants=around, key_column=key_column, unlisted=unlisted)


def is_records(values: list[JsonValue]) -> TypeGuard[Records]:
    """Whether these are two or more objects that are not empty."""
    return len(values) > 1 and all(isinstance(value, dict) and value for value in values)


def ungroup(values: list[JsonValue]) -> Records | None:
    """The records of a list of lists of records, each with the index of its list; else None."""
    if len(values) < 2 or not all(isinstance(value, list) and value for value in values):
        return None
    groups = [(at, list(value)) for at, value in enumerate(values) if isinstance(value, list)]
    records: Records = []
    for at, group in groups:
        for item in group:
            if not isinstance(item, dict) or not item or GROUP_COLUMN in item:
                return None
            records.append({GROUP_COLUMN: at, **item})
    return records


def shared_key_column(value: JsonObject) -> str | None:
    """The member in which every record of an object repeats the key it is under, if there is."""
    name, record = next(iter(value.items()))
    if not isinstance(record, dict):
        return None
    columns = [column for column, item in record.items() if item == name]
    return next((c for c in columns if all(_repeats(r, c, k) for k, r in value.items())), None)


def _repeats(record: JsonValue, column: str, key: str) -> bool:
    return isinstance(record, dict) and record.get(column) == key


def with_key_column(value: JsonObject) -> Records | None:
    """The records of an object of records, each with its key as first member."""
    records: Records = []
    for key, record in value.items():
        if not isinstance(record, dict) or KEY_COLUMN in record:
            return None
        records.append({KEY_COLUMN: key, **record})
    return records


def tabulate(records: Records, *, flat: bool = True) -> tuple[list[str], list[list[JsonValue]]]:
    """Column names and rows of records, with their objects taken apart if `flat`.

    Both are empty if the records share no key.
    """
    common = set(records[0])
    for record in records:
        common &= record.keys()
    columns = [name for name in records[0] if name in common]
    rest = [{k: v for k, v in record.items() if k not in common} for record in records]
    if not columns or REST_COLUMN in common:
        return [], []
    parts = [_column(name, [record[name] for record in records], flat=flat) for name in columns]
    if any(rest):
        parts.append([(REST_COLUMN, list[JsonValue](rest))])
    named = [column for part in parts for column in part]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        return [], []
    return names, [list(row) for row in zip(*(cells for _, cells in named), strict=True)]


def _column(name: str, cells: list[JsonValue], *, flat: bool) -> list[tuple[str, list[JsonValue]]]:
    """A column, or one for each member if its cells are objects with the same keys."""
    records = [cell for cell in cells if isinstance(cell, dict)]
    if len(records) < len(cells) or not flat or not records[0] or "." in name:
        return [(name, cells)]
    keys = records[0].keys()
    if any(record.keys() != keys for record in records) or any("." in key for key in keys):
        return [(name, cells)]
    return [(f"{name}.{key}", [record[key] for record in records]) for key in records[0]]


def constant_columns(
    columns: list[str], rows: list[list[JsonValue]], *, keep: str | None
) -> dict[str, JsonValue]:
    """The columns with one value in all rows, and that value; never the column `keep`."""
    first = [render_json(cell) for cell in rows[0]]
    return {
        name: rows[0][c]
        for c, name in enumerate(columns)
        if name != keep and all(render_json(row[c]) == first[c] for row in rows[1:])
    }


def _saved_tokens(columns: list[str], rows: int) -> int:
    """Roughly: each record of a list writes its keys, a table writes them once."""
    keys = sum(estimate_tokens(name.rpartition(".")[2]) + 1 for name in columns)
    return keys * (rows - 1) - TABLE_FRAME_TOKENS
