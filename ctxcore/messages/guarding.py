"""Reading one untrusted value: as JSON text, as words, as an object; an error names its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonValue

MAX_DEPTH: Final = 200  # walking deeper would end at Python's own limit, 1,000 calls
_SHOWN_CHARS: Final = 60


def canonical_at(value: object, place: str) -> str:
    """`value` as canonical JSON.

    Raises:
        MessageError: it is not JSON, or nested more than `MAX_DEPTH` deep.
    """
    try:
        text = to_canonical(cast("JsonValue", value))
    except RecursionError as error:
        raise MessageError(place=place, problem="is nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise MessageError(place=place, problem=f"is not JSON: {error}") from error
    if is_too_deep(value, text):
        raise MessageError(place=place, problem="is nested too deeply")
    return text


def text_or_none(value: object, place: str) -> str | None:
    """`value`, which is text or null.

    Raises:
        MessageError: it is something else.
    """
    if value is None or isinstance(value, str):
        return value
    raise MessageError(place=place, problem=f"expected text, got {type(value).__name__}")


def object_of(value: object, place: str) -> Mapping[str, object]:
    """`value`, which is an object.

    Raises:
        MessageError: it is something else.
    """
    if isinstance(value, Mapping):
        return value
    raise MessageError(place=place, problem=f"expected an object, got {type(value).__name__}")


def type_of(part: object) -> str:
    """What a part says it is; empty if it does not say."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def shown(value: object) -> str:
    """`value` as a sentence may quote it: short, whatever it is."""
    if value is None or isinstance(value, (str, int, float)):
        text = repr(value)
        return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return f"a value of type {type(value).__name__}"


def is_too_deep(value: object, text: str) -> bool:
    """Whether `value`, whose JSON is `text`, is nested more than `MAX_DEPTH` deep."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []
