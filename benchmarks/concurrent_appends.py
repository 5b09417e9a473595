"""Appending from many processes and threads at once, on SQLite and on PostgreSQL side by side.

Run it as `python -m benchmarks.concurrent_appends`. Each thread is a writer that appends one
message at a time, into a session of its own or, where they share one, all into the same session.
Both databases are on this machine: SQLite in WAL mode, where a power cut may lose the last commits,
PostgreSQL in a server that is started for this, once as it is, which waits for the disk at every
commit, and once with `synchronous_commit=off`, which promises what SQLite does here.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeAlias

from sqlalchemy import URL

from benchmarks.statements import statements_run
from benchmarks.timing import print_command
from ctxcore import ContextEngine, open_store
from tools import postgres

MODEL = "gpt-4o"
TEXT = "Message {at} of {writer}: we deploy store-{at} on Friday, never on a weekend, as agreed."
HANG_SECONDS = 300.0
_NOT_WAITING = "&options=-csynchronous_commit%3Doff"

Spans: TypeAlias = "Queue[tuple[float, float, int]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How many write, how much, and where."""

    processes: int
    threads: int
    writes: int
    """Of each thread."""
    is_shared: bool
    """Whether all write into one session."""

    def __str__(self) -> str:
        where = "one session" if self.is_shared else "own sessions"
        return f"{self.processes} × {self.threads}, {where}"


def main() -> None:
    """Print how many messages a second arrive, by database and crowd."""
    options = _options()
    print_command()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    names = ("SQLite", "PostgreSQL", "ratio", "not waiting", "ratio")
    print(_row("processes × threads", names))
    crowds = [
        Crowd(processes=processes, threads=threads, writes=options.writes, is_shared=is_shared)
        for processes, threads in options.crowds
        for is_shared in (False, True)
    ]
    with TemporaryDirectory() as folder, _server() as at:
        for number, crowd in enumerate(crowds):
            on_sqlite = rate(f"sqlite:///{Path(folder, f'{number}.db')}", crowd)
            cells = [f"{on_sqlite:,.0f}/s"]
            if at is not None:
                for setting in ("", _NOT_WAITING):
                    with postgres.database(at) as url:
                        found = rate(url + setting, crowd)
                    cells += [f"{found:,.0f}/s", f"{found / on_sqlite:.2f}×"]
            print(_row(str(crowd), cells), flush=True)
        one = f"sqlite:///{Path(folder, 'one.db')}"
        print(f"statements of an append: {_statements(one)}")


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<24}" + "".join(f"{cell:>13}" for cell in cells)


@contextmanager
def _server() -> Iterator[URL | None]:
    if reason := postgres.missing():
        print(f"no PostgreSQL: {reason}")
        yield None
        return
    with postgres.server(is_durable=True) as at:
        yield at


def rate(url: str, crowd: Crowd) -> float:
    """Messages a second that the crowd appends, from the first to the last."""
    context = multiprocessing.get_context("fork")  # before there are threads or connections
    barrier, spans = context.Barrier(crowd.processes), context.Queue()
    preparing = context.Process(target=_prepare, args=(url,))
    preparing.start()
    preparing.join()
    writers: Sequence[BaseProcess] = [
        context.Process(target=_write, args=(url, number, crowd, barrier, spans))
        for number in range(crowd.processes)
    ]
    for writer in writers:
        writer.start()
    told = [spans.get(timeout=HANG_SECONDS) for _ in writers]
    for writer in writers:
        writer.join()
    seconds: float = max(end for _, end, _ in told) - min(start for start, _, _ in told)
    written: int = sum(count for _, _, count in told)
    return written / seconds


def _prepare(url: str) -> None:
    store = open_store(url)
    ContextEngine(store, model=MODEL).create_session("shared")
    store.close()


def _write(url: str, number: int, crowd: Crowd, barrier: Barrier, spans: Spans) -> None:
    store = open_store(url)
    engine = ContextEngine(store, model=MODEL)
    [shared] = engine.sessions(title="shared")
    names = [f"{number}-{thread}" for thread in range(crowd.threads)]
    ids = [shared.id if crowd.is_shared else engine.create_session(name).id for name in names]
    for session_id in ids:
        engine.append(session_id, [{"role": "user", "content": "begin"}])  # connects and caches

    def append(name: str, session_id: str) -> None:
        for at in range(crowd.writes):
            said = TEXT.format(at=at, writer=name)
            engine.append(session_id, [{"role": "user", "content": said}])

    with ThreadPoolExecutor(crowd.threads) as pool:
        barrier.wait(HANG_SECONDS)
        start = perf_counter()
        list(pool.map(append, names, ids))
        spans.put((start, perf_counter(), crowd.threads * crowd.writes))
    store.close()


def _statements(url: str) -> int:
    store = open_store(url)
    engine = ContextEngine(store, model=MODEL)
    session_id = engine.create_session("one").id
    engine.append(session_id, [{"role": "user", "content": "begin"}])
    with statements_run() as run:
        engine.append(session_id, [{"role": "user", "content": "go on"}])
    store.close()
    return len(run)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=30, help="of each thread")
    parser.add_argument(
        "--crowds",
        type=_crowd,
        nargs="+",
        default=[(1, 1), (4, 1), (4, 4), (16, 1)],
        metavar="PROCESSESxTHREADS",
    )
    return parser.parse_args()


def _crowd(given: str) -> tuple[int, int]:
    processes, _, threads = given.partition("x")
    return int(processes), int(threads)


if __name__ == "__main__":
    main()
