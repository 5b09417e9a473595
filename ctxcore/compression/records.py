"""Owns seeing a collection of records as a sheet: their keys once, as columns, and rows of cells.

Collections are lists of objects, objects of objects (keyed by id) and lists of lists of objects.
Nothing is lost: from its sheet a collection comes back with the order of its keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias, TypeGuard

from ctxcore.compression.json_text import render_json
from ctxcore.compression.target import estimate_tokens
from ctxcore.messages.values import JsonObject, JsonValue

LEAST_CONSTANT_ROWS: Final = 2
FRAME_TOKENS: Final = 5  # of a table around a header; 3 to 5 measure alike, more is worse
MOST_COLUMNS: Final = 200
SPARSE: Final = "+"  # the column of members that few records have
DEEPEST_PATH: Final = 4

Records = Sequence[JsonObject]


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands where a record lacks a member that others have."""


MISSING: Final = Missing()
Cell: TypeAlias = "JsonValue | Missing"


@dataclass(frozen=True, slots=True)
class Column:
    """A member that records share: its path of keys, and whether some records lack it.

    `constant` is its one value as JSON text where it is the same in all rows, `value` that value.
    """

    path: tuple[str, ...]
    is_optional: bool = False
    constant: str | None = None
    value: JsonValue = None

    @property
    def name(self) -> str:
        """The last key of the path."""
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class RecordSheet:
    """Columns, and for each record its cells; constant columns have none."""

    columns: tuple[Column, ...]
    rows: list[list[Cell]]

    @property
    def varying(self) -> list[Column]:
        """The columns that rows have cells for."""
        return [column for column in self.columns if column.constant is None]


def is_records(values: Iterable[JsonValue]) -> TypeGuard[Records]:
    """Whether these are objects that are not empty."""
    return all(isinstance(value, dict) and value for value in values)


def to_record_sheet(records: Records, *, keep: str | None = None) -> RecordSheet | None:
    """The sheet of two or more records, None if it would be longer than they are.

    The column `keep` is never taken for a constant.
    """
    names = _merged_keys(records)
    if names is None or any(name.endswith("?") or name == SPARSE for name in names):
        return None
    columns: list[tuple[Column, Sequence[Cell]]] = []
    for is_sparse, group in groupby(names, lambda name: _is_sparse(name, records)):
        members = list(group)
        if is_sparse:
            columns.append(_sparse_column(members, records))
            continue
        for name in members:
            columns += _columns((name,), [record.get(name, MISSING) for record in records])
    if len(columns) > MOST_COLUMNS or _saved_tokens(columns, len(records)) <= 0:
        return None
    heads = [_constant(column, cells, keep) for column, cells in columns]
    varying = [cells for head, (_, cells) in zip(heads, columns, strict=True) if not head.constant]
    if not varying:
        return None
    return RecordSheet(tuple(heads), [list(row) for row in zip(*varying, strict=True)])


def _is_sparse(name: str, records: Records) -> bool:
    """Whether so few records have the member that a column of its own would be longer."""
    gaps = sum(name not in record for record in records)
    return gaps > 0 and (estimate_tokens(name) + 3) * (len(records) - gaps) < 2 * gaps


def _sparse_column(names: list[str], records: Records) -> tuple[Column, Sequence[Cell]]:
    """Members that few records have, together in one cell: an object with those that are there."""
    cells: list[Cell] = []
    for record in records:
        members = {name: record[name] for name in names if name in record}
        cells.append(members or MISSING)
    is_optional = any(isinstance(cell, Missing) for cell in cells)
    return Column((SPARSE,), is_optional=is_optional), cells


def _merged_keys(records: Records) -> list[str] | None:
    """All keys in an order that agrees with every record; None if there is none or too many."""
    shapes = dict.fromkeys(tuple(record) for record in records)
    merged: list[str] = []
    for shape in shapes:
        at = 0
        for key in shape:
            if key in merged:
                at = merged.index(key) + 1
            else:
                merged.insert(at, key)
                at += 1
        if len(merged) > MOST_COLUMNS:
            return None
    place = {key: at for at, key in enumerate(merged)}
    for shape in shapes:
        places = [place[key] for key in shape]
        if places != sorted(places):
            return None
    return merged


def _columns(path: tuple[str, ...], cells: Sequence[Cell]) -> list[tuple[Column, Sequence[Cell]]]:
    """A column, or one for each member if its cells are objects with the same keys."""
    first = cells[0]
    if isinstance(first, dict) and first and len(path) < DEEPEST_PATH:
        names = list(first)
        if all(isinstance(cell, dict) and list(cell) == names for cell in cells):
            parts: list[tuple[Column, Sequence[Cell]]] = []
            for name in names:
                inner = [cell[name] for cell in cells if isinstance(cell, dict)]
                if name.endswith("?") or name == SPARSE:
                    return [(Column(path), cells)]
                parts += _columns((*path, name), inner)
            return parts
    return [(Column(path, is_optional=any(isinstance(cell, Missing) for cell in cells)), cells)]


def _constant(column: Column, cells: Sequence[Cell], keep: str | None) -> Column:
    if (
        column.is_optional
        or column.name == SPARSE
        or len(cells) < LEAST_CONSTANT_ROWS
        or column.path == (keep,)
    ):
        return column
    if isinstance(cells[0], int | float | str) and any(cell != cells[0] for cell in cells[:4]):
        return column
    known = [cell for cell in cells if not isinstance(cell, Missing)]
    texts = {render_json(cell) for cell in known}
    return Column(column.path, False, texts.pop(), known[0]) if len(texts) == 1 else column


def _saved_tokens(columns: Sequence[tuple[Column, Sequence[Cell]]], rows: int) -> int:
    """Roughly: each record writes its keys, a sheet writes them once and `null` for gaps."""
    saved = -FRAME_TOKENS
    for column, cells in columns:
        gaps = sum(isinstance(cell, Missing) for cell in cells) if column.is_optional else 0
        if column.path == (SPARSE,):
            saved -= 2 * gaps + 2 * (len(cells) - gaps) + 2
            continue
        saved += (estimate_tokens(column.name) + 1) * (rows - gaps - 1) - 2 * gaps
    return saved


def shared_key(value: JsonObject) -> str | None:
    """The member in which every record of an object repeats the key it is under, if there is."""
    name, record = next(iter(value.items()))
    if not isinstance(record, dict):
        return None
    columns = [column for column, item in record.items() if item == name]
    return next((c for c in columns if all(_repeats(r, c, k) for k, r in value.items())), None)


def _repeats(record: JsonValue, column: str, key: str) -> bool:
    return isinstance(record, dict) and record.get(column) == key


def render_header(columns: Sequence[Column], depth: int = 0) -> str:
    """The header of these columns as JSON text: names, groups, and constants with their value.

    A name is a text, with `?` where rows may lack it (`null` then); `+` is an object of members.
    `{"name": [names]}` is a group of members of one object. `{"name": value}` is the same in all
    rows, a list or object as `[[value]]`.
    """
    cells: list[str] = []
    at = 0
    while at < len(columns):
        column = columns[at]
        if len(column.path) == depth + 1:
            cells.append(_render_name(column))
            at += 1
            continue
        end = at
        while end < len(columns) and columns[end].path[: depth + 1] == column.path[: depth + 1]:
            end += 1
        inner = render_header(columns[at:end], depth + 1)
        cells.append(f"{{{render_json(column.path[depth])}:{inner}}}")
        at = end
    return f"[{','.join(cells)}]"


def _render_name(column: Column) -> str:
    if column.constant is None:
        return render_json(f"{column.name}?" if column.is_optional else column.name)
    is_plain = column.constant[0] not in "[{"
    value = column.constant if is_plain else f"[[{column.constant}]]"
    return f"{{{render_json(column.name)}:{value}}}"


def render_cell(text: str, column: Column) -> str:
    """A cell, which is JSON text, as it is written in a row: a null or list where it could be
    taken for a gap or for one so written stands in a list of its own."""
    return f"[{text}]" if column.is_optional and (text == "null" or text[0] == "[") else text
