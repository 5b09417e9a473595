"""Reads a provider's stream in a thread, stops it from any thread, and sends calls again.

Dropping litellm's stream, or a plain `break`, leaves the provider generating (measured: the
built-in model and a llama.cpp server both went on). Closing the layers below the stream stops it.
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
from ctxcore.gateway.threads import start_thread

logger = logging.getLogger(__name__)

# The attributes under which litellm and its clients keep the iterator, response or network stream.
_INNER = (
    *("completion_stream", "streaming_response", "response_iterator", "http_response"),
    *("response", "_response", "_iterator", "_stream"),
)
MAX_DEPTH = 6  # chosen: ends the walk where a layer refers back to an outer one


def close_stream(stream: object) -> None:
    """Closes all layers of `stream`; never raises, does nothing the second time."""
    layers = list(_layers(stream))
    for part in layers:
        _shut_socket(part)
    for part in reversed(layers):
        close = getattr(part, "close", None)
        if callable(close):
            # A generator that is running in another thread refuses; its socket is shut already.
            with contextlib.suppress(Exception):
                close()


def _layers(stream: object, depth: int = 0) -> Iterator[object]:
    """`stream` and the streams that it reads from, outermost first."""
    yield stream
    if depth < MAX_DEPTH:
        for name in _INNER:
            inner = getattr(stream, name, None)
            if inner is not None and inner is not stream:
                yield from _layers(inner, depth + 1)


def _shut_socket(part: object) -> None:
    """Wakes a thread that waits on the connection: closing alone leaves it waiting."""
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

MAX_AHEAD = 1_000  # chosen: chunks read ahead of the reader; bounds memory, far above any burst
_CHECK_SECONDS = 0.5  # chosen: how often a full queue checks whether its reader is gone


class Cancellation:
    """A flag that the reader sets once; the provider's thread checks it or registers a callback."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the reader is gone."""
        return self.event.is_set()

    def on_cancel(self, stop: Callable[[], None]) -> None:
        """Registers `stop` to be called when the reader goes away, at once if it has."""
        with self._lock:
            self._stop = stop
        if self.is_set:
            self.cancel()

    def cancel(self) -> None:
        """Stops the provider; returns at once, does nothing the second time."""
        self.event.set()
        with self._lock:
            stop, self._stop = self._stop, None
        if stop is not None:
            stop()


class Feed(Generic[T]):
    """Runs `read` in a thread and passes on what it yields."""

    def __init__(self, read: Callable[[Cancellation], Iterable[T]]) -> None:
        self._read = read
        self._queue: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(MAX_AHEAD)
        self._cancellation = Cancellation()
        start_thread(self._run, name="ctxcore-model-call", stop=self._cancellation.cancel)

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
        """Stops the provider; returns at once, also while the provider is silent."""
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
    """How often a failed call is sent again, and how long it waits before."""

    attempts: int = 3
    """Sends altogether; 1 = never again."""
    first_wait_seconds: float = 0.5
    """The wait grows from here, doubled each time, with jitter."""
    max_wait_seconds: float = 20.0
    """After an error that demands a longer wait, the call is not sent again."""

    def wait_seconds(self, attempt: int) -> float:
        """How long to wait after the given attempt; up to half of it is left to chance."""
        longest = min(self.max_wait_seconds, self.first_wait_seconds * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)  # many callers must not come back together


def first_success(
    send: Callable[[], T],
    to_error: Callable[[BaseException], ProviderError],
    retries: Retries,
    cancelled: threading.Event,
) -> T:
    """What `send` returns, called again after failures that may pass.

    Raises:
        ProviderError: the last failure.
    """
    import tenacity  # late: it imports asyncio, and most programs never fail here

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        wanted = error.retry_after_seconds if isinstance(error, ProviderError) else None
        return max(wanted or 0.0, retries.wait_seconds(state.attempt_number))

    def is_worth_retrying(error: BaseException) -> bool:
        if not isinstance(error, ProviderError) or not error.is_retryable:
            return False
        return (error.retry_after_seconds or 0.0) <= retries.max_wait_seconds

    def attempt() -> T:
        if cancelled.is_set():  # a wait that was cut short is followed by an attempt
            raise to_error(ConnectionAbortedError("the reader went away"))
        try:
            return send()
        except Exception as error:  # noqa: BLE001 - providers raise anything
            failed = to_error(error)
        raise failed  # outside the handler: the raw text of the provider is not chained to it

    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception(is_worth_retrying),
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(retries.attempts), tenacity.stop_when_event_set(cancelled)
        ),
        wait=wait,
        sleep=tenacity.sleep_using_event(cancelled),
        before_sleep=_log_retry,
        reraise=True,
    )
    return policy(attempt)


def _log_retry(state: object) -> None:
    logger.info("model call failed, sent again attempt=%s", getattr(state, "attempt_number", "?"))
