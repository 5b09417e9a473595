"""What an examination of recorded conversations found, as plain values.

Places are indexes into the messages of a conversation; tokens are the provider's counts where a
file has them, else ours. Money is by list prices, in US dollars; None: no price is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from typing import Literal

from ctxcore.facts.values import Kind
from ctxcore.formats.hints import Hint
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason
from ctxcore.signals.values import SignalKind

SpendingKind = Literal["system", "user", "assistant", "tool", "file", "summary", "hidden"]
"""Who or what the tokens belong to: a role, a tool with its calls and results, a file that calls
name (its tokens are those of its tools too), summaries, or what the file does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending(Plain):
    """Tokens of one role, tool or file."""

    kind: SpendingKind
    name: str
    """The tool or file; empty for the others."""
    tokens: int
    """Each message once."""
    sent_tokens: int
    """Each message for every call that sent it."""
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostThing(Plain):
    """A fact that a compaction lost, and where it was needed again."""

    text: str
    kind: Kind
    said_at: int
    needed_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidAgain(Plain):
    """A user who repeats, asks again or complains, after the context had lost what was said."""

    at: int
    kind: SignalKind
    text: str
    earlier_at: int | None
    earlier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedFold(Plain):
    """One recorded compaction: what it lost, beside our default with as many tokens."""

    at: int
    trigger: str | None
    before_tokens: int | None
    after_tokens: int
    """The context right after it, without system prompt and tools: what ours may use too."""
    facts: int
    """Facts that held before it."""
    kept: int
    """Those that its context still says."""
    needed: int
    """Facts of what it folded that were used later."""
    gone: int
    """Those of them that its context no longer says."""
    rules: int
    """Standing instructions that held before it."""
    rules_gone: int
    ours_kept: int | None
    """None, as the next two, where what must be kept does not fit in as many tokens."""
    ours_gone: int | None
    ours_rules_gone: int | None
    lost: tuple[LostThing, ...]
    """What was lost and needed later, and lost rules; what matters most comes first."""
    repeated_calls: int
    """Calls that read again what was read before it."""
    repeated_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBreak(Plain):
    """A call that found little of the call before in the prompt cache."""

    at: int
    reason: Reason
    tokens: int
    """What was sent again at full price."""
    dollars: float | None
    """What this cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedSession(Plain):
    """One conversation."""

    path: str
    id: str
    title: str
    format: str
    model: str | None
    parent_id: str | None
    started_at: datetime | None
    ended_at: datetime | None
    messages: int
    turns: int
    calls: int
    """Calls to the model: those with usage, else its answers."""
    has_usage: bool
    window_tokens: int | None
    peak_tokens: int
    """The largest input of a call."""
    stored_tokens: int
    """All messages once, by our count."""
    sent_tokens: int
    """The input of all calls together; 0 without usage."""
    cached_tokens: int
    output_tokens: int
    dollars: float | None
    inputs: tuple[int, ...]
    """The input of each call with usage, in order; of very many the largest of neighbours."""
    spending: tuple[Spending, ...]
    folds: tuple[ExaminedFold, ...]
    breaks: tuple[CacheBreak, ...]
    said_again: tuple[SaidAgain, ...]
    hints: tuple[Hint, ...]
    problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadFile(Plain):
    """A file that holds no conversation, or could not be examined."""

    path: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AutopsyTotals(Plain):
    """Sums over all sessions."""

    sessions: int
    messages: int
    calls: int
    sent_tokens: int
    cached_tokens: int
    output_tokens: int
    dollars: float | None
    folds: int
    needed: int
    gone: int
    ours_gone: int
    """Of the folds where ours fits; `gone_beside` counts the recorded losses of the same ones."""
    gone_beside: int
    rules_gone: int
    ours_rules_gone: int
    repeated_tokens: int
    said_again: int
    breaks: int
    break_tokens: int
    break_dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Autopsy(Plain):
    """Everything that was examined; sessions in the order of their files."""

    sessions: tuple[ExaminedSession, ...]
    unread: tuple[UnreadFile, ...] = ()
    copies: int = 0
    """Conversations that another file holds as well, or more of; they are left out."""

    @property
    def totals(self) -> AutopsyTotals:
        """The sums."""
        folds = [fold for session in self.sessions for fold in session.folds]
        beside = [fold for fold in folds if fold.ours_gone is not None]
        breaks = [one for session in self.sessions for one in session.breaks]
        return AutopsyTotals(
            sessions=len(self.sessions),
            messages=sum(one.messages for one in self.sessions),
            calls=sum(one.calls for one in self.sessions),
            sent_tokens=sum(one.sent_tokens for one in self.sessions),
            cached_tokens=sum(one.cached_tokens for one in self.sessions),
            output_tokens=sum(one.output_tokens for one in self.sessions),
            dollars=sum_known(one.dollars for one in self.sessions),
            folds=len(folds),
            needed=sum(fold.needed for fold in folds),
            gone=sum(fold.gone for fold in folds),
            ours_gone=sum(fold.ours_gone or 0 for fold in beside),
            gone_beside=sum(fold.gone for fold in beside),
            rules_gone=sum(fold.rules_gone for fold in folds),
            ours_rules_gone=sum(fold.ours_rules_gone or 0 for fold in beside),
            repeated_tokens=sum(fold.repeated_tokens for fold in folds),
            said_again=sum(len(one.said_again) for one in self.sessions),
            breaks=len(breaks),
            break_tokens=sum(one.tokens for one in breaks),
            break_dollars=sum_known(one.dollars for one in breaks),
        )


def sum_known(dollars: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    known = [one for one in dollars if one is not None]
    return fsum(known) if known else None
