"""Deletes sessions that are due and erases what was deleted long ago, in a thread of its own."""

from __future__ import annotations

import logging
import threading

from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError

logger = logging.getLogger(__name__)

DELAY_SECONDS = 10.0  # chosen: after the first page, which it would slow
DAY_SECONDS = 24 * 60 * 60.0


class Housekeeping:
    """Runs soon after it is made, then once a day, until it is stopped."""

    def __init__(self, engine: ContextEngine, *, delay_seconds: float = DELAY_SECONDS) -> None:
        self._engine = engine
        self._stopped = threading.Event()
        self._delay_seconds = delay_seconds
        threading.Thread(target=self._run, name="dashboard-housekeeping", daemon=True).start()

    def stop(self) -> None:
        """Ends the thread; what it is doing is finished."""
        self._stopped.set()

    def _run(self) -> None:
        wait = self._delay_seconds
        while not self._stopped.wait(wait):
            keep_house(self._engine)
            wait = DAY_SECONDS


def keep_house(engine: ContextEngine) -> None:
    """Does everything that is due once; what fails is logged and tried again the next day."""
    try:
        due = engine.delete_due()
        erased = engine.purge_expired()
        engine.jobs.sweep()
    except ContextError as error:
        logger.warning("housekeeping failed error=%s", error)
    else:
        logger.info("housekeeping deleted=%d erased=%d", len(due), len(erased))
