"""Owns a request as it would have been sent, and how much of it a prompt cache can reuse.

A provider reuses the longest beginning that is the same, byte for byte, as that of a request
before: tool definitions first, then the messages in order. Here it is told in whole messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctxcore.assembly.items import Merged, total
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rendering import to_dictionary
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy


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
