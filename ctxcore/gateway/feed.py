"""Owns reading a provider's stream in its own thread, so that a reader can always turn away.

A read from a network or a model cannot be woken from outside in general; the thread that waits in
it is left to notice the cancellation, while the reader goes on at once.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_AHEAD = 1_000  # chunks read before anyone takes them; bounds memory, far above any burst
_CHECK_SECONDS = 0.5  # how often a full queue looks whether its reader is gone


class Cancellation:
    """Set once, by the reader; the provider's thread asks, waits, or leaves a way to be woken."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the reader is gone."""
        return self.event.is_set()

    def on_cancel(self, stop: Callable[[], None]) -> None:
        """Call `stop` when the reader goes away, now if it has; a later one replaces it."""
        with self._lock:
            self._stop = stop
        if self.is_set:
            self.cancel()

    def cancel(self) -> None:
        """Tell the provider to stop; returns at once, does nothing the second time."""
        self.event.set()
        with self._lock:
            stop, self._stop = self._stop, None
        if stop is not None:
            stop()


class Feed(Generic[T]):
    """Runs `read` in a thread and hands out what it yields."""

    def __init__(self, read: Callable[[Cancellation], Iterable[T]]) -> None:
        self._read = read
        self._queue: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(MAX_AHEAD)
        self._cancellation = Cancellation()
        self._thread = threading.Thread(target=self._run, name="ctxcore-model-call", daemon=True)
        self._thread.start()

    def items(self, heartbeat_seconds: float | None) -> Iterator[T | None]:
        """What `read` yields; None after each `heartbeat_seconds` without news.

        Raises whatever `read` raised.
        """
        while True:
            try:
                item = self._queue.get(timeout=heartbeat_seconds)
            except queue.Empty:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]

    def close(self) -> None:
        """Stop the provider; returns at once, also while the provider is silent."""
        self._cancellation.cancel()

    def _run(self) -> None:
        try:
            for item in self._read(self._cancellation):
                if self._cancellation.is_set:
                    return
                self._put((item,))
            self._put(None)
        except BaseException as error:  # noqa: BLE001 - raised again in the reader's thread
            self._put(error)

    def _put(self, item: tuple[T] | BaseException | None) -> None:
        while not self._cancellation.is_set:
            try:
                self._queue.put(item, timeout=_CHECK_SECONDS)
            except queue.Full:
                continue
            return
