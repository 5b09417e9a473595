"""Alembic's entry: runs the revisions inside the connection and transaction it is handed."""

from __future__ import annotations

from typing import Literal, cast

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Connection, MetaData
from sqlalchemy.types import TypeDecorator


def render_type(kind: str, item: object, autogen: AutogenContext) -> str | Literal[False]:
    """Column types as the database knows them: a revision must not change with `tables.py`."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl!r}"
    return False


context.configure(
    connection=cast("Connection", context.config.attributes["connection"]),
    target_metadata=cast("MetaData", context.config.attributes["metadata"]),
    render_item=render_type,
    render_as_batch=True,  # SQLite alters most things only by copying the table
)
context.run_migrations()
