"""Alembic's entry point: runs the revisions in the given connection and transaction."""

from __future__ import annotations

from typing import Literal, cast

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Connection, MetaData
from sqlalchemy.types import TypeDecorator


def render_type(kind: str, item: object, autogen: AutogenContext) -> str | Literal[False]:
    """Renders column types as plain SQL types: a revision must not change with `tables.py`."""
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
