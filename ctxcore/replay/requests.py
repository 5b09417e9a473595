"""Owns a request as it would have been sent, and how much of it a prompt cache can reuse.

A provider reuses the longest beginning that is the same, byte for byte, as that of a request
before: tool definitions first, then the messages in order. Here it is told in whole messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ctxcore.assembly.building import NOTHING_COVERED
from ctxcore.assembly.items import Item, Merged, to_dictionary, total
from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode, VerdictCode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """One request to a model: its messages and what they depend on."""

    shown: Sequence[Merged]
    framing_tokens: int = 0
    """Priming and tool definitions: they come first."""
    active: Compaction | None = None
    policy: Policy = field(default_factory=Policy)
    model: str | None = None
    tools: str = ""
    """The tool definitions as canonical JSON."""
    excluded: frozenset[int] = frozenset()
    """Messages that a mark keeps out, by their numbers."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.framing_tokens + sum(total(group.items) for group in self.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """What of a request was sent before; the three add up to its tokens."""

    reused_tokens: int
    """The same beginning as that of the request before."""
    resent_tokens: int
    """Messages that an earlier request held too, elsewhere or behind something that changed."""
    new_tokens: int


NOTHING_SENT = Reuse(reused_tokens=0, resent_tokens=0, new_tokens=0)


class Reuses:
    """Follows requests in order and tells what each shares with those before."""

    def __init__(self) -> None:
        self._sent: set[tuple[Message, bool]] = set()
        self._before: Request | None = None
        self._sums = [0]
        """What the messages of the last request take up to each place."""

    def add(self, request: Request) -> tuple[Reuse, int]:
        """The reuse of the next request, and how many messages it begins with as the last did."""
        before, self._before = self._before, request
        first = 0 if before is None else shared_messages(before, request)
        is_framed = before is not None and same_framing(before, request)
        resent = new = 0
        del self._sums[first + 1 :]
        for group in request.shown[first:]:
            tokens, key = total(group.items), (group.message, group.has_reasoning)
            resent += tokens if key in self._sent else 0
            new += 0 if key in self._sent else tokens
            self._sent.add(key)
            self._sums.append(self._sums[-1] + tokens)
        framing = request.framing_tokens
        reuse = Reuse(
            reused_tokens=self._sums[first] + (framing if is_framed else 0),
            resent_tokens=resent,
            new_tokens=new + (0 if is_framed else framing),
        )
        return reuse, first


def same_framing(one: Request, other: Request) -> bool:
    """Whether two requests can share a beginning at all: one model, the same tools."""
    return (one.model, one.tools) == (other.model, other.tools)


def shared_messages(before: Request, after: Request) -> int:
    """How many messages `after` begins with that `before` began with too."""
    if not same_framing(before, after):
        return 0
    old, new = list(before.shown), list(after.shown)
    if old == new[: len(old)]:  # nearly always, and told by identity
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next(
        (at for at, (one, other) in pairs if not _is_same(one, other)), min(len(old), len(new))
    )


def _is_same(one: Merged, other: Merged) -> bool:
    if one is other:
        return True
    if one.message == other.message and one.has_reasoning == other.has_reasoning:
        return True
    return to_dictionary(one) == to_dictionary(other)


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
