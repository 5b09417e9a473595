"""Owns the store on an SQL database: SQLite or PostgreSQL, by the same code."""

from __future__ import annotations

from ctxcore.store.compactions import Compactions
from ctxcore.store.database import Database
from ctxcore.store.histories import Histories
from ctxcore.store.journal import Journal
from ctxcore.store.location import database_url
from ctxcore.store.policies import Policies
from ctxcore.store.protocol import SessionStore
from ctxcore.store.searching import Searching
from ctxcore.store.sessions import Sessions
from ctxcore.store.turns import Turns


class SqlStore(Sessions, Histories, Compactions, Turns, Policies, Journal, Searching):
    """A `SessionStore` on a database; safe to share between threads."""

    def close(self) -> None:
        """Closes the database; the store is of no use afterwards."""
        self._database.close()


def open_store(url: str | None = None) -> SessionStore:
    """The store at `url`, else at `CTXCORE_DATABASE_URL`, else in the user's data folder.

    Args:
        url: an SQLAlchemy address, e.g. `sqlite:///chat.db`, `postgresql://host/db`, `sqlite://`
            for one in memory; a path without a scheme names an SQLite file.

    Raises:
        StoreError: the database cannot be opened, or is newer than this library.
    """
    return SqlStore(Database(database_url(url)))
