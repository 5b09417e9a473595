"""Divides a history into blocks, the smallest units that may be kept or folded.

A block is one message, or an assistant message with its tool calls and the tool messages that
directly follow it. A call is answered only by a tool message of its own block, so ids may be used
again later; results without an id are paired by position.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    _calls: Mapping[str, ToolCall] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        calls = self.head.calls if self.head is not None else ()
        object.__setattr__(self, "_calls", calls_by_id(calls) if calls else _NO_CALLS)

    def next(self, message: Message, seq: int) -> BlockTracker:
        """The tracker after `message`; its `head_seq` is the block that `message` belongs to."""
        if message.is_tool_result and self.head is not None and self.head.calls:
            return self
        return BlockTracker(message, seq, message if message.role == "user" else self.request)

    def function_name(self, message: Message) -> str:
        """The function whose output `message` is; empty if it answers no call of this block."""
        call = self.call(message)
        return message.name or (call.name if call else "")

    def query(self, message: Message) -> str:
        """The user's request and the call that led to the tool output `message`, as text."""
        request = self.request.text[-_REQUEST_CHARS:] if self.request else ""
        found = self.call(message)
        call = f"{found.name} {found.arguments[:_REQUEST_CHARS]}" if found else ""
        return "\n".join(filter(None, (request, call)))

    def call(self, message: Message) -> ToolCall | None:
        """The first call of this block that the tool output `message` answers, if any does."""
        return self._calls.get(message.answers) if message.answers is not None else None


_NO_CALLS: Final[Mapping[str, ToolCall]] = {}


def calls_by_id(calls: Sequence[ToolCall]) -> dict[str, ToolCall]:
    """The first of `calls` with each id."""
    return {call.id: call for call in reversed(calls)}


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
    free: defaultdict[str, deque[int]] = defaultdict(deque)
    for place, call in enumerate(calls):
        free[call.id].append(place)
    for at, result in enumerate(results):
        if not result.answers:
            without_id.append(at)
        elif same := free.get(result.answers):
            answered_by[same.popleft()] = at
        else:
            orphans.append(at)
    left = [place for place, answer in enumerate(answered_by) if answer is None]
    for place, at in zip(left, without_id, strict=False):
        answered_by[place] = at
    return answered_by, sorted([*orphans, *without_id[len(left) :]])
