"""A context as it is sent in a shape: what of it is the caller's own, and what was put in."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.assembly.items import Item, Merged
from ctxcore.messages.shapes.registry import codec_of
from ctxcore.messages.shapes.values import Passed, Sent, SentGroup, Shape
from ctxcore.messages.values import JsonObject


def in_shape(made_of: Sequence[Merged], passed: Passed | None, shape: Shape) -> list[JsonObject]:
    """What `made_of` is sent as in `shape`; `passed` is what it was read from, where known."""
    own = passed.seen_as(shape) if passed is not None else None
    groups = [
        SentGroup(
            message=group.message,
            sent=tuple(_sent(item, own) for item in group.items),
            has_reasoning=group.has_reasoning,
        )
        for group in made_of
    ]
    return codec_of(shape).back(groups, own)


def _sent(item: Item, passed: Passed | None) -> Sent:
    """An item, which is untouched if it says what the message says that was read."""
    if passed is None or item.row is None:
        return Sent(message=item.message)
    source = item.seq - 1
    is_untouched = item.message == passed.messages[source]
    return Sent(message=item.message, source=source, is_untouched=is_untouched)
