"""Owns what becomes of items once they are joined: the dictionaries that are sent, and counts."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.assembly.items import Item, Merged
from ctxcore.messages.canonical import printable, printable_json
from ctxcore.messages.openai import to_openai
from ctxcore.messages.values import JsonObject, Message, Text


def to_dictionary(group: Merged) -> JsonObject:
    """The message that a group of joined items is sent as."""
    content, calls = group.message.content, group.message.calls
    if len(content) == 1 and not calls and isinstance(content[0], Text) and not content[0].extra:
        plain = to_openai(group.message)  # nearly every message: only its words can need care
        plain["content"] = printable(content[0].text)
        return plain
    message = to_openai(group.message, with_reasoning=group.has_reasoning)
    return {key: printable_json(value) for key, value in message.items()}


def count_prefix(merged: Sequence[Merged], prefix_items: int) -> int:
    """How many whole messages the first `prefix_items` own items make."""
    seen = 0
    for at, group in enumerate(merged):
        seen += sum(item.is_laid_out for item in group.items)
        if seen > prefix_items:
            return at
    return len(merged)


def said_before(items: Sequence[Item], current: int | None) -> tuple[Message, ...]:
    """What people and the model said in `items`, the current message left out."""
    return tuple(
        item.message
        for item in items
        if item.row is not None
        and item.seq != current
        and item.message.role in ("user", "assistant")
    )
