"""Values as plain data: every public value has `to_dict()`, and `json.dumps` takes what it gives.

A field that `repr()` leaves out is left out here too: it is for this library alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from ctxcore.json_types import JsonObject, JsonValue


class Plain:
    """Base of dataclasses that can be given as plain data."""

    __slots__ = ()

    def to_dict(self) -> JsonObject:
        """The fields by name as JSON: times in ISO form, reasons as code and facts."""
        return _fields(self)


def to_plain(value: object) -> JsonValue:
    """`value` as JSON.

    Raises:
        TypeError: it is no value, or holds something that is none.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return dict(value.to_dict())
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(inner) for key, inner in value.items()}
    if isinstance(value, Set):
        return [to_plain(inner) for inner in sorted(value)]
    if isinstance(value, Sequence):
        return [to_plain(inner) for inner in value]
    raise TypeError(f"a {type(value).__name__} is no plain data")


def _fields(value: Any) -> JsonObject:
    return {
        known.name: to_plain(getattr(value, known.name)) for known in fields(value) if known.repr
    }
