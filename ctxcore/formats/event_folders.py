"""Finds the files of a conversation that a program keeps as one file for each event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ctxcore.errors import FormatError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.records import Records
from ctxcore.json_types import JsonObject, JsonValue

Event = tuple[JsonValue, int | None]
"""An event and its line, in a file of several."""


def event_number(path: Path, name: re.Pattern[str]) -> int | None:
    """The number of an event that is a file of its own; None if `path` is none."""
    found = name.fullmatch(path.name) if path.parent.name == "events" else None
    return int(found[1]) if found else None


def is_later(path: Path, name: re.Pattern[str]) -> bool:
    """Whether `path` holds an event, and another file the first event of its conversation."""
    number = event_number(path, name)
    if not number:
        return False
    return any(event_number(other, name) == 0 for other in path.parent.iterdir())


def is_beside_events(path: Path) -> bool:
    """Whether a folder of events is beside this file."""
    return (path.parent / "events").is_dir()


def events_beside(path: Path, name: re.Pattern[str], builder: TranscriptBuilder) -> Iterator[Event]:
    """The events of all files beside `path`; those that cannot be read are reported."""
    numbered = ((event_number(other, name), other) for other in path.parent.iterdir())
    files = [(number, other) for number, other in numbered if number is not None]
    for _, file in sorted(files):
        try:
            records = Records.of_file(file)
            yield from ((record.value, None) for record in records)
        except FormatError as error:
            builder.problem(error.reason)


def object_in(path: Path) -> JsonObject:
    """The object that a file is; an empty one if there is no such file."""
    if not path.is_file():
        return {}
    try:
        value = Records.of_file(path).head[0].value
    except FormatError:
        return {}  # it only adds a title and counts
    return value if isinstance(value, dict) else {}
