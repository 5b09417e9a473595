"""Reads tool definitions as files hold them: a list, or its JSON text, in any provider's form."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.shapes.anthropic import openai_tool

_GEMINI_LISTS = ("functionDeclarations", "function_declarations")


def raw_tools(*values: JsonValue) -> tuple[str, ...]:
    """The definitions in `values` in OpenAI's form; what is no definition is left out."""
    found = (tool for value in values for tool in _definitions(value))
    return tuple(to_ordered(openai_tool(tool)) for tool in found)


def parsed(text: str) -> JsonValue:
    """The JSON value of a text; None if it is none."""
    try:
        return json.loads(text)  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        return None


def _definitions(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, list):
        for inner in value:
            yield from _definitions(inner)
    elif isinstance(value, dict):
        inside = [value[key] for key in _GEMINI_LISTS if key in value]
        if inside:
            yield from _definitions(inside)
        elif value:
            yield value
