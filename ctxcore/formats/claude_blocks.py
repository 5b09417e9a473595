"""What a Claude Code record says: its blocks read as messages, blank words left out.

Anthropic's own API refuses a blank text when it is sent back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxcore.messages.shapes.anthropic import (
    result_blocks,
    said_message,
    tool_message,
)
from ctxcore.messages.values import JsonObject, JsonValue, Message, Part, Reasoning, Role, Text


def to_messages(message: JsonObject) -> list[Message]:
    """A message in Claude's form: the answer, or the tool results and then the user's words."""
    content = message.get("content")
    if message.get("role") == "assistant":
        said = assistant_message(content if isinstance(content, list) else [content])
        return [said] if said else []
    words = user_message(content)
    results = [tool_message(block) for block in result_blocks(content)]
    return [*results, words] if words else results


def user_message(content: JsonValue, *, is_meta: bool = False) -> Message | None:
    """What a user record says besides tool results; None if that is nothing."""
    parts = [part for part in _parts(content, "user") if not isinstance(part, Reasoning)]
    if not parts:
        return None
    extra = '{"is_meta":true}' if is_meta else None
    return Message(role="user", content=tuple(parts), extra=extra)


def assistant_message(blocks: Sequence[JsonValue]) -> Message | None:
    """The answer that `blocks` are, from however many lines; None if they say nothing."""
    said = said_message("assistant", list(blocks))
    content = tuple(_parts(list(blocks), "assistant"))
    return replace(said, content=content) if content or said.calls else None


def content_text(content: JsonValue) -> str:
    """The words in `content`, media as labels."""
    message = user_message(content)
    return message.text if message else ""


def _parts(content: JsonValue, role: Role) -> list[Part]:
    said = said_message(role, content).content
    return [part for part in said if not (isinstance(part, Text) and not part.text.strip())]
