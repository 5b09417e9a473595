"""Reasons that are damaged where they are stored: their rows are left out and told as damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import open_store

BEFORE = Path(__file__).parent / "legacy" / "before_reason_codes.sql"


def read_turns(store: SessionStore, session_id: str) -> set[str]:
    return {turn.id for turn in store.turns(session_id)}


def read_calls(store: SessionStore, session_id: str) -> set[str]:
    return {call.id for call in store.calls(session_id)}


def read_runs(store: SessionStore, session_id: str) -> set[str]:
    calls = store.calls(session_id, with_runs=False)
    return set(store.runs(session_id, [call.id for call in calls]))


@pytest.mark.parametrize(
    ("table", "column", "value", "read"),
    [
        ("turn", "error", '{"code":5}', read_turns),
        ("turn", "error", '"words"', read_turns),
        ("call", "error", '{"facts":{}}', read_calls),
        ("call", "runs", "[[0,1]]", read_calls),
        ("call", "runs", '[[0,0,"kept","recent",1,1]]', read_runs),
        ("call", "runs", "[3]", read_runs),
    ],
)
def test_a_row_with_a_damaged_reason_is_left_out_and_told(
    tmp_path: Path,
    table: str,
    column: str,
    value: str,
    read: Callable[[SessionStore, str], set[str]],
) -> None:
    path = tmp_path / "damaged.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(BEFORE.read_text(encoding="utf-8"))
    with closing(open_store(str(path))) as store:
        before = {one.id: read(store, one.id) for one in store.list_sessions(listed="all")}
        told_before = [*store.check_all(at=datetime.now(UTC))]
    with closing(sqlite3.connect(path)) as connection, connection:
        query = f"SELECT id, session_id FROM {table} ORDER BY id LIMIT 1"
        row, session_id = connection.execute(query).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, row))

    with closing(open_store(str(path))) as store:
        after = {one.id: read(store, one.id) for one in store.list_sessions(listed="all")}
        told = [*store.check_all(at=datetime.now(UTC))]

    assert row in before[session_id]
    assert after == {**before, session_id: before[session_id] - {row}}
    [found] = [finding for finding in told if finding not in told_before]
    assert found.session_id == session_id
    assert not found.is_repairable
