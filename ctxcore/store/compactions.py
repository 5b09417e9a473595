"""Owns compactions and marks: what an operator decided about a history, never a change of it.

Compactions form a tree by their parents; the session points at the active one, and undo and redo
only move that pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import JsonObject
from ctxcore.store.appending import get_session
from ctxcore.store.area import Area
from ctxcore.store.errors import RecordNotFoundError, StaleCompactionError
from ctxcore.store.rows import dump_compaction, to_compaction_info, to_mark
from ctxcore.store.values import CompactionInfo, ImportedCompaction, Mark, MarkKind
from ctxcore.tables import COMPACTION, IMPORTED_COMPACTION, MARK, SESSION

_COMPACTION_COLUMNS = ("covered_until", "summary_tokens", "before_tokens", "after_tokens")


class Compactions(Area):
    """The compactions and marks of sessions."""

    def record_compaction(
        self,
        session_id: str,
        compaction_id: str,
        compaction: Compaction,
        *,
        parent_id: str | None,
        at: datetime,
        policy_version_id: int | None = None,
        details: JsonObject | None = None,
        activates: bool = True,
    ) -> CompactionInfo:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if activates:
                _expect(session_id, parent_id, session["active_compaction_id"])
            elif parent_id is not None:
                _find(connection, session_id, parent_id)
            row = {
                "id": compaction_id,
                "session_id": session_id,
                "number": _next_number(connection, session_id),
                "parent_id": parent_id,
                "body": dump_compaction(compaction),
                "policy_version_id": policy_version_id,
                "details": details or {},
                "created_at": at,
                "facts_lost": None if (lost := compaction.facts_lost) is None else list(lost),
                **{name: getattr(compaction, name) for name in _COMPACTION_COLUMNS},
            }
            connection.execute(insert(COMPACTION), row)
            if activates:
                _point_at(connection, session_id, compaction_id, at)
            return _find(connection, session_id, compaction_id)

    def activate(
        self, session_id: str, compaction_id: str | None, *, expected: str | None, at: datetime
    ) -> None:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            _expect(session_id, expected, session["active_compaction_id"])
            if compaction_id is not None:
                _find(connection, session_id, compaction_id)
            _point_at(connection, session_id, compaction_id, at)

    def active_compaction(self, session_id: str) -> CompactionInfo | None:
        found = select(COMPACTION).join(SESSION, SESSION.c.active_compaction_id == COMPACTION.c.id)
        return self._first(found.where(SESSION.c.id == session_id), to_compaction_info)

    def compaction(self, session_id: str, compaction_id: str) -> CompactionInfo:
        with self._database.read() as connection:
            return _find(connection, session_id, compaction_id)

    def undone_compaction(self, session_id: str) -> CompactionInfo | None:
        active = select(COMPACTION.c.id, COMPACTION.c.number).join(
            SESSION, SESSION.c.active_compaction_id == COMPACTION.c.id
        )
        with self._database.read() as connection:
            found = connection.execute(active.where(SESSION.c.id == session_id)).first()
            active_id, number = found or (None, 0)
            # Only later ones can be made from it, so that mostly no row is looked at.
            later = (COMPACTION.c.session_id == session_id) & (COMPACTION.c.number > number)
            children = select(COMPACTION).where(later, COMPACTION.c.parent_id == active_id)
            newest = children.order_by(COMPACTION.c.number.desc()).limit(1)
            row = connection.execute(newest).mappings().first()
        return None if row is None else to_compaction_info(row)

    def compactions(self, session_id: str) -> list[CompactionInfo]:
        found = select(COMPACTION).where(COMPACTION.c.session_id == session_id)
        return self._list(found.order_by(COMPACTION.c.number), to_compaction_info)

    def record_imported_compactions(
        self, session_id: str, compactions: Sequence[ImportedCompaction]
    ) -> None:
        names = ImportedCompaction.__dataclass_fields__
        rows = [{name: getattr(found, name) for name in names} for found in compactions]
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            if rows:
                new = insert(IMPORTED_COMPACTION).values(session_id=session_id)
                connection.execute(new, rows)

    def imported_compactions(self, session_id: str) -> list[ImportedCompaction]:
        columns = (IMPORTED_COMPACTION.c[name] for name in ImportedCompaction.__dataclass_fields__)
        found = select(*columns).where(IMPORTED_COMPACTION.c.session_id == session_id)
        ordered = found.order_by(IMPORTED_COMPACTION.c.before_seq, IMPORTED_COMPACTION.c.id)
        return self._list(ordered, lambda row: ImportedCompaction(**row))

    def add_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> Mark:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if not 0 < seq <= session["length"]:
                raise RecordNotFoundError(kind="message", record_id=seq)
            found = _set_marks(session_id).where(MARK.c.seq == seq, MARK.c.kind == kind)
            row = connection.execute(found).mappings().first()
            if row is None:
                new = {"session_id": session_id, "seq": seq, "kind": kind, "set_at": at}
                connection.execute(insert(MARK), {**new, "cleared_at": None})
                row = connection.execute(found).mappings().one()
            return to_mark(row)

    def clear_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> bool:
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            is_set = (MARK.c.session_id == session_id) & MARK.c.cleared_at.is_(None)
            changed = update(MARK).where(is_set, MARK.c.seq == seq, MARK.c.kind == kind)
            return connection.execute(changed, {"cleared_at": at}).rowcount > 0

    def marks(self, session_id: str, *, with_cleared: bool = False) -> list[Mark]:
        found = select(MARK).where(MARK.c.session_id == session_id)
        if not with_cleared:
            found = _set_marks(session_id)
        return self._list(found.order_by(MARK.c.seq, MARK.c.id), to_mark)


def _set_marks(session_id: str) -> Select[Any]:
    return select(MARK).where(MARK.c.session_id == session_id, MARK.c.cleared_at.is_(None))


def _find(connection: Connection, session_id: str, compaction_id: str) -> CompactionInfo:
    found = select(COMPACTION).where(
        COMPACTION.c.session_id == session_id, COMPACTION.c.id == compaction_id
    )
    row = connection.execute(found).mappings().first()
    if row is None:
        raise RecordNotFoundError(kind="compaction", record_id=compaction_id)
    return to_compaction_info(row)


def _expect(session_id: str, expected: str | None, active: str | None) -> None:
    if expected != active:
        raise StaleCompactionError(session_id=session_id, expected=expected, active=active)


def _next_number(connection: Connection, session_id: str) -> int:
    last = select(func.max(COMPACTION.c.number)).where(COMPACTION.c.session_id == session_id)
    return int(connection.execute(last).scalar() or 0) + 1


def _point_at(
    connection: Connection, session_id: str, compaction_id: str | None, at: datetime
) -> None:
    moved = update(SESSION).where(SESSION.c.id == session_id)
    connection.execute(moved, {"active_compaction_id": compaction_id, "updated_at": at})
