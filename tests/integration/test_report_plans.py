"""Reports over all calls read an index and no call, whose verdicts are long."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from ctxcore.store import SessionStore, open_store
from ctxcore.store.values import Scope

Asked = tuple[str, Any]


def asked(ask: Callable[[], object]) -> list[Asked]:
    """The statements that `ask` runs, with their values."""
    found: list[Asked] = []

    def note(_: object, __: object, statement: str, values: Any, *___: object) -> None:
        found.append((statement, values))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        ask()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return found


@pytest.mark.parametrize(
    ("ask", "used"),
    [
        (lambda store: store.call_tallies(Scope()), "COVERING INDEX ix_call_tallied"),
        # The index has only calls that are asked for, so that nothing is left to read of them.
        (lambda store: store.counted_models(), "INDEX ix_call_counted"),
        (lambda store: store.billed_calls(["s1", "s2"]), "COVERING INDEX ix_call_billed"),
    ],
    ids=["tallies", "counted models", "billed"],
)
def test_a_report_reads_an_index_that_holds_all_it_asks(
    tmp_path: Path, ask: Callable[[SessionStore], object], used: str
) -> None:
    path = tmp_path / "chat.db"
    with closing(open_store(str(path))) as store:
        [(statement, values)] = asked(lambda: ask(store))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()

    [plan] = [row[3] for row in rows if " call" in row[3]]
    assert used in plan
