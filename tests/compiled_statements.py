"""Compiles the statements of the stores once per process: each test opens a database of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from ctxcore.store import database

STATEMENTS: Final = 5_000  # more than there are


@contextmanager
def compiled_once() -> Iterator[None]:
    """Databases in SQLite share what was compiled, which is found by dialect and statement."""
    shared: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def create(*args: Any, **options: Any) -> Engine:
        engine = create_engine(*args, **options)
        if isinstance(engine.dialect, SQLiteDialect_pysqlite):
            engine.update_execution_options(compiled_cache=shared)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda one: hash(type(one)))
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(database, "create_engine", create)
        yield
