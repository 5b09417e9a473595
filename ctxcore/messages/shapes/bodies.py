"""Messages as each provider takes them: its own form, with the system prompt where it belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final, cast

from ctxcore.messages.shapes.reading import write_messages
from ctxcore.messages.shapes.values import Shape
from ctxcore.messages.values import JsonObject, JsonValue, Message

_LISTS: Final[Mapping[Shape, str]] = {
    "openai": "messages",
    "anthropic": "messages",
    "responses": "input",
    "gemini": "contents",
}
"""The key of the list of messages in the body of a request."""


def body_of(messages: Sequence[Message], shape: Shape) -> JsonObject:
    """The part of a request's body that holds `messages`.

    Anthropic and Gemini take the system messages at the front beside the list.

    Raises:
        ValueError: there is no such shape.
    """
    is_beside = shape in ("anthropic", "gemini")
    front = list(takewhile(lambda one: is_beside and one.is_system, messages))
    written = cast("JsonValue", write_messages(messages[len(front) :], shape))
    body: JsonObject = {_LISTS[shape]: written}
    if not front:
        return body
    if shape == "gemini":
        return {"systemInstruction": {"parts": [{"text": one.text} for one in front]}, **body}
    return {"system": [{"type": "text", "text": one.text} for one in front], **body}
