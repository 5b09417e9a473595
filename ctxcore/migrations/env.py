"""Alembic's entry: runs the revisions inside the connection and transaction it is handed."""

from __future__ import annotations

from typing import Literal, cast

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Connection, DateTime

from ctxcore.tables import JsonText, Label, Row, UtcTime


def render_type(kind: str, item: object, autogen: AutogenContext) -> str | Literal[False]:
    """Column types as the database knows them: a revision must not change with `tables.py`."""
    if kind == "type" and isinstance(item, (JsonText, Label)):
        return "sa.Text()"
    if kind == "type" and isinstance(item, (UtcTime, DateTime)):
        return "sa.DateTime(timezone=True)"
    return False


context.configure(
    connection=cast("Connection", context.config.attributes["connection"]),
    target_metadata=Row.metadata,
    render_item=render_type,
    render_as_batch=True,  # SQLite alters most things only by copying the table
)
context.run_migrations()
