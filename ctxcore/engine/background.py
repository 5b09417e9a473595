"""Background work of an engine: jobs of sessions, and recounts after a change of model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ctxcore.assembly.history import HistoryView
from ctxcore.errors import ContextError
from ctxcore.store.errors import CountsMissingError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.families import TokenCounter

logger = logging.getLogger(__name__)

IMMEDIATE_MESSAGES = 200  # counted in about 20 ms; a longer session would delay its turn


class Jobs:
    """Runs jobs of sessions in one background thread, in the order of submission."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._pending: dict[Future[None], str] = {}
        self._lock = threading.Lock()

    def submit(self, session_id: str, work: Callable[[], None]) -> None:
        """Queues `work`; its exceptions are logged."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcore-jobs")
            future = self._pool.submit(_run, work)
            self._pending[future] = session_id
        future.add_done_callback(self._forget)

    def is_busy(self, session_id: str) -> bool:
        """Whether a job of the session is pending."""
        with self._lock:
            return session_id in self._pending.values()

    def wait(self, session_id: str | None = None, timeout_seconds: float | None = None) -> bool:
        """Waits for the jobs of a session, or for all; False if time ran out."""
        with self._lock:
            chosen = [job for job, owner in self._pending.items() if session_id in (None, owner)]
        return not wait(chosen, timeout=timeout_seconds).not_done

    def _forget(self, future: Future[None]) -> None:
        with self._lock:
            self._pending.pop(future, None)


def _run(work: Callable[[], None]) -> None:
    try:
        work()
    except ContextError as error:
        logger.warning("a background job failed error=%s", error)
    except Exception:
        logger.exception("a background job failed")


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
