"""What a session, a turn and a message take: bytes, statements, processor time; and many of them.

Run it as `python -m benchmarks.scaling`. Sessions have so many turns of 80 English words, answered
by 160, with a policy that compacts; the model answers from a script. Below the figures stands what
they come to for a million and a thousand million sessions, by arithmetic alone.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from sqlalchemy import create_engine, text

from benchmarks.appending import drawn
from benchmarks.conversations import DEMO, load_messages
from benchmarks.statements import statements_run
from benchmarks.timing import print_command
from ctxcore import ContextEngine, open_store
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.values import ModelReply, ModelRequest, ModelUsage
from tools import postgres
from tools.torture.engines import ScriptedGateway

MODEL = "benchmark/m"
WINDOW_TOKENS = 16_000
_TABLES = (
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
    " AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC LIMIT 6"
)
DAY_SECONDS = 86_400
WAIT_SECONDS = 60.0


class Answering(ScriptedGateway):
    """Answers with drawn words, and counts as a provider does."""

    def __init__(self, texts: Iterator[str]) -> None:
        super().__init__(piece_seconds=0)
        self._texts = texts

    def stream(self, request: ModelRequest) -> Iterator[ModelReply]:  # type: ignore[override]
        yield self.complete(request)

    def complete(self, request: ModelRequest) -> ModelReply:
        said = f"{next(self._texts)} {next(self._texts)}"
        usage = ModelUsage(input_tokens=8_000, output_tokens=220)
        return ModelReply(
            text=said,
            thoughts=(),
            calls=(),
            finish_reason="stop",
            usage=usage,
            model=request.model,
            cost=None,
            latency_seconds=0.0,
            first_token_seconds=None,
        )


def main() -> None:
    """Print the figures of each database, and what follows."""
    options = _options()
    print_command()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with TemporaryDirectory() as folder:
        _measure("SQLite", f"sqlite:///{Path(folder, 'scaling.db')}", options)
    if reason := postgres.missing():
        print(f"no PostgreSQL: {reason}")
        return
    with postgres.server() as at, postgres.database(at) as url:
        _measure("PostgreSQL", url, options)
        _print_tables(url, options.sessions * options.turns)


def _measure(name: str, url: str, options: argparse.Namespace) -> None:
    store = open_store(url)
    texts = _texts()
    save_figures(store, MODEL, {"window_tokens": WINDOW_TOKENS})
    engine = ContextEngine(store, gateway=Answering(texts), model=MODEL)
    empty = store.database_info().size_bytes
    _talk(engine, texts, 3)  # loads and caches
    statements: list[int] = []
    begun = process_time()
    for _ in range(options.sessions):
        statements += _talk(engine, texts, options.turns)
    turns = options.sessions * options.turns
    cpu_seconds = (process_time() - begun) / turns
    compactions = sum(len(store.compactions(one.id)) for one in engine.sessions(limit=10_000))
    bytes_ = (store.database_info().size_bytes - empty) / turns
    store.close()
    ordered = sorted(statements)
    print(f"\n{name}: {options.sessions} sessions of {options.turns} turns")
    print(f"  a turn: {bytes_:,.0f} bytes, {cpu_seconds * 1_000:.1f} ms of our processor time,")
    middle, most = ordered[len(ordered) // 2], ordered[-1]
    print(f"  {middle} statements in the median, {most} at most; {compactions} compactions")
    session_bytes = bytes_ * options.turns
    print(f"  a session: {session_bytes / 1e3:,.0f} kB")
    for count in (10**6, 10**9):
        _print_many(count, session_bytes, cpu_seconds * options.turns, options.days)


def _print_many(count: int, session_bytes: float, session_seconds: float, days: int) -> None:
    stored = count * session_bytes
    busy = count * session_seconds / (days * DAY_SECONDS)
    print(
        f"  {count:>13,} sessions: {stored / 1e12:>9,.2f} TB;"
        f" begun evenly within {days} days: {busy:>9,.1f} cores busy with ctxcore"
    )


def _talk(engine: ContextEngine, texts: Iterator[str], turns: int) -> list[int]:
    """Statements of each turn of a new session."""
    session_id = engine.create_session("benchmark").id
    counts = []
    for _ in range(turns):
        with statements_run() as run:
            for _ in engine.chat(session_id, next(texts)):
                pass
        counts.append(len(run))
    engine.wait(session_id, WAIT_SECONDS)  # a compaction in the background
    return counts


def _texts() -> Iterator[str]:
    while True:
        for batch in drawn(load_messages(DEMO), 4):
            yield from (str(message["content"]) for message in batch)


def _print_tables(url: str, turns: int) -> None:
    with _connected(url) as rows:
        print("  a turn by table, with indexes:", end="")
        print("".join(f" {name} {size / turns:,.0f}" for name, size in rows))


@contextmanager
def _connected(url: str) -> Iterator[list[tuple[str, int]]]:
    engine = create_engine(url)
    with engine.connect() as connection:
        yield [(str(name), int(size)) for name, size in connection.execute(text(_TABLES))]
    engine.dispose()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--days", type=int, default=30, help="within which sessions begin")
    return parser.parse_args()


if __name__ == "__main__":
    main()
