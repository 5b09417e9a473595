"""Owns work that no turn waits for: one thread, one job after another, joined at the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ctxcore.errors import ContextError

logger = logging.getLogger(__name__)


class Jobs:
    """Runs jobs of sessions in the background, in the order in which they came."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._pending: dict[Future[None], str] = {}
        self._lock = threading.Lock()

    def submit(self, session_id: str, work: Callable[[], None]) -> None:
        """Runs `work` soon; what it raises is logged."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcore-jobs")
            future = self._pool.submit(_run, work)
            self._pending[future] = session_id
        future.add_done_callback(self._forget)

    def is_busy(self, session_id: str) -> bool:
        """Whether a job of the session is not done yet."""
        with self._lock:
            return session_id in self._pending.values()

    def wait(self, session_id: str | None = None, timeout_seconds: float | None = None) -> bool:
        """Waits for the jobs of a session, or all; False if the time was not enough."""
        with self._lock:
            chosen = [one for one, of in self._pending.items() if session_id in (None, of)]
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
