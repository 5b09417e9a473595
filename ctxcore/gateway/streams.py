"""Owns stopping a provider's stream for good, from whichever thread.

Dropping litellm's stream, or a plain `break`, leaves the provider generating (measured: the
built-in model and a llama.cpp server both went on). What stops it is closing what lies under it.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import random
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ctxcore.gateway.errors import ProviderError

logger = logging.getLogger(__name__)

# Where litellm and its clients keep the thing that reads: iterator, response, network stream.
_INNER = ("completion_stream", "streaming_response", "response_iterator", "http_response")
_INNER_CLIENT = ("response", "_response", "_iterator", "_stream")
MAX_DEPTH = 6


def close_stream(stream: object) -> None:
    """Cancel what feeds `stream`; never raises, does nothing the second time."""
    for part in _layers(stream):
        _shut_socket(part)
    for part in reversed(list(_layers(stream))):
        close = getattr(part, "close", None)
        if callable(close):
            # A generator that is running in another thread refuses; its socket is shut already.
            with contextlib.suppress(Exception):
                close()


def _layers(stream: object, depth: int = 0) -> Iterator[object]:
    """`stream` and what it reads from, outermost first."""
    yield stream
    if depth < MAX_DEPTH:
        for name in (*_INNER, *_INNER_CLIENT):
            inner = getattr(stream, name, None)
            if inner is not None and inner is not stream:
                yield from _layers(inner, depth + 1)


def _shut_socket(part: object) -> None:
    """Wake a thread that waits on the connection: closing alone leaves it waiting."""
    extensions = getattr(part, "extensions", None)
    network = extensions.get("network_stream") if isinstance(extensions, dict) else None
    if network is None or getattr(part, "is_closed", True):
        return
    found = network.get_extra_info("socket")
    if isinstance(found, socket.socket):
        with contextlib.suppress(OSError):
            # The plain socket's own method, under TLS too: its session is not ours to touch
            # while another thread reads.
            socket.socket.shutdown(found, socket.SHUT_RDWR)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a call that may succeed later is sent again, and how long it waits before."""

    attempts: int = 3
    """Sends altogether; 1 = never again."""
    first_wait_seconds: float = 0.5
    """The wait grows from here, doubled each time, with jitter."""
    max_wait_seconds: float = 20.0
    """A provider that asks for a longer wait is not asked again: a person is watching."""

    def wait_seconds(self, attempt: int) -> float:
        """How long to wait after the given attempt, with half of it by chance."""
        longest = min(self.max_wait_seconds, self.first_wait_seconds * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)  # many callers must not come back together


def first_success(
    send: Callable[[], T],
    to_error: Callable[[BaseException], ProviderError],
    retries: Retries,
    cancelled: threading.Event,
) -> T:
    """What `send` returns, sent again after failures worth it.

    Raises:
        ProviderError: the last failure.
    """
    import tenacity  # late: it imports asyncio, and most programs never fail here

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_seconds if isinstance(error, ProviderError) else None
        return max(asked or 0.0, retries.wait_seconds(state.attempt_number))

    def attempt() -> T:
        if cancelled.is_set():  # a wait that was cut short is followed by an attempt
            raise to_error(ConnectionAbortedError("the reader went away"))
        try:
            return send()
        except Exception as error:  # noqa: BLE001 - providers raise anything
            failed = to_error(error)
        raise failed  # outside the handler, so that no raw provider text hangs on it

    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception(lambda error: _is_worth_it(error, retries)),
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(retries.attempts), tenacity.stop_when_event_set(cancelled)
        ),
        wait=wait,
        sleep=tenacity.sleep_using_event(cancelled),
        before_sleep=_log_retry,
        reraise=True,
    )
    return policy(attempt)


def _is_worth_it(error: BaseException, retries: Retries) -> bool:
    if not isinstance(error, ProviderError) or not error.is_retryable:
        return False
    return (error.retry_after_seconds or 0.0) <= retries.max_wait_seconds


def _log_retry(state: object) -> None:
    logger.info("model call failed, sent again attempt=%s", getattr(state, "attempt_number", "?"))
