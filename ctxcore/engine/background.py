"""Background work of an engine: a queue of threads, and recounts after a change of model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ctxcore.assembly.history import HistoryView
from ctxcore.errors import ContextError, without_message
from ctxcore.store.errors import CountsMissingError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.families import TokenCounter

logger = logging.getLogger(__name__)

IMMEDIATE_MESSAGES = 200  # counted in about 20 ms; a longer session would delay its turn


class WorkQueue:
    """Runs work in background threads, in the order of submission; one thread by default.

    Each piece of work has an owner, e.g. a session; several pieces may have the same.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._pending: dict[Future[None], str] = {}
        self._lock = threading.Lock()

    def submit(self, owner: str, work: Callable[[], None]) -> None:
        """Queues `work`; its exceptions are logged.

        Raises:
            RuntimeError: the interpreter is shutting down.
        """
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(
                    max_workers=self._threads, thread_name_prefix="ctxcore-work"
                )
            future = self._pool.submit(_run, work)
            self._pending[future] = owner
        future.add_done_callback(self._forget)

    def is_busy(self, owner: str) -> bool:
        """Whether work of the owner is pending."""
        with self._lock:
            return owner in self._pending.values()

    def wait(self, owner: str | None = None, timeout_seconds: float | None = None) -> bool:
        """Waits for the pending work of an owner, or of all; False if time ran out."""
        with self._lock:
            chosen = [one for one, of in self._pending.items() if owner in (None, of)]
        return not wait(chosen, timeout=timeout_seconds).not_done

    def _forget(self, future: Future[None]) -> None:
        with self._lock:
            self._pending.pop(future, None)


def _run(work: Callable[[], None]) -> None:
    try:
        work()
    except ContextError as error:
        logger.warning("background work failed error=%s", error.code)
    except Exception as error:
        logger.exception("background work failed", exc_info=without_message(error))


class Recounts:
    """Recounts sessions, each in a thread of its own, once per session and counter at a time."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._threads: dict[tuple[str, str], threading.Thread] = {}
        self._lock = threading.Lock()

    def view(self, session: SessionInfo, counter: TokenCounter) -> tuple[HistoryView, bool]:
        """The history by `counter`, and whether its sizes are estimates until a recount is done."""
        try:
            return self._store.view(session.id, counter.id), False
        except CountsMissingError:
            if session.length > IMMEDIATE_MESSAGES:
                self._start(session.id, counter)
                return self._store.estimated_view(session.id, counter), True
        self._store.recount(session.id, counter)
        return self._store.view(session.id, counter.id), False

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
        except ContextError as error:  # the next call starts it again
            logger.warning("recount failed session=%s error=%s", session_id, type(error).__name__)
        finally:
            with self._lock:
                del self._threads[session_id, counter.id]
