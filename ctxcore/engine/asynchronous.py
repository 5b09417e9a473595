"""Owns the async twins of the engine's slow verbs: each runs in a worker thread of its own.

The event loop only passes events on, so a hundred turns in one loop do not stall it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TypeVar

from ctxcore.assembly.records import CompactionState
from ctxcore.compaction.compacting import CompactionResult, Messages, Tools, compact
from ctxcore.policy import Policy
from ctxcore.summarizers.protocol import Summarizer

T = TypeVar("T")
_END = object()


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

    threading.Thread(target=run, name="ctxcore-worker", daemon=True).start()
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
            for item in iterator:
                put(item)
                if stop.is_set():
                    _close(iterator)
                    break
        except BaseException as error:  # noqa: BLE001  # handed to whoever iterates
            put(_Failed(error))
        finally:
            put(_END)

    thread = threading.Thread(target=run, name="ctxcore-turn", daemon=True)
    thread.start()
    try:
        while (item := await queue.get()) is not _END:
            if isinstance(item, _Failed):
                raise item.error
            yield item  # type: ignore[misc]  # everything else came from the iterator
    finally:
        stop.set()


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _close(iterator: Iterator[T]) -> None:
    close = getattr(iterator, "close", None)
    if close is not None:
        close()
