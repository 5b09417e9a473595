"""Reasons as codes with facts, where earlier releases stored English sentences.

The trigger and the reason of a compaction stand in its body alone. What nobody recognises is kept
as it was, under the code `legacy`; a cell that is damaged stays damaged, and stops nobody else.

Revision 0004, after 0003.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    with _any_bytes(op.get_bind()):
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


@contextmanager
def _any_bytes(connection: sa.Connection) -> Iterator[None]:
    """Reads texts that are no UTF-8, which SQLite may hold and its driver refuses."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    before = driver.text_factory
    driver.text_factory = lambda told: told.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        driver.text_factory = before


def _compaction(row: dict[str, Any]) -> dict[str, Any]:
    body, details = _read(row["body"]), _read(row["details"])
    told = details if isinstance(details, dict) else {}
    made: dict[str, Any] = {}
    if isinstance(body, dict):
        made["body"] = _text(legacy.record(body, told))
    if isinstance(details, dict):
        made["details"] = _text(legacy.details(details))
    return made


def _call(row: dict[str, Any]) -> dict[str, Any]:
    runs, made = _read(row["runs"]), _turn(row)
    if isinstance(runs, list):
        made["runs"] = _text(legacy.runs(runs))
    return made


def _turn(row: dict[str, Any]) -> dict[str, Any]:
    error = row["error"]
    if error is None or _is_reason(_read(error)):  # it was here before, and went back
        return {}
    return {"error": _text(legacy.error(error))}


def _event(row: dict[str, Any]) -> dict[str, Any]:
    body = _read(row["body"])
    return {"body": _text(legacy.event(body))} if isinstance(body, dict) else {}


def _setting(row: dict[str, Any]) -> dict[str, Any]:
    value = _read(row["value"]) if row["name"].startswith(_QUESTION) else None
    return {"value": _text(legacy.confirmation(value))} if isinstance(value, dict) else {}


def _read(stored: Any) -> Any:
    """The JSON of a cell; None where it is damaged, which stops whoever reads that row alone."""
    try:
        return json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        return None


def _is_reason(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() - {"code", "facts"}:
        return False
    code = value.get("code")
    is_code = isinstance(code, str) and ("." in code or code in (legacy.LEGACY, "text"))
    return is_code and isinstance(value.get("facts", {}), dict)


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
        changed: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for row in rows:
            if new := change(row):
                changed.setdefault(tuple(new), []).append({"row_key": row[key], **new})
        for names, told in changed.items():
            values: dict[str, Any] = {column: sa.bindparam(column) for column in names}
            connection.execute(sa.update(table).where(where).values(values), told)


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
