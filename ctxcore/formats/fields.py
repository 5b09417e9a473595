"""Owns reading one field of a foreign record: its value if the type fits, else nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime


def text_at(record: Mapping[str, object], *keys: str) -> str | None:
    """The first of these fields that holds text that is not blank."""
    values = (record.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def id_at(record: Mapping[str, object], *keys: str) -> str | None:
    """The first of these fields that can name something: text or a whole number."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            return value
    return None


def count_at(record: Mapping[str, object], key: str) -> int | None:
    """A count that is not negative."""
    value = record.get(key)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count and isinstance(value, int) else None


def object_at(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The object in a field; an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def time_at(record: Mapping[str, object], *keys: str) -> datetime | None:
    """The first of these fields that holds a time: ISO 8601 text, or seconds since 1970.

    A time without a zone is taken as UTC.
    """
    return next((time for key in keys if (time := _parse_time(record.get(key)))), None)


def _parse_time(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass  # a time outside the calendar is as good as none
    return None
