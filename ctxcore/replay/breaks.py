"""Owns why a request does not begin with all of the request before: the cause of a break.

The first message that differs tells it. What only comes behind the request before is no break, nor
is what joins its last message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxcore.assembly.building import NOTHING_COVERED
from ctxcore.assembly.items import Item, Merged
from ctxcore.reasons.codes import BreakCode, VerdictCode
from ctxcore.replay.requests import Request

HARMLESS: Final[tuple[BreakCode | None, ...]] = (None, BreakCode.FIRST_CALL, BreakCode.JOINED)
"""What is no break: there is nothing before, or only the last message is sent again."""


def break_cause(before: Request | None, after: Request, shared: int) -> BreakCode | None:
    """Why `after` shares only `shared` messages with `before`; None where nothing broke."""
    if before is None:
        return BreakCode.FIRST_CALL
    if shared >= len(before.shown) and before.model == after.model and before.tools == after.tools:
        return None
    return _of_call(before, after) or _of_message(before, after, shared)


def _of_call(before: Request, after: Request) -> BreakCode | None:
    """The cause that lies in what surrounds the messages."""
    if before.model != after.model:
        return BreakCode.MODEL
    if before.tools != after.tools:
        return BreakCode.TOOLS
    if before.active != after.active:
        return BreakCode.UNDO if _covered(after) < _covered(before) else BreakCode.COMPACTION
    if before.policy != after.policy:
        return BreakCode.POLICY
    return BreakCode.EXCLUSION if before.excluded != after.excluded else None


def _of_message(before: Request, after: Request, at: int) -> BreakCode:
    """The cause that the first message which differs tells."""
    old = before.shown[at]
    new = after.shown[at] if at < len(after.shown) else None
    segments = _segments(old) | (_segments(new) if new else set())
    if "system" in segments:
        return BreakCode.SYSTEM
    if new and old.message == new.message and old.has_reasoning != new.has_reasoning:
        return BreakCode.THINKING
    if "knowledge" in segments:
        return BreakCode.KNOWLEDGE
    was = _recent_seqs(before.shown)
    if was != {seq for seq in _recent_seqs(after.shown) if seq <= max(was, default=0)}:
        return BreakCode.WINDOW_MOVED
    apart = _request_apart(before.shown)
    if apart is not None and any(item is apart for item in old.items):
        return BreakCode.REQUEST_MOVED
    if new and _seqs(new)[: len(old.items)] == _seqs(old) and len(new.items) > len(old.items):
        return BreakCode.JOINED
    if new and _seqs(old) == _seqs(new):
        return BreakCode.OUTPUT_SHORTENED
    return BreakCode.PINS if "pinned" in segments else BreakCode.OTHER


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
    return first if first and first.reason.code == VerdictCode.LAST_REQUEST else None


def _recent_seqs(shown: Sequence[Merged]) -> set[int]:
    """The messages of the recent part, the request apart left out."""
    apart = _request_apart(shown)
    return {item.seq for item in _recent(shown) if item is not apart}
