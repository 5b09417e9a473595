"""Runs work in a thread that outlives a click, with progress that a page can follow.

A page that is interrupted by another click finds the job in the session state and follows it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from ctxcore.errors import ContextError
from ctxcore.reasons.storage_problems import JobProblem

T = TypeVar("T")
Progress = Callable[[int, int], None]

TICK_SECONDS = 0.1  # chosen: smooth progress without many redraws


class BrokeOffError(ContextError):
    """A program error ended the work; the thread logs it."""

    def __init__(self, *, kind: str) -> None:
        self.kind = kind
        super().__init__(JobProblem.BROKE_OFF(kind=kind))


class Job(Generic[T]):
    """One piece of work in its own thread."""

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self._work = work
        self._ended = threading.Event()
        self.progress: tuple[int, int] = (0, 0)
        self.result: T | None = None
        self.error: ContextError | None = None
        """Translated when it is shown."""
        threading.Thread(target=self._run, name="dashboard-job", daemon=True).start()

    @property
    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits so long for the end; whether there is a result or an error."""
        return self._ended.wait(seconds)

    def follow(self) -> Iterator[tuple[int, int]]:
        """Yields the progress (done, total) repeatedly until the work has ended."""
        while not self._ended.wait(TICK_SECONDS):
            yield self.progress
        yield self.progress

    def _run(self) -> None:
        try:
            self.result = self._work(self._note)
        except ContextError as error:
            self.error = error
        except Exception as error:
            self.error = BrokeOffError(kind=type(error).__name__)
            raise
        finally:
            self._ended.set()

    def _note(self, done: int, total: int) -> None:
        self.progress = (done, total)
