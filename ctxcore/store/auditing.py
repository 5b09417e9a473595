"""Stores roles, and who read what another said: records that are only added.

No record has a foreign key: it stays when the session or the user it names is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from ctxcore.store.database import Area, lock_name
from ctxcore.store.errors import LastOperatorError, RecordNotFoundError
from ctxcore.store.values import AuditEntry, AuditRecord, UserInfo
from ctxcore.tables import AUDIT, USER

_NAMES = tuple(field.name for field in fields(AuditEntry))


class Auditing(Area):
    """Roles of users, and the records of reading and of roles."""

    def set_roles(self, entry: AuditEntry, *, keeps_operator: bool = True) -> UserInfo:
        given = {"is_operator": bool(entry.is_operator), "is_auditor": bool(entry.is_auditor)}
        own = USER.c.id == entry.owner_id
        with self._database.write() as connection:
            lock_name(connection, "roles")
            before = connection.execute(select(USER).where(own)).mappings().first()
            if before is None:
                raise RecordNotFoundError(kind="user", record_id=entry.owner_id or "")
            if {name: before[name] for name in given} != given:
                if keeps_operator and before["is_operator"] and not given["is_operator"]:
                    _check_another(connection, str(entry.owner_id))
                connection.execute(update(USER).where(own), given)
                _add(connection, [entry])
            return UserInfo(**{**before, **given})

    def record_audit(self, entries: Sequence[AuditEntry]) -> None:
        if entries:
            with self._database.write() as connection:
                _add(connection, entries)

    def audit_records(
        self, *, concerning: str | None = None, limit: int = 200, before_id: int | None = None
    ) -> list[AuditRecord]:
        found = select(AUDIT)
        if concerning is not None:
            found = found.where(_concerns(concerning))
        if before_id is not None:
            found = found.where(AUDIT.c.id < before_id)
        newest = found.order_by(AUDIT.c.id.desc()).limit(limit)
        return self._list(newest, lambda row: AuditRecord(**row))

    def purge_audit(self, *, before: datetime) -> int:
        with self._database.write() as connection:
            return connection.execute(delete(AUDIT).where(AUDIT.c.created_at < before)).rowcount


def _concerns(user_id: str) -> ColumnElement[bool]:
    """Whether a record is of what the user owns, or of a copy of everything."""
    return or_(AUDIT.c.owner_id == user_id, AUDIT.c.owner_id.is_(None))


def _check_another(connection: Connection, user_id: str) -> None:
    others = select(USER.c.id).where(USER.c.is_operator.is_(True), USER.c.id != user_id)
    if connection.execute(others.limit(1)).first() is None:
        raise LastOperatorError(user_id=user_id)


def _add(connection: Connection, entries: Sequence[AuditEntry]) -> None:
    rows = [{name: getattr(entry, name) for name in _NAMES} for entry in entries]
    connection.execute(insert(AUDIT), rows)
