"""Owns telling what happened: each event is stored, logged in one line and told to subscribers.

Ids and numbers are logged, never people's words. A subscriber that fails disturbs nobody.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from ctxcore.messages.values import JsonObject
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Event

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
