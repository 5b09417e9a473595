"""Owns reading back what `codec` wrote: every text of it decodes to exactly one value."""

from __future__ import annotations

from collections.abc import Callable

from ctxcore.compression.codec import (
    AS_IS,
    KEY,
    NAMES,
    OF,
    TABLE,
    TABLE_BY,
    TABLES,
    looks_encoded,
)
from ctxcore.compression.sheets import MISSING, SPARSE, Cell, Missing
from ctxcore.messages.values import JsonObject, JsonValue


class NotEncodedError(ValueError):
    """A value that no `encode` wrote."""


def decode(value: JsonValue) -> JsonValue:
    """What `encode` wrote as `value`; anything else comes back as it is.

    Raises:
        NotEncodedError: it looks like something that `encode` writes, and is not.
    """
    if isinstance(value, dict) and list(value) == [NAMES, OF]:
        named = value[NAMES]
        if isinstance(named, dict) and all(isinstance(v, str) for v in named.values()):
            return _decode(_replace(value[OF], named))
        raise NotEncodedError(NAMES)
    return _decode(value)


def _replace(value: JsonValue, named: JsonObject) -> JsonValue:
    match value:
        case str():
            return named.get(value, value)
        case list():
            return [_replace(item, named) for item in value]
        case dict():
            return {key: _replace(item, named) for key, item in value.items()}
        case _:
            return value


def _decode(value: JsonValue) -> JsonValue:
    match value:
        case list():
            return [_decode(item) for item in value]
        case dict() if looks_encoded(value):
            return _decode_form(value)
        case dict():
            return {key: _decode(item) for key, item in value.items()}
        case _:
            return value


def _decode_form(value: JsonObject) -> JsonValue:
    name, inner = next(iter(value.items()))
    if name == AS_IS and isinstance(inner, dict):
        return {key: _decode(item) for key, item in inner.items()}
    if len(value) > 1 or not isinstance(inner, list) or not inner:
        raise NotEncodedError(name)
    header, *rows = inner
    if not isinstance(header, list):
        raise NotEncodedError(name)
    if name == TABLES:
        return [[_record(row, header) for row in _as_list(group)] for group in rows]
    records = [_record(row, header) for row in rows]
    if name == TABLE:
        return list[JsonValue](records)
    if name == TABLE_BY:
        return {str(record.pop(KEY)): record for record in records}
    key = name.removeprefix(f"{TABLE_BY} ")
    return {str(record[key]): record for record in records}


def _as_list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise NotEncodedError(TABLE)
    return value


def _record(row: JsonValue, header: list[JsonValue]) -> JsonObject:
    cells = iter(_as_list(row))
    return _members(header, lambda: next(cells, None))


def _members(header: list[JsonValue], next_cell: Callable[[], JsonValue]) -> JsonObject:
    record: JsonObject = {}
    for head in header:
        match head:
            case str() if head.endswith("?"):
                cell = _optional(next_cell())
                if not isinstance(cell, Missing):
                    _put(record, head[:-1], cell)
            case str():
                _put(record, head, _decode(next_cell()))
            case dict() if len(head) == 1:
                name, inner = next(iter(head.items()))
                record[name] = _group(inner, next_cell)
            case _:
                raise NotEncodedError(TABLE)
    return record


def _put(record: JsonObject, name: str, cell: JsonValue) -> None:
    if name == SPARSE and isinstance(cell, dict):
        record.update(cell)
    else:
        record[name] = cell


def _group(inner: JsonValue, next_cell: Callable[[], JsonValue]) -> JsonValue:
    match inner:
        case [[constant]]:
            return constant
        case list():
            return _members(inner, next_cell)
        case _:
            return inner


def _optional(cell: JsonValue) -> Cell:
    match cell:
        case None:
            return MISSING
        case [inner]:
            return _decode(inner)
        case _:
            return _decode(cell)
