"""Owns opening a store for a command: which database, and on whose behalf.

A command reads what is there: it makes no database where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.reasons.file_problems import FileProblem

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="A file or an address; else CTXCORE_DATABASE_URL, else the user's data folder.",
        show_default=False,
    ),
]
User = Annotated[str, typer.Option("--user", metavar="ID", help="On whose behalf.")]


@contextmanager
def opened_engine(database: str | None, user_id: str) -> Iterator[ContextEngine]:
    """An engine on the sessions of a database, closed in the end.

    Raises:
        StoreError: there is no such database or user, or it cannot be opened.
    """
    from ctxcore.engine.core import ContextEngine
    from ctxcore.store.location import database_url
    from ctxcore.store.sql import open_store

    url = database_url(database)
    _check_file(url)
    store = open_store(url)
    try:
        store.user(user_id)  # who is nobody sees nothing, and is not made a user by asking
        yield ContextEngine(store, user_id=user_id)
    finally:
        store.close()


def _check_file(url: str) -> None:
    """Refuses an address of a file that is not there: opening it would make it.

    Raises:
        DatabaseError: there is no such file.
    """
    from ctxcore.store.errors import DatabaseError

    file = url.removeprefix("sqlite:///").partition("?")[0]
    if url.startswith("sqlite:///") and not Path(file).is_file():
        raise DatabaseError(problem=FileProblem.MISSING_NAMED(path=file))
