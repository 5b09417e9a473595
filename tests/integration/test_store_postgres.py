"""What only a server can do to a store: round trips, connections that end, a close meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Engine

from ctxcore.engine.core import ContextEngine
from ctxcore.store import open_store
from ctxcore.store.sql import SqlStore

pytestmark = pytest.mark.postgres


@contextmanager
def connections_made() -> Iterator[list[Any]]:
    """The driver's connections that are made inside."""
    made: list[Any] = []

    def note(connection: Any, record: object) -> None:
        made.append(connection)

    event.listen(Engine, "connect", note)
    try:
        yield made
    finally:
        event.remove(Engine, "connect", note)


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_an_append_waits_for_ten_answers_on_postgres(postgres_url: str, tmp_path: Path) -> None:
    with connections_made() as made, closing(open_store(postgres_url)) as store:
        engine = ContextEngine(store)
        session_id = engine.create_session().id
        engine.append(session_id, said("first"))
        trace = tmp_path / "trace"
        with trace.open("wb") as file:
            for connection in made:
                connection.pgconn.trace(file.fileno())
            engine.append(session_id, said("second"))
            for connection in made:
                connection.pgconn.untrace()

    told = trace.read_text(encoding="utf-8")
    # Two reads; BEGIN, six statements and COMMIT. Another thread announces the changes.
    assert told.count("ReadyForQuery") - told.count('"NOTIFY ') == 10


def test_an_idle_connection_that_the_server_ended_is_made_anew_on_postgres(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxcore.store.database.IDLE_SECONDS", 0.0)
    with closing(open_store(postgres_url)) as store:
        engine = ContextEngine(store)
        session_id = engine.create_session().id
        other = create_engine(postgres_url)
        with other.connect() as connection:
            ended = connection.execute(
                text(
                    "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            ).scalar_one()
        other.dispose()

        engine.append(session_id, said("go on"))

        assert ended >= 1
        assert engine.session(session_id).length == 1


def test_a_connection_in_use_is_closed_after_its_use_on_postgres(postgres_url: str) -> None:
    with connections_made() as made:
        store = open_store(postgres_url)
        assert isinstance(store, SqlStore)
        with store._database.read() as connection:
            store.close()
            assert connection.execute(text("SELECT 1")).scalar_one() == 1

    assert [connection.closed for connection in made] == [True] * len(made)
