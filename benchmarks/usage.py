"""Reports over millions of calls: how long the database takes to sum them.

Run it as `python -m benchmarks.usage --calls 1000000`. The calls are made up in the database, 100 a
session, of 100 users, three models and two purposes over a year, each with verdicts of 2 kB. The
first three are what the pages *Reports* and *Health* ask; the result has as many rows as there are
users, versions of policies, months, models and purposes, whatever the number of calls.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from sqlalchemy import create_engine, text

from benchmarks.timing import print_command
from ctxcore.store import SessionStore, open_store
from ctxcore.store.values import Scope
from tools import postgres

SESSION_CALLS = 100
USERS = 100
_NUMBERS = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last})",
    "postgresql": "WITH n(i) AS (SELECT generate_series(0, {last}))",
}
_SESSIONS = (
    "INSERT INTO session (id, user_id, title, model, origin, tools, created_at, updated_at, length,"
    " head_seq, system_seqs, indexed_until) {numbers} SELECT 's' || i, 'u' || (i % {users}),"
    " 't' || i, 'gpt-4o', 'chat', '[]', '2025-01-01', '2026-01-01', 200, 200, '[]', 200 FROM n"
)
_CALLS = (
    "INSERT INTO call (id, session_id, purpose, is_imported, model, policy_version_id, estimate,"
    " runs, created_at, input_tokens, output_tokens, cached_tokens, cost, sent_tokens,"
    " without_tokens, counter_id, is_comparable) {numbers}"
    " SELECT 'c' || i, 's' || (i / {each}), CASE WHEN i % 20 = 0 THEN 'summary' ELSE 'chat' END,"
    " false, CASE i % 3 WHEN 0 THEN 'gpt-4o' WHEN 1 THEN 'claude-sonnet-4-5' ELSE 'gemini-2.5-pro'"
    " END, 1 + (i / {each}) % 5, '{{}}', '[\"' || '{verdicts}' || '\"]', {at},"
    " 8000 + i % 4000, 300 + i % 200, 5000, 0.01, 9000, 15000, 'o200k_base', true FROM n"
)
_AT = {
    "sqlite": "datetime('2025-01-01', '+' || (i / 3000 % 365) || ' days') || '.000000'",
    "postgresql": "timestamptz '2025-01-01' + (i / 3000 % 365) * interval '1 day'",
}


def main() -> None:
    """Print a row for each question and database."""
    options = _options()
    print_command()
    print(f"{options.calls:,} calls; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with TemporaryDirectory() as folder:
        _measure("SQLite", f"sqlite:///{Path(folder, 'usage.db')}", options.calls)
    if reason := postgres.missing():
        print(f"no PostgreSQL: {reason}")
        return
    with postgres.server() as at, postgres.database(at) as url:
        _measure("PostgreSQL", url, options.calls)


def _measure(name: str, url: str, calls: int) -> None:
    store = open_store(url)
    for number in range(USERS):
        store.create_user(f"u{number}", at=datetime(2025, 1, 1, tzinfo=UTC))
    _fill(url, calls)
    questions: dict[str, Callable[[SessionStore], list[object]]] = {
        "calls of everybody": lambda one: list(one.call_tallies(Scope())),
        "calls of one user": lambda one: list(one.call_tallies(Scope(kind="user", owner="u7"))),
        "counted models": lambda one: list(one.counted_models()),
        "billed calls of 100 sessions": lambda one: list(
            one.billed_calls([f"s{number}" for number in range(100)])
        ),
    }
    for question, ask in questions.items():
        taken = []
        for _ in range(3):
            begun = perf_counter()
            rows = len(ask(store))
            taken.append(perf_counter() - begun)
        print(f"{name:<11} {question:<30} {rows:>7,} rows {min(taken):>8.3f} s", flush=True)
    print(f"{name:<11} {'size':<30} {store.database_info().size_bytes / 1e6:>12,.0f} MB")
    store.close()


def _fill(url: str, calls: int) -> None:
    engine = create_engine(url)
    kind = engine.dialect.name
    sessions = -(-calls // SESSION_CALLS)
    with engine.begin() as connection:
        numbers = _NUMBERS[kind].format(last=sessions - 1)
        connection.execute(text(_SESSIONS.format(numbers=numbers, users=USERS)))
        numbers = _NUMBERS[kind].format(last=calls - 1)
        made = _CALLS.format(
            numbers=numbers, each=SESSION_CALLS, at=_AT[kind], verdicts="v" * 2_000
        )
        connection.exec_driver_sql(made.replace("%", "%%") if kind == "postgresql" else made)
    if kind == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE call"))  # as the server does by itself
    engine.dispose()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
