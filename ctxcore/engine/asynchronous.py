"""Runs blocking functions and iterators for an event loop, each in a thread of its own.

The loop only passes results on, so a hundred turns at once do not stall it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import update_wrapper
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from ctxcore.assembly.fitting import fit
from ctxcore.compaction.compacting import compact

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., object])
_END = object()
_CLOSING_SECONDS = 2.0  # a turn notices within half a second; a tool may take longer


class _Starter:
    """Starts threads from a thread of its own.

    Starting a thread waits until it runs: a hundred of them blocked an event loop for 150 ms.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, run: Callable[[], None]) -> None:
        """Calls `run` in a new thread, soon."""
        self._work.put(run)
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._serve, name="ctxcore-starter", daemon=True
                )
                self._thread.start()

    def _serve(self) -> None:
        while True:
            threading.Thread(target=self._work.get(), name="ctxcore-work", daemon=True).start()


_STARTER = _Starter()


async def run_in_thread(work: Callable[[], T]) -> T:
    """Calls `work` in a new thread, since asyncio's shared pool is small; returns its result."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised again where it is awaited
            future.set_exception(error)

    _STARTER.start(run)
    return await asyncio.wrap_future(future)


def async_twin(work: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`work` for an event loop, as a function or method named `a` and the name of `work`."""

    async def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        return await run_in_thread(lambda: work(*args, **kwargs))

    told = "arguments and errors are the same; functions that are passed are called in a thread"
    return _named(twin, work, told)


def async_iterator_twin(work: Callable[P, Iterator[T]]) -> Callable[P, AsyncIterator[T]]:
    """The same for what yields; leaving its `async for` early closes the iterator."""

    def twin(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return iterate_in_thread(lambda: work(*args, **kwargs))

    return _named(twin, work, "leaving its `async for` early ends what it does")


def _named(twin: C, work: Callable[..., object], told: str) -> C:
    update_wrapper(twin, work)
    own = f"a{work.__name__}"
    twin.__name__, twin.__qualname__ = own, work.__qualname__.removesuffix(work.__name__) + own
    twin.__doc__ = f"`{work.__name__}` for an event loop; {told}."
    return twin


async def iterate_in_thread(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """Runs an iterator in a new thread; leaving the loop early closes it there."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[object] = asyncio.Queue()
    stop = threading.Event()

    def put(item: object) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:
            stop.set()  # the loop is closed

    def run() -> None:
        try:
            iterator = make()
            while not stop.is_set() and (item := next(iterator, _END)) is not _END:
                put(item)
            if (close := getattr(iterator, "close", None)) is not None:
                close()
        except BaseException as error:  # noqa: BLE001  # raised again in the loop
            put(_Failed(error))
        finally:
            put(_END)

    _STARTER.start(run)
    item: object = None
    try:
        while (item := await queue.get()) is not _END:
            if isinstance(item, _Failed):
                raise item.error
            yield item  # type: ignore[misc]  # everything else came from the iterator
    finally:
        stop.set()
        if item is not _END:
            await _until_end(queue)


async def _until_end(queue: asyncio.Queue[object]) -> None:
    """Waits for an iterator that is being closed, up to a limit, so that its turn is stored."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_SECONDS):
            while await queue.get() is not _END:
                pass


@dataclass
class _Failed:
    error: BaseException


acompact = async_twin(compact)
afit = async_twin(fit)
