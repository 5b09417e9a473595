"""Owns bringing a database up to date; Alembic is imported only when there is something to do."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

import ctxcore.migrations
from ctxcore.migrations import HEAD
from ctxcore.store.dialects import lock_name
from ctxcore.store.errors import SchemaError
from ctxcore.tables import Row

if TYPE_CHECKING:
    from alembic.config import Config

logger = logging.getLogger(__name__)


def upgrade(connection: Connection, *, to: str = HEAD) -> None:
    """Runs the revisions that the database lacks, in the transaction of `connection`.

    Raises:
        SchemaError: the database is newer than this library.
    """
    lock_name(connection, "ctxcore schema")
    revision = revision_of(connection)
    if revision == to:  # another process has just done it
        return

    from alembic import command  # 0.7 s
    from alembic.util import CommandError

    try:
        command.upgrade(make_config(connection), to)
    except CommandError as error:
        raise SchemaError(revision=revision or "none", known=to) from error
    logger.info("upgraded database from=%s to=%s", revision, to)


def make_config(connection: Connection) -> Config:
    """What Alembic's commands need here, `command.revision(…, autogenerate=True)` among them."""
    from alembic.config import Config

    config = Config()
    folder = Path(ctxcore.migrations.__file__).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["metadata"] = Row.metadata
    return config


def revision_of(connection: Connection) -> str | None:
    """The database's revision; None if it is new."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
