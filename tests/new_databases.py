"""Makes new databases quickly: all have the schema that the migrations gave the first one.

They take 70 ms of processor time, which tests would pay thousands of times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from ctxcore.migrations import HEAD
from ctxcore.store import database
from ctxcore.tables import Row

VIRTUAL = "CREATE VIRTUAL TABLE"


@contextmanager
def repeated_migration() -> Iterator[None]:
    """New SQLite databases get the schema of the first; all others are migrated as ever."""
    migrate = database.upgrade
    known: list[str] = []

    def upgrade(connection: Connection, *, to: str = HEAD) -> None:
        is_new = connection.dialect.name == "sqlite" and not inspect(connection).get_table_names()
        if not is_new or to != HEAD:
            migrate(connection, to=to)
        elif known:
            driver: Any = connection.connection.driver_connection
            for statement in known:
                driver.execute(statement).close()
        else:
            migrate(connection)
            known.extend(_schema(connection))

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


def _schema(connection: Connection) -> list[str]:
    """What makes the same tables in an empty database, and says which revision it has."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql <> ''").all()
    virtual = tuple(f"{name}_" for name, sql in rows if sql.startswith(VIRTUAL))
    made = [sql for name, sql in rows if not name.startswith(virtual)]
    return [*made, f"INSERT INTO alembic_version VALUES ('{HEAD}')"]
