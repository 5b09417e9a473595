"""Reasons as codes with facts, where earlier releases stored English sentences.

The trigger and the reason of a compaction stand in its body alone. What nobody recognises is kept
as it was, under the code `legacy`.

Revision 0004, after 0003.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from ctxcore.migrations import legacy_reasons as legacy

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None

_BATCH = 500
_QUESTION = "confirmation:"


def upgrade() -> None:
    _rewrite("compaction", ("body", "details"), _compaction)
    _rewrite("call", ("runs", "error"), _call)
    _rewrite("turn", ("error",), _turn)
    _rewrite("event", ("body",), _event)
    _rewrite("setting", ("value",), _setting, key="name")
    op.drop_column("compaction", "trigger")
    op.drop_column("compaction", "reason")


def downgrade() -> None:
    for name in ("trigger", "reason"):
        column = sa.Column(name, sa.Text(), nullable=False, server_default="")
        op.add_column("compaction", column)


def _compaction(row: dict[str, Any]) -> dict[str, Any]:
    body, details = json.loads(row["body"]), json.loads(row["details"])
    body = legacy.record(body, details)
    return {"body": _text(body), "details": _text(legacy.details(details))}


def _call(row: dict[str, Any]) -> dict[str, Any]:
    runs = _text(legacy.runs(json.loads(row["runs"])))
    return {"runs": runs, **_turn(row)}


def _turn(row: dict[str, Any]) -> dict[str, Any]:
    return {"error": None if row["error"] is None else _text(legacy.error(row["error"]))}


def _event(row: dict[str, Any]) -> dict[str, Any]:
    return {"body": _text(legacy.event(json.loads(row["body"])))}


def _setting(row: dict[str, Any]) -> dict[str, Any]:
    value = json.loads(row["value"]) if row["value"] else None
    if not row["name"].startswith(_QUESTION) or not isinstance(value, dict):
        return {}
    return {"value": _text(legacy.confirmation(value))}


def _rewrite(
    name: str,
    columns: tuple[str, ...],
    change: Callable[[dict[str, Any]], dict[str, Any]],
    *,
    key: str = "id",
) -> None:
    """Changes the rows of a table some hundred at a time, whatever their number."""
    table = sa.table(name, sa.column(key), *map(sa.column, columns))
    connection, where = op.get_bind(), sa.column(key) == sa.bindparam("row_key")
    for rows in _batches(connection, table, key):
        changed = [{"row_key": row[key], **new} for row in rows if (new := change(row))]
        if changed:
            values: dict[str, Any] = {column: sa.bindparam(column) for column in columns}
            connection.execute(sa.update(table).where(where).values(values), changed)


def _batches(
    connection: sa.Connection, table: sa.TableClause, key: str
) -> Iterator[list[dict[str, Any]]]:
    last: Any = None
    while True:
        chosen = sa.select(table).order_by(table.c[key]).limit(_BATCH)
        if last is not None:
            chosen = chosen.where(table.c[key] > last)
        rows = [dict(row) for row in connection.execute(chosen).mappings()]
        if not rows:
            return
        yield rows
        last = rows[-1][key]


def _text(value: Any) -> str:
    """JSON in characters that any database stores."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
