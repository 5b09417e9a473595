"""Owns bringing a database up to date; Alembic is imported only when there is something to do."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

import ctxcore.migrations
from ctxcore.migrations import HEAD
from ctxcore.store.dialects import lock_name
from ctxcore.store.errors import SchemaError


def upgrade(connection: Connection, *, to: str = HEAD) -> None:
    """Runs the revisions that the database lacks, in the transaction of `connection`.

    Raises:
        SchemaError: the database is newer than this library.
    """
    if revision_of(connection) == to:
        return
    lock_name(connection, "ctxcore schema")
    revision = revision_of(connection)  # another process may just have done it
    if revision == to:
        return

    from alembic import command  # 0.7 s
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    folder = Path(ctxcore.migrations.__file__).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, to)
    except CommandError as error:
        raise SchemaError(revision=revision or "none", known=to) from error


def revision_of(connection: Connection) -> str | None:
    """The database's revision; None if it is new."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
