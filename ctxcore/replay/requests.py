"""Compares consecutive requests: what a prompt cache can reuse, and why a prefix was lost.

A provider reuses the longest prefix that is the same, byte for byte, as that of an earlier request:
tool definitions first, then the messages in order. Here prefixes are whole messages.
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
    """Size of priming and tool definitions, which come first."""
    active: Compaction | None = None
    policy: Policy = field(default_factory=Policy)
    model: str | None = None
    tools: str = ""
    """The tool definitions as canonical JSON."""
    excluded: frozenset[int] = frozenset()
    """Messages that a mark excludes, by sequence number."""

    @property
    def tokens(self) -> int:
        """The size of the whole request."""
        return self.framing_tokens + sum(total(group.items) for group in self.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """How much of a request was sent before; the three add up to its tokens."""

    reused_tokens: int
    """The prefix shared with the request before."""
    resent_tokens: int
    """Messages that an earlier request held too, but outside of the shared prefix."""
    new_tokens: int


NOTHING_SENT = Reuse(reused_tokens=0, resent_tokens=0, new_tokens=0)


class Reuses:
    """Follows requests in order and measures what each shares with those before."""

    def __init__(self) -> None:
        self._sent: set[tuple[Message, bool]] = set()
        self._before: Request | None = None
        self._sums = [0]
        """Cumulated sizes of the messages of the last request."""

    def add(self, request: Request) -> tuple[Reuse, int]:
        """Returns the reuse of the next request, and how many messages its shared prefix has."""
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


def same_framing(before: Request, after: Request) -> bool:
    """Whether two requests can share a prefix at all: the same model and the same tools."""
    return (before.model, before.tools) == (after.model, after.tools)


def shared_messages(before: Request, after: Request) -> int:
    """Returns how many messages `before` and `after` both begin with."""
    if not same_framing(before, after):
        return 0
    old, new = list(before.shown), list(after.shown)
    if old == new[: len(old)]:  # nearly always, and fast: the messages are identical objects
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (was, now) in pairs if not _is_same(was, now)), min(len(old), len(new)))


def _is_same(was: Merged, now: Merged) -> bool:
    if was.message == now.message and was.has_reasoning == now.has_reasoning:
        return True
    return to_dictionary(was) == to_dictionary(now)


HARMLESS: Final[tuple[BreakCode | None, ...]] = (
    *(None, BreakCode.FIRST_CALL, BreakCode.JOINED, BreakCode.RECALL_ENDED),
)
"""Causes that are no break: there is no request before, or only the last message was resent."""


def break_cause(before: Request | None, after: Request, shared: int) -> BreakCode | None:
    """Returns why `after` shares only `shared` messages with `before`; None where nothing broke."""
    if before is None:
        return BreakCode.FIRST_CALL
    if shared >= len(before.shown) and same_framing(before, after):
        return None
    return _cause_around(before, after) or _cause_in_message(before, after, shared)


def _cause_around(before: Request, after: Request) -> BreakCode | None:
    """Returns the cause that lies in what surrounds the messages."""
    if before.model != after.model:
        return BreakCode.MODEL
    if before.tools != after.tools:
        return BreakCode.TOOLS
    if before.active != after.active:
        was, now = before.active or NOTHING_COVERED, after.active or NOTHING_COVERED
        is_undone = now.covered_until < was.covered_until
        return BreakCode.UNDO if is_undone else BreakCode.COMPACTION
    if before.policy != after.policy:
        return BreakCode.POLICY
    return BreakCode.EXCLUSION if before.excluded != after.excluded else None


def _cause_in_message(before: Request, after: Request, at: int) -> BreakCode:
    """Returns the cause that shows in the first message which differs, at index `at`."""
    old = before.shown[at]
    new = after.shown[at] if at < len(after.shown) else None
    segments = {item.segment for item in (*old.items, *(new.items if new else ()))}
    if "system" in segments:
        return BreakCode.SYSTEM
    if new and old.message == new.message and old.has_reasoning != new.has_reasoning:
        return BreakCode.THINKING
    if "knowledge" in segments:
        return BreakCode.KNOWLEDGE
    (was, apart), (now, _) = _recent(before.shown), _recent(after.shown)
    if was != {seq for seq in now if seq <= max(was, default=0)}:
        return BreakCode.WINDOW_MOVED
    if "recalled" in segments:
        is_last = at == len(before.shown) - 1
        return BreakCode.RECALL_ENDED if is_last else BreakCode.RECALLED
    if apart is not None and any(item is apart for item in old.items):
        return BreakCode.REQUEST_MOVED
    if new and _seqs(new)[: len(old.items)] == _seqs(old) and len(new.items) > len(old.items):
        return BreakCode.JOINED
    if new and _seqs(old) == _seqs(new):
        return BreakCode.OUTPUT_SHORTENED
    return BreakCode.PINS if "pinned" in segments else BreakCode.OTHER


def _seqs(group: Merged) -> list[int]:
    return [item.seq for item in group.items]


def _recent(shown: Sequence[Merged]) -> tuple[set[int], Item | None]:
    """Returns the messages of the recent part, and apart from them the last user message where it
    is shown before them, out of order.
    """
    items = (item for group in shown for item in group.items)
    recent = [item for item in items if item.segment == "recent" and item.row]
    is_apart = bool(recent) and recent[0].reason.code == VerdictCode.LAST_REQUEST
    return {item.seq for item in recent[is_apart:]}, recent[0] if is_apart else None
