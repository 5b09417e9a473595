"""The events that a turn yields, and the journal of stored events."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from ctxcore.assembly.context import Context
from ctxcore.compaction.triggers import Trigger
from ctxcore.errors import without_message
from ctxcore.gateway.values import ModelUsage, ReasoningDelta, TextDelta, Waiting
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, Event, TurnState

__all__ = [
    "CompactionFinished",
    "CompactionRejected",
    "CompactionStarted",
    "ConfirmationNeeded",
    "ContextBuilt",
    "InputCut",
    "Queued",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued(Plain):
    """The turn waits for others of its session, e.g. one that runs in another process.

    Told twice a second, so that a reader can close the iterator.
    """

    before: int
    """How many come first, with the one that runs."""
    host: str | None
    """Where it runs; None: not known."""
    pid: int | None
    """The number of its process there; None: not known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContextBuilt(Plain):
    """The context of the next call."""

    context: Context
    call_number: int
    """The call within its turn, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted(Plain):
    """A rule requested a compaction."""

    trigger: Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFinished(Plain):
    """A compaction was recorded."""

    info: CompactionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRejected(Plain):
    """A compaction was tried and changed nothing."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationNeeded(Plain):
    """A person must decide about a compaction before the turn goes on."""

    plan_id: str
    """The argument of `engine.answer()`."""
    before_tokens: int
    expected_tokens: int
    max_tokens: int
    messages: int
    """The number of messages that would be folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Plain):
    """The turn continues in a new session, as a person chose."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRequested(Plain):
    """The model requested a tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultAdded(Plain):
    """A tool's output was stored."""

    call_id: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported(Plain):
    """The tokens that the provider reported for one call; None where it did not."""

    usage: ModelUsage
    cost: float | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCut(Plain):
    """The provider counted far less than it was sent: it probably left out the beginning."""

    model: str
    sent_tokens: int
    """Our count, corrected by the count factor."""
    reported_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Plain):
    """The last event of a turn."""

    turn_id: str
    state: TurnState
    text: str
    error: Reason | None = None
    """The problem and its remedy."""


TurnEvent: TypeAlias = (
    Queued
    | ContextBuilt
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
    | InputCut
    | Waiting
    | TurnEnded
)

logger = logging.getLogger(__name__)

COMPACTED = "context_compacted"
FAILED = "compaction_failed"
SKIPPED = "compaction_skipped"
PLANNED = "compaction_planned"
REQUESTED_BY_MODEL = "compaction_asked"
CONFIRMATION = "confirmation_needed"
CONTINUED = "session_continued"
INPUT_CUT = "input_cut"
ANSWER_CUT = "answer_cut"
UNDONE = "compaction_undone"
REDONE = "compaction_redone"
SYSTEM_CHANGED = "system_changed"
TOOLS_CHANGED = "tools_changed"
ALERT = "alert"

Listener: TypeAlias = Callable[[Event], None]


class EventJournal:
    """Stores and logs events and passes them to listeners; safe to share between threads."""

    def __init__(self, store: SessionStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The time that events are stored with."""
        return self._clock()

    def record(self, kind: str, body: JsonObject, *, session_id: str) -> Event:
        """Stores an event of a session, logs its numbers and calls the listeners."""
        event = self._store.record_event(session_id, kind, body, at=self._clock())
        numbers = " ".join(
            f"{name}={value}"
            for name, value in body.items()
            if value is None or isinstance(value, (int, float))
        )
        logger.info("%s session=%s %s", kind, session_id, numbers)
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            try:
                listener(event)
            except Exception as error:
                told = without_message(error)
                logger.exception("a subscriber failed event=%s", event.kind, exc_info=told)
        return event

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` with every event from now on; the returned function ends this."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe
