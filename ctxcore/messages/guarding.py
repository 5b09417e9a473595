"""Reading one untrusted value: as JSON text, as words, as an object; an error names its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place

MAX_DEPTH: Final = 200  # walking deeper would end at Python's own limit, 1,000 calls


def canonical_at(value: object, place: Place, *path: str | int) -> str:
    """`value`, which stands at `path` below `place`, as canonical JSON.

    Raises:
        MessageError: it is not JSON, or nested more than `MAX_DEPTH` deep.
    """
    try:
        text = to_canonical(cast("JsonValue", value))
    except RecursionError as error:
        raise MessageError(place=place.within(*path), problem=MessageProblem.DEEP()) from error
    except (TypeError, ValueError) as error:
        problem = MessageProblem.NOT_JSON(reason=reason_of(error))
        raise MessageError(place=place.within(*path), problem=problem) from error
    if is_too_deep(value, text):
        raise MessageError(place=place.within(*path), problem=MessageProblem.DEEP())
    return text


def text_or_none(value: object, place: Place, *path: str | int) -> str | None:
    """`value`, which stands at `path` below `place` and is text or null.

    Raises:
        MessageError: it is something else.
    """
    if value is None or isinstance(value, str):
        return value
    problem = MessageProblem.TEXT(kind=type(value).__name__)
    raise MessageError(place=place.within(*path), problem=problem)


def object_of(value: object, place: Place, *path: str | int) -> Mapping[str, object]:
    """`value`, which stands at `path` below `place` and is an object.

    Raises:
        MessageError: it is something else.
    """
    if isinstance(value, Mapping):
        return value
    problem = MessageProblem.OBJECT(kind=type(value).__name__)
    raise MessageError(place=place.within(*path), problem=problem)


def type_of(part: object) -> str:
    """What a part says it is; empty if it does not say."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


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
