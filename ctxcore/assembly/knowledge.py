"""Owns how much of the caller's knowledge a context says: what there is room for, trimmed."""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.assembly.elide import elide
from ctxcore.assembly.items import Item, own_item
from ctxcore.assembly.texts import knowledge_text
from ctxcore.messages.values import text_message
from ctxcore.tokens.counter import TokenCounter

_LEAST_TOKENS = 32  # less is a marker without content


def knowledge_items(
    knowledge: Mapping[str, str], room_tokens: int, counter: TokenCounter
) -> tuple[Item, ...]:
    """The texts of `knowledge` in their order, as many and as much of each as there is room for."""
    items: list[Item] = []
    for name, text in knowledge.items():
        item = _item(name, text, counter)
        if item.tokens > room_tokens:
            left = room_tokens - _item(name, "", counter).tokens - 1
            if left < _LEAST_TOKENS:
                continue
            item = _item(name, elide(text, left, counter), counter)
        items.append(item)
        room_tokens -= item.tokens
    return tuple(items)


def _item(name: str, text: str, counter: TokenCounter) -> Item:
    return own_item("knowledge", text_message("user", knowledge_text(name, text)), counter)
