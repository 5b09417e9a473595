"""Finds words where no shape has any: beside an empty content, or under another key of a call.

What is known to be no words (ids, times, marks, thinking) may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.messages.shapes.foreign import refused_form
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place
from ctxcore.reasons.quoting import quoted_keys

SILENT_KEYS: Final = frozenset(
    {
        *("id", "object", "type", "status", "index", "model", "provider", "usage", "metadata"),
        *("timestamp", "created", "created_at", "updated_at", "date", "uuid", "parent_id"),
        *("finish_reason", "stop_reason", "cache_control", "audio", "annotations", "logprobs"),
        *("session_id", "message_id", "request_id", "user_id", "conversation_id", "is_error"),
    }
)
_THOUGHT_KEYS: Final = frozenset(
    {"reasoning", "reasoning_details", "thought", "thinking", "provider_specific_fields"}
)
_WORD_KEYS: Final = frozenset(
    {
        *("text", "message", "parts", "content", "contents", "output", "result", "response"),
        *("value", "body", "words", "answer", "completion", "input", "arguments", "args"),
    }
)


def refuse_words_elsewhere(
    raw: Mapping[str, object], expected: str, known: Collection[str], place: Place
) -> None:
    """Refuses an object that has nothing under the key `expected`, and words under another."""
    found = {
        key: value
        for key, value in raw.items()
        if key not in known and key not in SILENT_KEYS and _holds_something(value)
    }
    if raw.get(expected) is None and found:
        raise _error(found, expected, place)


def refuse_words_beside(
    raw: Mapping[str, object], key: str, known: Collection[str], place: Place
) -> None:
    """Refuses a message whose content, under `key`, is empty while words stand beside it.

    Such a message may be right, and carry marks of somebody's own: those are short.
    """
    if raw.get(key):
        return
    unknown = {other: value for other, value in raw.items() if other not in known}
    found = {other: value for other, value in unknown.items() if _says(other, value)}
    if found:
        told = refused_form(raw)
        raise MessageError(place=place, problem=told) if told else _error(found, key, place)


def has_gemini_parts(raw: Mapping[str, object]) -> bool:
    """Whether a message has parts as Gemini's are: objects that do not name their type."""
    parts = raw.get("parts")
    if not isinstance(parts, (list, tuple)):
        return False
    return any(isinstance(part, Mapping) and part and "type" not in part for part in parts)


def _says(key: str, value: object) -> bool:
    if key in SILENT_KEYS or key in _THOUGHT_KEYS:
        return False
    if key in _WORD_KEYS:
        return _holds_something(value)
    return isinstance(value, str) and len(value.split(maxsplit=1)) > 1


def _holds_something(value: object) -> bool:
    return isinstance(value, (str, list, tuple, Mapping)) and bool(value)


def _error(found: Mapping[str, object], expected: str, place: Place) -> MessageError:
    told = MessageProblem.WORDS_ELSEWHERE(key=expected, keys=quoted_keys(found))
    return MessageError(place=place, problem=told)
