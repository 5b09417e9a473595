"""Owns what the parts of a store share: its database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Executable, RowMapping

from ctxcore.store.database import Database

T = TypeVar("T")


class Area:
    """A part of a store: the verbs about one kind of record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _list(
        self, statement: Executable, to_value: Callable[[RowMapping], T], **asked: Any
    ) -> list[T]:
        """What `statement` finds, as values."""
        with self._database.read() as connection:
            rows = connection.execute(statement, asked).mappings().all()
        return [to_value(row) for row in rows]

    def _first(
        self, statement: Executable, to_value: Callable[[RowMapping], T], **asked: Any
    ) -> T | None:
        """The first thing `statement` finds, as a value; None if it finds nothing."""
        return next(iter(self._list(statement, to_value, **asked)), None)
