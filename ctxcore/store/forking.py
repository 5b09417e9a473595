"""Owns copying the beginning of a session into a new one: whole blocks, and what belongs to them.

Messages, sizes and words are copied inside the database. Turns, calls and events stay with the
parent: they tell what happened there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, func, insert, literal, select, update

from ctxcore.store.dialects import index_sql
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import dump_compaction, load_compaction
from ctxcore.store.sessions import insert_session
from ctxcore.tables import COMPACTION, MARK, MESSAGE, MESSAGE_TOKENS, POLICY, SESSION


def block_end(connection: Connection, session: RowMapping, seq: int) -> int:
    """The last message of the block that message `seq` lies in.

    Raises:
        RecordNotFoundError: the session has no such message.
    """
    if not 0 < seq <= session["length"]:
        raise RecordNotFoundError(kind="message", record_id=seq)
    of_session = MESSAGE.c.session_id == session["id"]
    block = select(MESSAGE.c.block).where(of_session, MESSAGE.c.seq == seq).scalar_subquery()
    behind = select(MESSAGE.c.seq).where(of_session, MESSAGE.c.seq > seq, MESSAGE.c.block != block)
    found = connection.execute(behind.order_by(MESSAGE.c.seq).limit(1)).scalar()
    return int(session["length"] if found is None else found - 1)


def copy_session(
    connection: Connection,
    session: RowMapping,
    end: int,
    *,
    new: Mapping[str, Any],
    new_id: Callable[[], str],
    at: datetime,
) -> None:
    """Makes the session `new` with messages 1 … `end` of `session`."""
    copied = {key: session[key] for key in ("user_id", "title", "model", "tools", "working")}
    place = {"parent_id": session["id"], "parent_seq": end, "origin": "fork"}
    insert_session(connection, {**copied, **place, "created_at": at, "updated_at": at, **new})
    ids = {"old_id": session["id"], "new_id": new["id"]}
    for table in (MESSAGE, MESSAGE_TOKENS, MARK):
        _copy_rows(connection, table, end, **ids)
    connection.execute(index_sql(connection, "copy"), ids)
    _copy_policy(connection, at=at, **ids)
    active = _copy_compactions(connection, session, end, new["id"], new_id)
    head = _head(connection, session, end)
    changed = {**head, "active_compaction_id": active}
    connection.execute(update(SESSION).where(SESSION.c.id == new["id"]), changed)


def _copy_rows(connection: Connection, table: Table, end: int, *, old_id: str, new_id: str) -> None:
    """Copies the rows of `table` up to message `end`; turns stay with the parent."""
    names = [column.name for column in table.columns if column.name != "id"]
    values: dict[str, str | None] = {"session_id": new_id, "turn_id": None}
    picked = [
        literal(values[name], table.c[name].type) if name in values else table.c[name]
        for name in names
    ]
    rows = select(*picked).where(table.c.session_id == old_id, table.c.seq <= end)
    connection.execute(insert(table).from_select(names, rows.order_by(table.c.seq)))


def _copy_policy(connection: Connection, *, old_id: str, new_id: str, at: datetime) -> None:
    is_its_own = (POLICY.c.scope == "session") & (POLICY.c.owner == old_id)
    newest = select(POLICY).where(is_its_own).order_by(POLICY.c.version.desc()).limit(1)
    row = connection.execute(newest).mappings().first()
    if row is not None:
        kept = {key: value for key, value in row.items() if key != "id"}
        connection.execute(
            insert(POLICY), {**kept, "owner": new_id, "version": 1, "created_at": at}
        )


def _copy_compactions(
    connection: Connection,
    session: RowMapping,
    end: int,
    to_id: str,
    new_id: Callable[[], str],
) -> str | None:
    """Copies the records behind the active one that cover no more than `end`; the newest's id."""
    of_session = select(COMPACTION).where(COMPACTION.c.session_id == session["id"])
    by_id = {row["id"]: row for row in connection.execute(of_session).mappings()}
    chain, at = [], by_id.get(session["active_compaction_id"])
    while at is not None:
        chain.append(at)
        at = by_id.get(at["parent_id"])
    parent: str | None = None
    fitting = [row for row in reversed(chain) if row["covered_until"] <= end]
    for number, row in enumerate(fitting, start=1):
        copied = {"id": new_id(), "session_id": to_id, "number": number, "parent_id": parent}
        connection.execute(insert(COMPACTION), {**row, "body": _bounded(row, end), **copied})
        parent = str(copied["id"])
    return parent


def _bounded(row: RowMapping, end: int) -> str:
    """A compaction's body without the texts for tool outputs that were not copied."""
    record = load_compaction(row["body"], session_id=row["session_id"], compaction_id=row["id"])
    shortened = tuple(pair for pair in record.shortened if pair[0] <= end)
    return dump_compaction(replace(record, shortened=shortened))


def _head(connection: Connection, session: RowMapping, end: int) -> dict[str, Any]:
    """The columns that describe a history which ends at `end`."""
    of_session = MESSAGE.c.session_id == session["id"]
    last = select(MESSAGE.c.block).where(of_session, MESSAGE.c.seq == end)
    users = select(func.max(MESSAGE.c.seq)).where(
        of_session, MESSAGE.c.seq <= end, MESSAGE.c.role == "user"
    )
    goal = session["goal_seq"]
    return {
        "length": end,
        "head_seq": connection.execute(last).scalar_one(),
        "goal_seq": goal if goal is not None and goal <= end else None,
        "last_user_seq": connection.execute(users).scalar(),
        "system_seqs": [seq for seq in session["system_seqs"] if seq <= end],
        "counter_id": session["counter_id"],
        "indexed_until": min(end, session["indexed_until"]),
    }
