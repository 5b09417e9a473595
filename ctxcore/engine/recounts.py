"""Owns counting long sessions anew after a change of model, beside the turns that go on meanwhile.

Until a recount is through, sizes are those of the counter before, scaled; nobody waits for it.
"""

from __future__ import annotations

import logging
import threading

from ctxcore.assembly.history import HistoryView
from ctxcore.errors import ContextError
from ctxcore.store.errors import CountsMissingError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.counter import TokenCounter

logger = logging.getLogger(__name__)

AT_ONCE_MESSAGES = 200  # counted in some 20 ms; a longer session would hold its turn up


class Recounts:
    """The recounts of one engine, each in a thread of its own, one for a session and counter."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._threads: dict[tuple[str, str], threading.Thread] = {}
        self._lock = threading.Lock()

    def view(self, session: SessionInfo, counter: TokenCounter) -> tuple[HistoryView, bool]:
        """The history by `counter`, and whether its sizes are estimates that a recount replaces."""
        try:
            return self._store.view(session.id, counter.id), False
        except CountsMissingError:
            pass
        if session.length <= AT_ONCE_MESSAGES:
            self._store.recount(session.id, counter)
            return self._store.view(session.id, counter.id), False
        self._start(session.id, counter)
        return self._store.estimated_view(session.id, counter), True

    def wait(self) -> None:
        """Returns when no recount is running."""
        for thread in list(self._threads.values()):
            thread.join()

    def _start(self, session_id: str, counter: TokenCounter) -> None:
        key = (session_id, counter.id)
        with self._lock:
            if key in self._threads:
                return
            thread = threading.Thread(
                target=self._run, args=(session_id, counter), name="ctxcore-recount", daemon=True
            )
            self._threads[key] = thread
            thread.start()

    def _run(self, session_id: str, counter: TokenCounter) -> None:
        try:
            self._store.recount(session_id, counter)
        except ContextError as error:  # the next call finds it missing and starts it again
            logger.warning("recount failed session=%s error=%s", session_id, type(error).__name__)
        finally:
            with self._lock:
                del self._threads[session_id, counter.id]
