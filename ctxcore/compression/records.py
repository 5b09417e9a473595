"""Sheets of records: the keys of a collection once, as columns, and rows of cells.

Collections are lists of objects, objects of objects (keyed by id) and lists of lists of objects.
Nothing is lost: a collection can be restored from its sheet with the order of its keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeAlias, TypeGuard

from ctxcore.compression.json_text import render_json
from ctxcore.compression.target import estimate_tokens
from ctxcore.messages.values import JsonObject, JsonValue

FRAME_TOKENS: Final = 5  # of a table around a header; 3 to 5 measure alike, more is worse
MOST_COLUMNS: Final = 200  # chosen: a wider table is no easier to read than its records
SPARSE: Final = "+"  # the column of members that few records have
DEEPEST_PATH: Final = 4  # chosen: deeper groups make a header hard to read

Records = Sequence[JsonObject]


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands where a record lacks a member that others have."""


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


Filled: TypeAlias = tuple[Column, Sequence[Cell]]
"""A column and its cell in each record."""


@dataclass(frozen=True, slots=True)
class RecordSheet:
    """Columns, and for each record its cells; constant columns have none."""

    columns: tuple[Column, ...]
    rows: list[list[Cell]]


def is_records(values: Iterable[JsonValue]) -> TypeGuard[Records]:
    """Whether these are objects that are not empty."""
    return all(isinstance(value, dict) and value for value in values)


def to_record_sheet(records: Records, *, keep: str | None = None) -> RecordSheet | None:
    """The sheet of two or more records, None if it would be longer than they are.

    The column `keep` is never taken for a constant.
    """
    names = _merged_keys(records)
    if names is None or any(map(_is_reserved, names)):
        return None
    filled: list[Filled] = []
    for is_sparse, group in groupby(names, lambda name: _is_sparse(name, records)):
        if is_sparse:
            filled.append(_sparse_column(list(group), records))
            continue
        for name in group:
            filled += _columns((name,), [record.get(name, MISSING) for record in records])
    if len(filled) > MOST_COLUMNS or _saved_tokens(filled, len(records)) <= 0:
        return None
    columns = tuple(_with_constant(column, cells, keep) for column, cells in filled)
    varying = [
        cells for column, (_, cells) in zip(columns, filled, strict=True) if not column.constant
    ]
    if not varying:
        return None
    return RecordSheet(columns, [list(row) for row in zip(*varying, strict=True)])


def _is_reserved(name: str) -> bool:
    """Whether a member of this name would change the meaning of a header."""
    return name.endswith("?") or name == SPARSE


def _is_sparse(name: str, records: Records) -> bool:
    """Whether so few records have the member that a column of its own would be longer."""
    gaps = sum(name not in record for record in records)
    return gaps > 0 and (estimate_tokens(name) + 3) * (len(records) - gaps) < 2 * gaps


def _sparse_column(names: list[str], records: Records) -> Filled:
    """A column whose cells are objects with those of the members that a record has."""
    cells: list[Cell] = [
        {name: record[name] for name in names if name in record} or MISSING for record in records
    ]
    return Column((SPARSE,), is_optional=MISSING in cells), cells


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


def _columns(path: tuple[str, ...], cells: Sequence[Cell]) -> list[Filled]:
    """A column, or one for each member if its cells are objects with the same keys."""
    first = cells[0]
    if isinstance(first, dict) and first and len(path) < DEEPEST_PATH:
        names = list(first)
        records = [cell for cell in cells if isinstance(cell, dict) and list(cell) == names]
        if len(records) == len(cells) and not any(map(_is_reserved, names)):
            columns = (_columns((*path, name), [r[name] for r in records]) for name in names)
            return [column for group in columns for column in group]
    return [(Column(path, is_optional=any(isinstance(cell, Missing) for cell in cells)), cells)]


def _with_constant(column: Column, cells: Sequence[Cell], keep: str | None) -> Column:
    """The column with its value, if that is the same in all rows."""
    if column.is_optional or column.name == SPARSE or column.path == (keep,):
        return column
    first = cells[0]
    if isinstance(first, int | float | str) and any(cell != first for cell in cells[:4]):
        return column
    known = [cell for cell in cells if not isinstance(cell, Missing)]
    texts = {render_json(cell) for cell in known}
    return replace(column, constant=texts.pop(), value=known[0]) if len(texts) == 1 else column


def _saved_tokens(columns: Sequence[Filled], rows: int) -> int:
    """Roughly: each record writes its keys, a sheet writes them once and `null` for gaps."""
    saved = -FRAME_TOKENS
    for column, cells in columns:
        if column.path == (SPARSE,):
            saved -= 2 * rows + 2
            continue
        gaps = sum(isinstance(cell, Missing) for cell in cells) if column.is_optional else 0
        saved += (estimate_tokens(column.name) + 1) * (rows - gaps - 1) - 2 * gaps
    return saved


def render_header(columns: Sequence[Column], depth: int = 0) -> str:
    """The header of these columns as JSON text: names, groups, and constants with their value.

    A name is a text, with `?` where rows may lack it (`null` then); `+` is an object of members.
    `{"name": [names]}` is a group of members of one object. `{"name": value}` is the same in all
    rows, a list or object as `[[value]]`.
    """
    cells: list[str] = []
    for name, group in groupby(columns, lambda column: column.path[depth]):
        members = list(group)
        if len(members[0].path) == depth + 1:
            cells += map(_render_name, members)
        else:
            cells.append(f"{{{render_json(name)}:{render_header(members, depth + 1)}}}")
    return f"[{','.join(cells)}]"


def _render_name(column: Column) -> str:
    if column.constant is None:
        return render_json(f"{column.name}?" if column.is_optional else column.name)
    is_plain = column.constant[0] not in "[{"
    value = column.constant if is_plain else f"[[{column.constant}]]"
    return f"{{{render_json(column.name)}:{value}}}"


def render_row(cells: list[str | None], columns: Sequence[Column]) -> str:
    """A row of cells, which are JSON text; a gap, None, is `null`, or nothing at the end.

    A null or list that could be read as a gap or as so written stands in a list of its own.
    """
    while cells and cells[-1] is None:
        cells.pop()
    texts = (
        "null"
        if text is None
        else f"[{text}]"
        if column.is_optional and (text == "null" or text[0] == "[")
        else text
        for text, column in zip(cells, columns, strict=False)
    )
    return f"[{','.join(texts)}]"
