"""Reads the small files that stand beside a transcript, and say more about it."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.errors import FormatError
from ctxcore.formats.records import damaged, decode_text
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.foreign import system_reason
from ctxcore.reasons.storage_problems import FileProblem


def read_document(path: Path) -> JsonValue:
    """The value of a file that is one JSON document.

    Raises:
        FormatError: it cannot be read, or is damaged.
    """
    try:
        text = decode_text(path.read_bytes())
    except OSError as error:
        problem = FileProblem.UNREADABLE(reason=system_reason(error))
        raise FormatError(path=str(path), problem=problem) from error
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(str(path), error) from error
    return value


def object_beside(path: Path | None) -> JsonObject:
    """The object that a file is; an empty one if there is none that can be read."""
    if path is None or not path.is_file():
        return {}
    try:
        value = read_document(path)
    except FormatError:
        return {}
    return value if isinstance(value, dict) else {}
