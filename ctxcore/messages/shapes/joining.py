"""Puts calls and results together that a list has in several messages of one role.

A streamed answer is kept call by call, and results come as they are ready; models answer to all of
them at once, so that parallel calls are one message and their results follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcore.messages.shapes.values import Conversation
from ctxcore.messages.values import Message


@dataclass(frozen=True, slots=True)
class Placed:
    """A message, and the places in the list that it came from."""

    message: Message
    places: tuple[int, ...]
    is_value: bool = False
    """Whether it was passed as a `Message`, and so stays what it is."""


def together(read: Sequence[Placed]) -> list[Placed]:
    """`read` with neighbouring calls joined, and results before the words said among them."""
    return _results_first(_joined(read))


def conversation_of(read: Sequence[Placed]) -> Conversation:
    """What was read, with its places."""
    return Conversation(
        messages=tuple(one.message for one in read), places=tuple(one.places for one in read)
    )


def _joined(read: Sequence[Placed]) -> list[Placed]:
    out: list[Placed] = []
    for at, one in enumerate(read):
        following = read[at + 1].message if at + 1 < len(read) else None
        if out and _continues(out[-1], one, following):
            out[-1] = _join(out[-1], one)
        else:
            out.append(one)
    return out


def _continues(last: Placed, one: Placed, following: Message | None) -> bool:
    """Whether `one` says more of the answer whose calls were in `last`."""
    if one.message.role != "assistant" or not last.message.calls or one.is_value or last.is_value:
        return False
    return bool(one.message.calls) or (following is not None and following.is_tool_result)


def _join(one: Placed, other: Placed) -> Placed:
    message = replace(
        one.message,
        content=(*one.message.content, *other.message.content),
        calls=(*one.message.calls, *other.message.calls),
    )
    return Placed(message, (*one.places, *other.places))


def _results_first(read: Sequence[Placed]) -> list[Placed]:
    """`read` with each result of open calls before the user's words that came while they ran."""
    out: list[Placed] = []
    waiting: set[str] = set()
    behind = 0  # where the last result of the open calls ends, and words behind them begin
    for one in read:
        message = one.message
        if message.is_tool_result and message.answers in waiting:
            waiting.discard(message.answers or "")
            out.insert(behind, one)
            behind += 1
            continue
        out.append(one)
        if message.role != "user":
            waiting = {call.id for call in message.calls if call.id}
            behind = len(out)
        elif behind == len(out) - 1 and not out[behind - 1].message.is_tool_result:
            waiting = set()  # words before any result: the calls were given up
    return out
