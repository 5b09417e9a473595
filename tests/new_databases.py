"""Makes new databases quickly: what the migrations execute for the first one is repeated.

They take 70 ms of processor time, which tests would pay thousands of times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, event, inspect, text

from ctxcore.migrations import HEAD
from ctxcore.store import database
from ctxcore.tables import Row

Statement = tuple[str, Any]


@contextmanager
def repeated_migration() -> Iterator[None]:
    """New SQLite databases get the schema of the first; all others are migrated as ever."""
    migrate = database.upgrade
    known: list[Statement] = []

    def upgrade(connection: Connection, *, to: str = HEAD) -> None:
        is_new = connection.dialect.name == "sqlite" and not inspect(connection).get_table_names()
        if not is_new or to != HEAD:
            migrate(connection, to=to)
        elif known:
            for statement, parameters in known:
                connection.exec_driver_sql(statement, parameters)
        else:
            known.extend(_executed(migrate, connection))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "upgrade", upgrade)
        yield


def empty(postgres_url: str) -> None:
    """Deletes all rows of a PostgreSQL database, which takes less than making another."""
    engine = create_engine(postgres_url)
    names = [table.name for table in reversed(Row.metadata.sorted_tables)]
    deleted = "".join(f'DELETE FROM "{name}";' for name in ("message_index", *names))
    numbered = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"
    with engine.begin() as connection:
        connection.execute(text(deleted))
        connection.execute(text(numbered))
    engine.dispose()


def _executed(migrate: Any, connection: Connection) -> list[Statement]:
    """Migrates; returns what was executed to that end."""
    found: list[Statement] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        found.append((statement, parameters or None))

    event.listen(connection, "before_cursor_execute", note)
    try:
        migrate(connection)
    finally:
        event.remove(connection, "before_cursor_execute", note)
    return found
