"""Opens a store: at the given address, else the environment's, else in the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from ctxcore.store.auditing import Auditing
from ctxcore.store.checking import Checking
from ctxcore.store.database import Database
from ctxcore.store.histories import Histories
from ctxcore.store.jobs import Jobs
from ctxcore.store.leases import Leases
from ctxcore.store.protocol import SessionStore
from ctxcore.store.records import Compactions, Journal, Policies
from ctxcore.store.reports import Reports
from ctxcore.store.request_prefixes import RequestPrefixes
from ctxcore.store.rule_editing import RuleEditing
from ctxcore.store.searching import Searching
from ctxcore.store.sessions import Sessions
from ctxcore.store.signals import Signals
from ctxcore.store.turns import Turns
from ctxcore.store.upkeep import Upkeep

DATABASE_VARIABLE = "CTXCORE_DATABASE_URL"


def database_url(url: str | None) -> str:
    """The address to open; a plain path names an SQLite file."""
    chosen = url or os.environ.get(DATABASE_VARIABLE) or str(_default_file())
    if "://" not in chosen:
        return f"sqlite:///{chosen}"
    scheme, _, rest = chosen.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+psycopg://{rest}"
    return chosen


def _default_file() -> Path:
    return user_data_path("ctxcore", appauthor=False) / "ctxcore.db"


class SqlStore(
    Sessions,
    Histories,
    Compactions,
    RuleEditing,
    Turns,
    Signals,
    Reports,
    Policies,
    Journal,
    Leases,
    Searching,
    Jobs,
    RequestPrefixes,
    Upkeep,
    Checking,
    Auditing,
):
    """A `SessionStore` on a database; safe to share between threads."""

    def close(self) -> None:
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
