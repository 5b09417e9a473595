"""Divides a history into blocks, the smallest units that may be kept or folded.

A block is one message, or an assistant message with its tool calls and the tool messages that
directly follow it. A call is answered only by a tool message of its own block, so ids may be used
again later; results without an id are paired by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.messages.values import Message, ToolCall

_REQUEST_CHARS: Final = 1_000  # chosen: a longer request or call mentions too much to be a query


@dataclass(frozen=True, slots=True)
class BlockTracker:
    """Finds the block of each message in turn; holds the first message of the current block.

    `request` is the last user message so far, the one that calls are made for.
    """

    head: Message | None = None
    head_seq: int = 0
    request: Message | None = None

    def next(self, message: Message, seq: int) -> BlockTracker:
        """The tracker after `message`; its `head_seq` is the block that `message` belongs to."""
        if message.is_tool_result and self.head is not None and self.head.calls:
            return self
        return BlockTracker(message, seq, message if message.role == "user" else self.request)

    def function_name(self, message: Message) -> str:
        """The function whose output `message` is; empty if it answers no call of this block."""
        call = self._call(message)
        return message.name or (call.name if call else "")

    def query(self, message: Message) -> str:
        """The user's request and the call that led to the tool output `message`, as text."""
        request = self.request.text[-_REQUEST_CHARS:] if self.request else ""
        found = self._call(message)
        call = f"{found.name} {found.arguments[:_REQUEST_CHARS]}" if found else ""
        return "\n".join(filter(None, (request, call)))

    def _call(self, message: Message) -> ToolCall | None:
        return call_of(message, self.head.calls if self.head else ())


def call_of(message: Message, calls: Iterable[ToolCall]) -> ToolCall | None:
    """The first of `calls` that the tool output `message` answers, if any does."""
    return next((call for call in calls if call.id == message.answers), None)


def block_starts(messages: Iterable[Message]) -> list[int]:
    """For each message the index of its block's first message; never decreasing."""
    tracker, starts = BlockTracker(), []
    for at, message in enumerate(messages):
        tracker = tracker.next(message, at)
        starts.append(tracker.head_seq)
    return starts


def cut_points(messages: Sequence[Message]) -> list[int]:
    """Every index where a history may be split without parting a call from its results."""
    return [*sorted(set(block_starts(messages))), len(messages)]


def pair_results(
    calls: Sequence[ToolCall], results: Sequence[Message]
) -> tuple[list[int | None], list[int]]:
    """For each call the index of the result that answers it, and the indexes left without a call.

    By id first, the first free call of that id; then results that carry no id, by position.
    """
    answered_by: list[int | None] = [None] * len(calls)
    without_id, orphans = [], []
    for at, result in enumerate(results):
        if not result.answers:
            without_id.append(at)
            continue
        same = (place for place, call in enumerate(calls) if call.id == result.answers)
        place = next((place for place in same if answered_by[place] is None), None)
        if place is None:
            orphans.append(at)
        else:
            answered_by[place] = at
    for at in without_id:
        if None in answered_by:
            answered_by[answered_by.index(None)] = at
        else:
            orphans.append(at)
    return answered_by, sorted(orphans)
