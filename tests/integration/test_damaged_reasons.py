"""Reasons that are damaged where they are stored: told as damaged, by the error for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore.store.errors import CorruptRecordError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import open_store

BEFORE = Path(__file__).parent / "legacy" / "before_reason_codes.sql"


def read_turns(store: SessionStore, session_id: str) -> object:
    return store.turns(session_id)


def read_calls(store: SessionStore, session_id: str) -> object:
    return store.calls(session_id)


def read_runs(store: SessionStore, session_id: str) -> object:
    calls = store.calls(session_id, with_runs=False)
    return store.runs(session_id, [call.id for call in calls])


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
def test_a_damaged_reason_is_told_with_its_session(
    tmp_path: Path,
    table: str,
    column: str,
    value: str,
    read: Callable[[SessionStore, str], object],
) -> None:
    path = tmp_path / "damaged.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(BEFORE.read_text(encoding="utf-8"))
    with closing(open_store(str(path))):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        query = f"SELECT id, session_id FROM {table} ORDER BY id LIMIT 1"
        row, session_id = connection.execute(query).fetchone()
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (value, row))
    with closing(open_store(str(path))) as store:
        with pytest.raises(CorruptRecordError, match=session_id):
            read(store, session_id)
        for other in store.list_sessions(listed="all"):
            if other.id != session_id:
                read(store, other.id)
