"""Owns seeing what was left out beside what stayed: the source text of an elision, exact and cut.

For views that show both sides; the result of a compression never holds any of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, Elision
from ctxcore.compression.paths import value_at
from ctxcore.compression.structures import read_structure
from ctxcore.errors import PartNotFoundError
from ctxcore.messages.values import JsonValue

MANY = 50  # parts of a long range are not all written out for the few characters that are shown


def elided_text(output: str, elision: Elision, *, max_chars: int = 200) -> str:
    """The beginning of what `elision` left out of `output`; empty where it has no place.

    JSON for parts of JSON, lines for lines; `…` at the end where it goes on.
    """
    try:
        is_text = elision.unit in ("lines", "rows") and not _has_structure(output)
        text = _lines(output, elision) if is_text else _part(output, elision)
    except (PartNotFoundError, ValueError):
        return ""
    return text if len(text) <= max_chars else text[:max_chars] + ELISION


def _has_structure(output: str) -> bool:
    try:
        read_structure(output)
    except ValueError:
        return False
    return True


def _lines(output: str, elision: Elision) -> str:
    if elision.start is None or elision.stop is None:
        return ""
    return "\n".join(
        islice(output.split("\n"), elision.start, min(elision.stop, elision.start + MANY))
    )


def _part(output: str, elision: Elision) -> str:
    if elision.unit == "tags" or (elision.unit in ("keys", "lines") and not elision.path):
        return ""  # it has no place of its own
    if elision.unit == "characters" and not elision.path:
        return _cut_line(output, elision)
    value = read_structure(output).value
    if elision.unit == "columns":
        return _column(value, elision.path)
    value = value_at(value, elision.path)
    if elision.start is None or elision.stop is None:
        return _written(value)
    if isinstance(value, str):
        if elision.unit == "characters":
            return value[elision.start : elision.stop]
        return _lines(value, replace(elision, unit="lines"))
    stop = min(elision.stop, elision.start + MANY)
    return ",".join(map(render_json, islice(_members(value), elision.start, stop)))


def _cut_line(output: str, elision: Elision) -> str:
    """The line that was cut, or all of an output of which nothing is left."""
    if elision.start is None:
        return output
    lines = output.split("\n")
    return lines[elision.start] if elision.start < len(lines) else ""


def _column(value: JsonValue, path: str) -> str:
    """The values of one member of all records of a collection."""
    around, _, member = path.partition("[]")
    records = islice(_left_out_records(value_at(value, around)), MANY)
    return ",".join(_written(found) for record in records for found in _found(record, member))


def _found(record: JsonValue, member: str) -> Iterable[JsonValue]:
    try:
        return (value_at(record, member),)
    except PartNotFoundError:
        return ()


def _left_out_records(value: JsonValue) -> Iterable[JsonValue]:
    """The records of a list, of an object, or of a list of lists."""
    for member in _members(value):
        if isinstance(member, list):
            yield from member
        else:
            yield member


def _members(value: JsonValue) -> Iterable[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return value.values()
        case _:
            return ()


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else render_json(value)
