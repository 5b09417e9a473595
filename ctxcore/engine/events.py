"""Owns what a turn tells while it runs: frozen events, in the order in which things happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ctxcore.assembly.context import Context
from ctxcore.compaction.triggers import Trigger
from ctxcore.gateway.values import ModelUsage, ReasoningDelta, TextDelta, Waiting
from ctxcore.messages.values import ToolCall
from ctxcore.reasons.values import Reason
from ctxcore.store.values import CompactionInfo, TurnState

__all__ = [
    "CompactionFinished",
    "CompactionRejected",
    "CompactionStarted",
    "ConfirmationNeeded",
    "ContextBuilt",
    "ReasoningDelta",
    "SessionStarted",
    "TextDelta",
    "ToolCallRequested",
    "ToolResultAdded",
    "TurnEnded",
    "TurnEvent",
    "UsageReported",
    "Waiting",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContextBuilt:
    """The context that the next call is sent."""

    context: Context
    call_number: int
    """The call within its turn, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted:
    """A rule asked for a compaction."""

    trigger: Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFinished:
    """A compaction was recorded."""

    info: CompactionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRejected:
    """A compaction was tried and changed nothing."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationNeeded:
    """A person must decide about a compaction before the turn goes on."""

    plan_id: str
    """What `engine.answer()` is told."""
    before_tokens: int
    expected_tokens: int
    max_tokens: int
    messages: int
    """How many messages would be folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """The turn goes on in a session of its own, as somebody wished."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRequested:
    """The model wants a tool run."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultAdded:
    """A tool's output was stored."""

    call_id: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported:
    """What the provider counted for one call; a number it did not report is None."""

    usage: ModelUsage
    cost: float | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The last event of a turn."""

    turn_id: str
    state: TurnState
    text: str
    error: Reason | None = None
    """What went wrong and what to do."""


TurnEvent: TypeAlias = (
    ContextBuilt
    | CompactionStarted
    | CompactionFinished
    | CompactionRejected
    | ConfirmationNeeded
    | SessionStarted
    | TextDelta
    | ReasoningDelta
    | ToolCallRequested
    | ToolResultAdded
    | UsageReported
    | Waiting
    | TurnEnded
)
