"""Owns transactions: a write commits as a whole or not at all; reads see only what was committed.

Writes of one process queue here, so that they do not race for SQLite's only writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock

from sqlalchemy import Connection, make_url
from sqlalchemy.exc import SQLAlchemyError

from ctxcore.migrations import HEAD
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.store_problems import StoreProblem
from ctxcore.store.dialects import empty_log, is_in_memory, is_sqlite, make_engines
from ctxcore.store.errors import DatabaseError
from ctxcore.store.schema import revision_of, upgrade
from ctxcore.store.stored_facts import RuleBooks


class Database:
    """A database of the newest schema, new or brought up to date when it is opened."""

    def __init__(self, url: str) -> None:
        with _explained():
            parsed = make_url(url)
            self._writer, self._reader = make_engines(parsed)
        self.rule_books = RuleBooks()
        """The rules of its sessions that were read already."""
        self._is_closed = False
        lock = Lock()
        self._writing: AbstractContextManager[object] = lock if is_sqlite(parsed) else nullcontext()
        self._reading: AbstractContextManager[object] = (
            lock if is_in_memory(parsed) else nullcontext()
        )
        try:
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that may change things."""
        with self._writing, _explained():
            self._check_open()
            with self._writer.begin() as connection:
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that only reads."""
        with self._reading, _explained():
            self._check_open()
            with self._reader.connect() as connection:
                yield connection

    def _bring_up_to_date(self) -> None:
        with self.read() as connection:
            revision = revision_of(connection)
        if revision != HEAD:
            with self.write() as connection:
                upgrade(connection)

    def empty_log(self) -> None:
        """Leaves nothing of what was erased in the log, unless another process is reading it."""
        with self._writing, _explained():
            empty_log(self._writer)

    def close(self) -> None:
        """Closes all connections, after the write that is under way; nothing is read any more."""
        with self._writing:
            self._is_closed = True
            self._writer.dispose()
            self._reader.dispose()

    def _check_open(self) -> None:
        if self._is_closed:
            raise DatabaseError(problem=StoreProblem.CLOSED())


@contextmanager
def _explained() -> Iterator[None]:
    """Turns the driver's errors into the library's."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise DatabaseError(problem=reason_of(cause)) from error
    except (OSError, ImportError) as error:  # no such folder; no driver
        raise DatabaseError(problem=reason_of(error)) from error
    except json.JSONDecodeError as error:
        raise DatabaseError(problem=StoreProblem.DAMAGED_VALUE(reason=reason_of(error))) from error
