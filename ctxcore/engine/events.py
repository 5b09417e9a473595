"""Owns what a turn tells while it runs: frozen events, in the order in which things happen."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from ctxcore.assembly.context import Context
from ctxcore.compaction.triggers import Trigger
from ctxcore.gateway.values import ModelUsage, ReasoningDelta, TextDelta, Waiting
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.reasons.values import Reason
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, Event, TurnState

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

logger = logging.getLogger(__name__)

COMPACTED = "context_compacted"
FAILED = "compaction_failed"
SKIPPED = "compaction_skipped"
PLANNED = "compaction_planned"
ASKED_BY_MODEL = "compaction_asked"
CONFIRMATION = "confirmation_needed"
CONTINUED = "session_continued"
UNDONE = "compaction_undone"
REDONE = "compaction_redone"

Listener: TypeAlias = Callable[[Event], None]


class EventJournal:
    """Stores, logs and tells events; safe to share between threads."""

    def __init__(self, store: SessionStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def record(self, kind: str, body: JsonObject, *, session_id: str) -> Event:
        """Keeps that something happened in a session, and tells it."""
        event = self._store.record_event(kind, body, session_id=session_id, at=self._clock())
        numbers = {name: value for name, value in body.items() if _is_loggable(value)}
        told = " ".join(f"{name}={value}" for name, value in numbers.items())
        logger.info("%s session=%s %s", kind, session_id, told)
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            _tell(listener, event)
        return event

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tells `listener` every event from now on; the function that comes back ends it."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe


def _is_loggable(value: object) -> bool:
    return isinstance(value, (int, float)) or value is None


def _tell(listener: Listener, event: Event) -> None:
    try:
        listener(event)
    except Exception:
        logger.exception("a subscriber failed event=%s", event.kind)
