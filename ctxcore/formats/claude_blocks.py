"""Reads messages of blocks that are like Claude's, but for some of their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.claude_messages import answer_in, user_in
from ctxcore.formats.fields import text_at
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.messages.shapes.anthropic import tool_message
from ctxcore.messages.values import Message

_KNOWN: Final = (
    *("text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"),
)
_NAMES: Final[Mapping[str, str]] = {"tool_call": "tool_use", "reasoning": "thinking"}


def read_blocks(
    builder: TranscriptBuilder, raw: Mapping[str, JsonValue]
) -> list[tuple[Message, str | None]]:
    """The messages of one in Claude's form, each result with the name of its tool.

    Blocks of unknown kinds and messages that say nothing are counted as left out.

    Raises:
        MessageError: a block is not what the format allows.
    """
    content = raw.get("content")
    found: list[JsonValue] = []
    for block in content if isinstance(content, list) else [content]:
        named = _named(block)
        if named is None:
            builder.ignore(type_of(block) or "block")
        else:
            found.append(named)
    messages: list[tuple[Message, str | None]] = [
        (tool_message(block), text_at(block, "name"))
        for block in found
        if isinstance(block, dict) and type_of(block) == "tool_result"
    ]
    said = answer_in([found]) if raw.get("role") == "assistant" else user_in(found)
    messages += [(said, None)] if said else []
    if not messages:
        builder.ignore(f"blank {text_at(raw, 'role') or 'message'}")
    return messages


def _named(block: JsonValue) -> JsonObject | None:
    """A block under the name that Claude has for it; of an unknown one its text."""
    if not isinstance(block, dict):
        return {"type": "text", "text": block} if isinstance(block, str) else None
    kind = type_of(block).replace("-", "_")
    kind = _NAMES.get(kind, kind)
    text = text_at(block, "text")
    if kind == "thinking" and "thinking" not in block:
        return {**block, "type": kind, "thinking": text}
    if kind in _KNOWN:
        return {**block, "type": kind}
    return {"type": "text", "text": text} if text else None
