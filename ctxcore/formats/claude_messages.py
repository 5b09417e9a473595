"""Makes messages of content in Claude's form.

Blank texts are left out, since Anthropic's API refuses them when they are sent back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ctxcore.messages.shapes.anthropic import message_of_blocks
from ctxcore.messages.shapes.anthropic import result_blocks as result_blocks
from ctxcore.messages.values import JsonValue, Message, Reasoning, Role, Text


def answer_in(contents: Iterable[JsonValue]) -> Message | None:
    """The answer whose parts are these contents; None if there is nothing in them."""
    blocks: list[JsonValue] = []
    for content in contents:
        blocks += content if isinstance(content, list) else [content]
    return _message("assistant", blocks)


def user_in(content: JsonValue, *, is_meta: bool = False) -> Message | None:
    """The content of a user record besides tool results; None if there is none."""
    message = _message("user", content)
    parts = [part for part in message.content if not isinstance(part, Reasoning)] if message else []
    if not parts:
        return None
    extra = '{"is_meta":true}' if is_meta else None
    return Message(role="user", content=tuple(parts), extra=extra)


def _message(role: Role, content: JsonValue) -> Message | None:
    """`content` without tool results and blank texts; None if nothing is left."""
    message = message_of_blocks(role, content)
    parts = tuple(p for p in message.content if not isinstance(p, Text) or p.text.strip())
    return replace(message, content=parts) if parts or message.calls else None
