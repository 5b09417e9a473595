"""Owns the async twins of the engine's slow verbs: each runs in a worker thread of its own.

The event loop only passes events on, so a hundred turns in one loop do not stall it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import CompactionResult, Messages, Tools, compact
from ctxcore.compaction.plans import Confirm
from ctxcore.policy.values import Policy
from ctxcore.summarizers.protocol import Summarizer

T = TypeVar("T")
_END = object()
_CLOSING_SECONDS = 2.0  # a turn notices within half a second; a tool may take longer


class _Starter:
    """Starts threads from one of its own.

    Starting a thread waits until it runs; a hundred of them held an event loop up for 150 ms.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, run: Callable[[], None]) -> None:
        """Has `run` run in a thread of its own, soon."""
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
    """What `work` returns, from a thread of its own; the shared pool is small."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # handed to whoever awaits it
            future.set_exception(error)

    _STARTER.start(run)
    return await asyncio.wrap_future(future)


async def acompact(
    messages: Messages,
    *,
    policy: Policy | None = None,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    summarizer: Summarizer | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    force: bool = False,
    confirm: Confirm | None = None,
    on_mismatch: OnMismatch = "raise",
) -> CompactionResult:
    """`compact` for an event loop; arguments and errors are those of `compact`."""
    return await run_in_thread(
        lambda: compact(
            messages,
            policy=policy,
            max_tokens=max_tokens,
            target_tokens=target_tokens,
            summarizer=summarizer,
            model=model,
            tools=tools,
            knowledge=knowledge,
            state=state,
            force=force,
            confirm=confirm,
            on_mismatch=on_mismatch,
        )
    )


async def iterate_in_thread(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """The items of an iterator that runs in a thread; leaving early closes it there."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[object] = asyncio.Queue()
    stop = threading.Event()

    def put(item: object) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:
            stop.set()  # the loop is gone: nobody reads on

    def run() -> None:
        try:
            iterator = make()
            while not stop.is_set() and (item := next(iterator, _END)) is not _END:
                put(item)
            _close(iterator)
        except BaseException as error:  # noqa: BLE001  # handed to whoever iterates
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
    """Waits a moment for an iterator that is being closed, so that its turn is saved by then."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_SECONDS):
            while await queue.get() is not _END:
                pass


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _close(iterator: Iterator[T]) -> None:
    close = getattr(iterator, "close", None)
    if close is not None:
        close()
