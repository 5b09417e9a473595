"""Owns why a request does not begin with all of the request before: the cause of a break.

The first message that differs tells it. What only comes behind the request before is no break, nor
is what joins its last message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from ctxcore.assembly.building import NOTHING_COVERED
from ctxcore.assembly.items import Item
from ctxcore.assembly.repairs import Merged
from ctxcore.replay.requests import Request

Cause = Literal[
    "first_call",
    "model",
    "tools",
    "undo",
    "compaction",
    "policy",
    "exclusion",
    "system",
    "thinking",
    "request_moved",
    "window_moved",
    "joined",
    "output_shortened",
    "knowledge",
    "pins",
    "other",
]

CAUSES: Final[tuple[Cause, ...]] = get_args(Cause)

HARMLESS: Final[tuple[Cause | None, ...]] = (None, "first_call", "joined")
"""What is no break: there is nothing before, or only the last message is sent again."""

CAUSE_WORDS: Final[dict[Cause, str]] = {
    "first_call": "the first call",
    "model": "another model",
    "tools": "other tool definitions",
    "undo": "a compaction was undone",
    "compaction": "a compaction",
    "policy": "another policy",
    "exclusion": "a message was excluded or let in again",
    "system": "the system prompt changed",
    "thinking": "the thinking of an answered turn is left out",
    "request_moved": "the last user message, shown apart, gave way to the next",
    "window_moved": "the recent part moved",
    "joined": "the last message was joined by another of its role",
    "output_shortened": "a message was shortened",
    "knowledge": "other knowledge",
    "pins": "other pins",
    "other": "something else",
}


def break_cause(before: Request | None, after: Request, shared: int) -> Cause | None:
    """Why `after` shares only `shared` messages with `before`; None where nothing broke."""
    if before is None:
        return "first_call"
    if shared >= len(before.shown) and before.model == after.model and before.tools == after.tools:
        return None
    return _of_call(before, after) or _of_message(before, after, shared)


def _of_call(before: Request, after: Request) -> Cause | None:
    """The cause that lies in what surrounds the messages."""
    if before.model != after.model:
        return "model"
    if before.tools != after.tools:
        return "tools"
    if before.active != after.active:
        return "undo" if _covered(after) < _covered(before) else "compaction"
    if before.policy != after.policy:
        return "policy"
    return "exclusion" if before.excluded != after.excluded else None


def _of_message(before: Request, after: Request, at: int) -> Cause:
    """The cause that the first message which differs tells."""
    old = before.shown[at]
    new = after.shown[at] if at < len(after.shown) else None
    segments = _segments(old) | (_segments(new) if new else set())
    if "system" in segments:
        return "system"
    if new and old.message == new.message and old.has_reasoning != new.has_reasoning:
        return "thinking"
    if "knowledge" in segments:
        return "knowledge"
    was = _recent_seqs(before.shown)
    if was != {seq for seq in _recent_seqs(after.shown) if seq <= max(was, default=0)}:
        return "window_moved"
    apart = _request_apart(before.shown)
    if apart is not None and any(item is apart for item in old.items):
        return "request_moved"
    if new and _seqs(new)[: len(old.items)] == _seqs(old) and len(new.items) > len(old.items):
        return "joined"
    if new and _seqs(old) == _seqs(new):
        return "output_shortened"
    return "pins" if "pinned" in segments else "other"


def _covered(request: Request) -> int:
    return (request.active or NOTHING_COVERED).covered_until


def _segments(group: Merged) -> set[str]:
    return {item.segment for item in group.items}


def _seqs(group: Merged) -> list[int]:
    return [item.seq for item in group.items]


def _recent(shown: Sequence[Merged]) -> list[Item]:
    return [
        item for group in shown for item in group.items if item.segment == "recent" and item.row
    ]


def _request_apart(shown: Sequence[Merged]) -> Item | None:
    """The last user message where it is shown before the recent part, out of order."""
    recent = _recent(shown)
    first = recent[0] if recent else None
    return first if first and first.reason == "last user message" else None


def _recent_seqs(shown: Sequence[Merged]) -> set[int]:
    """The messages of the recent part, the request apart left out."""
    apart = _request_apart(shown)
    return {item.seq for item in _recent(shown) if item is not apart}
