"""Does the same work on many items at once: in this process, on all cores, or on a cluster.

The work is a function of a module and its items are values, so that both can be sent elsewhere; the
results are the same wherever it is done.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from importlib import import_module, metadata
from itertools import islice
from multiprocessing import get_context
from typing import Any, Final, Protocol, TypeVar

from ctxcore.errors import WorkersError
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import WorkersProblem

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

ATTEMPTS: Final = 3  # chosen: of the same work, where what did it was ended each time
AHEAD: Final = 2  # items for each worker that are read before their results are needed; chosen
CONNECT_SECONDS: Final = 10.0  # chosen: longer than a cluster takes that is there
_DISTRIBUTION: Final = "ctxcore-window"
_INSTALL: Final = 'pip install "ctxcore-window[cluster]"'


class Workers(Protocol):
    """What does work on many items; a new place to work is one more of these."""

    @property
    def size(self) -> int:
        """How many items are worked on at once."""

    def as_done(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[int, R]]:
        """Results with the places of their items, as they are done.

        Items are read as they are needed. Closing the iterator cancels what has not begun. What
        `work` raises is raised here, and the rest is cancelled.

        Raises:
            WorkersError: those that did the same work were ended again and again.
        """


def in_order(workers: Workers, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results in the order of their items; otherwise like `Workers.as_done`."""
    early: dict[int, R] = {}
    due = 0
    for place, result in workers.as_done(work, items):
        early[place] = result
        while due in early:
            yield early.pop(due)
            due += 1


class Here:
    """Works in this process, on one item after the other."""

    size = 1

    def as_done(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[int, R]]:
        return ((place, work(item)) for place, item in enumerate(items))


class Pool:
    """Works in what an executor of the standard library's kind has; makes another if it breaks."""

    def __init__(
        self,
        make: Callable[[], Executor],
        size: int,
        *,
        attempts: int = ATTEMPTS,
        ends: tuple[type[Exception], ...] = (),
    ) -> None:
        """`ends`: what else is raised where the workers themselves, not their work, failed."""
        self.size = size
        self._make = make
        self._executor = make()
        self._attempts = attempts
        self._ends: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, *ends)

    def as_done(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[int, R]]:
        numbered = enumerate(items)
        running: dict[Future[R], tuple[int, T]] = {}
        # What was under way as workers ended is done one by one, with all the memory: so it shows
        # which item ends them, and no item is given up for the ends of others.
        suspects: list[tuple[int, T]] = []
        ended = 0
        try:
            while True:
                room = self.size * AHEAD - len(running)
                for one in suspects[:1] if suspects else islice(numbered, room):
                    running[self._begun(work, one[1])] = one
                if not running:
                    return
                failed: BaseException | None = None
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    try:
                        result = future.result()
                    except self._ends as error:
                        failed = error
                        continue
                    ended, suspects = 0, suspects[1:]
                    place, _ = running.pop(future)
                    yield place, result
                if failed is not None:
                    ended += 1
                    if ended >= self._attempts:
                        raise WorkersError(WorkersProblem.ENDED(times=ended)) from failed
                    logger.warning("workers ended; their work is begun again")
                    suspects = suspects or sorted(running.values(), key=lambda one: one[0])
                    running = {}
                    self._begin_again()
        finally:
            for future in running:
                future.cancel()

    def _begun(self, work: Callable[[T], R], item: T) -> Future[R]:
        """The result to come; one that failed already where workers end at this moment."""
        ended: Future[R] = Future()
        try:
            return self._executor.submit(work, item)
        except self._ends as error:
            ended.set_exception(error)
        except OSError as error:  # CPython 3.11, where others end while a process is started
            broken = BrokenExecutor(str(error))
            broken.__cause__ = error
            ended.set_exception(broken)
        return ended

    def _begin_again(self) -> None:
        self.close()
        self._executor = self._make()

    def close(self) -> None:
        """Ends the workers, after what they do now."""
        self._executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def open_workers(count: int | None = None, *, cluster: str | None = None) -> Iterator[Workers]:
    """Workers until the block ends: of a cluster, else so many processes here, one a core for None.

    Processes are started when there is work. Each imports the program's main module, so a program
    whose main module does something when it is imported, as a Streamlit page does, asks for 1.

    Args:
        count: Processes on this machine.
        cluster: The address of a Dask scheduler, e.g. `tcp://10.0.0.5:8786`.

    Raises:
        WorkersError: the cluster cannot be reached, has no workers, or another version of this
            library.
    """
    if cluster is not None:
        with _dask(cluster) as workers:
            yield workers
        return
    size = count or os.cpu_count() or 1
    if size < 2:
        yield Here()
        return
    pool = Pool(lambda: _processes(size), size)
    try:
        yield pool
    finally:
        pool.close()


def _processes(size: int) -> Executor:
    # Forked processes would inherit threads and locks of a server.
    context = get_context("spawn")
    return ProcessPoolExecutor(size, mp_context=context, initializer=_collect_seldom)


def _collect_seldom() -> None:
    """Lets the garbage collector look less often: a conversation is many objects and no cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@contextmanager
def _dask(address: str) -> Iterator[Workers]:
    """The workers of a Dask cluster, which does the work of lost ones again by itself."""
    if not is_installed("distributed"):
        raise WorkersError(WorkersProblem.NOT_INSTALLED(install=_INSTALL))
    distributed: Any = import_module("distributed")
    try:
        # Asked first, since a client that finds nobody says so again at its end.
        place = distributed.comm.get_address_host_port(address)
        socket.create_connection(place, CONNECT_SECONDS).close()
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # no such host, no answer, or no address at all
        raise WorkersError(WorkersProblem.UNREACHABLE(address=address)) from error
    with client:
        try:  # one that was lost is started again
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise WorkersError(WorkersProblem.NO_WORKERS(address=address)) from error
        threads = client.nthreads()
        _check_versions(client, address)
        executor = client.get_executor(pure=False, retries=ATTEMPTS)
        # The cluster itself begins lost work again; what it gives up is given up.
        yield Pool(
            lambda: executor, sum(threads.values()), attempts=1, ends=(distributed.KilledWorker,)
        )


def _check_versions(client: Any, address: str) -> None:
    """Refuses workers with another version, whose figures may be others."""
    own = _version()
    try:
        found = set(client.run(_version).values())
    except Exception as error:  # whatever a worker raises that does not know this module
        problem = WorkersProblem.OTHER_VERSION(address=address, found="none", own=own)
        raise WorkersError(problem) from error
    if found != {own}:
        other = ", ".join(sorted(found - {own}))
        problem = WorkersProblem.OTHER_VERSION(address=address, found=other, own=own)
        raise WorkersError(problem)


def _version() -> str:
    return metadata.version(_DISTRIBUTION)
