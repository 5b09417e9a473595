"""Owns events, leases and settings: what happened, who is at something, what is kept by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.area import Area
from ctxcore.store.dialects import lock_name
from ctxcore.store.rows import to_event
from ctxcore.store.values import Event
from ctxcore.tables import EVENT, LEASE, SETTING, UtcTime

# One statement, so that of two who ask at once only one gets it; both databases know this form.
_TAKE = text(
    "INSERT INTO lease (name, owner, expires_at) VALUES (:name, :owner, :expires_at)"
    " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at"
    " WHERE lease.owner = excluded.owner OR lease.expires_at <= :at"
).bindparams(bindparam("expires_at", type_=UtcTime()), bindparam("at", type_=UtcTime()))


class Journal(Area):
    """Events, leases and settings."""

    def setting(self, name: str) -> JsonValue:
        found = self._list(select(SETTING).where(SETTING.c.name == name), dict)
        return found[0]["value"] if found else None

    def save_setting(self, name: str, value: JsonValue) -> None:
        with self._database.write() as connection:
            lock_name(connection, f"setting:{name}")
            connection.execute(delete(SETTING).where(SETTING.c.name == name))
            if value is not None:
                connection.execute(insert(SETTING), {"name": name, "value": value})

    def record_event(
        self, kind: str, body: JsonObject, *, at: datetime, session_id: str | None = None
    ) -> Event:
        row = {"session_id": session_id, "kind": kind, "body": body, "created_at": at}
        with self._database.write() as connection:
            added = connection.execute(insert(EVENT), row).inserted_primary_key
            found = select(EVENT).where(EVENT.c.id == (added[0] if added else None))
            return to_event(connection.execute(found).mappings().one())

    def events(
        self,
        session_id: str | None = None,
        *,
        kind: str | None = None,
        after_id: int = 0,
        limit: int = 1_000,
    ) -> list[Event]:
        found = select(EVENT).where(EVENT.c.id > after_id)
        if session_id is not None:
            found = found.where(EVENT.c.session_id == session_id)
        if kind is not None:
            found = found.where(EVENT.c.kind == kind)
        return self._list(found.order_by(EVENT.c.id).limit(limit), to_event)

    def last_events(
        self, session_id: str, kinds: Sequence[str], *, limit: int = 100
    ) -> list[Event]:
        found = select(EVENT).where(EVENT.c.session_id == session_id, EVENT.c.kind.in_(kinds))
        return self._list(found.order_by(EVENT.c.id.desc()).limit(limit), to_event)

    def acquire_lease(self, name: str, owner: str, *, expires_at: datetime, at: datetime) -> bool:
        with self._database.write() as connection:
            return take(connection, name, owner, expires_at=expires_at, at=at)

    def lease(self, name: str) -> tuple[str, datetime] | None:
        with self._database.read() as connection:
            return find_lease(connection, name)

    def release_lease(self, name: str, owner: str) -> bool:
        with self._database.write() as connection:
            return release(connection, name, owner)


def take(
    connection: Connection, name: str, owner: str, *, expires_at: datetime, at: datetime
) -> bool:
    """Takes a lease that is free, expired or the owner's own."""
    asked = {"name": name, "owner": owner, "expires_at": expires_at, "at": at}
    return connection.execute(_TAKE, asked).rowcount > 0


def release(connection: Connection, name: str, owner: str) -> bool:
    """Gives back a lease of the owner's own."""
    its_own = (LEASE.c.name == name) & (LEASE.c.owner == owner)
    return connection.execute(delete(LEASE).where(its_own)).rowcount > 0


def find_lease(connection: Connection, name: str) -> tuple[str, datetime] | None:
    """Who holds a lease, and until when."""
    found = select(LEASE.c.owner, LEASE.c.expires_at).where(LEASE.c.name == name)
    row = connection.execute(found).first()
    return None if row is None else (row.owner, row.expires_at)
