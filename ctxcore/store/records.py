"""Stores what is recorded beside histories: compactions, marks, events and policies.

Compactions form a tree by their parents; the session points at the active one, and undo and redo
only move that pointer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.appending import get_session
from ctxcore.store.database import Area, lock_name
from ctxcore.store.errors import RecordNotFoundError, StaleCompactionError
from ctxcore.store.rows import dump_compaction, to_compaction_info, to_policy_version
from ctxcore.store.values import (
    CompactionInfo,
    Event,
    ImportedCompaction,
    Mark,
    MarkKind,
    PolicyVersion,
    Scope,
)
from ctxcore.tables import (
    COMPACTION,
    EVENT,
    IMPORTED_COMPACTION,
    MARK,
    POLICY,
    SESSION,
    SETTING,
)

_COPIED = ("covered_until", "summary_tokens", "before_tokens", "after_tokens", "facts_lost")
"""The columns that repeat a field of the body, for queries."""


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
        has_failed: bool | None = None,
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
                "number": next_number(connection, COMPACTION, session_id),
                "parent_id": parent_id,
                "body": dump_compaction(compaction),
                "policy_version_id": policy_version_id,
                "details": details or {},
                "created_at": at,
                "has_failed": has_failed,
                **{name: getattr(compaction, name) for name in _COPIED},
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
        active = self._first(_ACTIVE, to_compaction_info, heals=True, session_id=session_id)
        return active if active is None or active.damage is None else self._as_before(active)

    def _as_before(self, damaged: CompactionInfo) -> CompactionInfo:
        """A damaged compaction with what the one before it covers, so that a chat can go on."""
        known = {info.id: info for info in self.compactions(damaged.session_id)}
        found: CompactionInfo | None = damaged
        while found is not None and found.damage is not None:
            found = known.get(found.parent_id or "")
        return damaged if found is None else replace(damaged, compaction=found.compaction)

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
            # Only later ones can be made from it, so that mostly no row is read.
            later = (COMPACTION.c.session_id == session_id) & (COMPACTION.c.number > number)
            children = select(COMPACTION).where(later, COMPACTION.c.parent_id == active_id)
            newest = children.order_by(COMPACTION.c.number.desc()).limit(1)
            row = connection.execute(newest).mappings().first()
        return None if row is None else to_compaction_info(row)

    def compactions(self, session_id: str) -> list[CompactionInfo]:
        found = select(COMPACTION).where(COMPACTION.c.session_id == session_id)
        return self._list(found.order_by(COMPACTION.c.number), to_compaction_info, heals=True)

    def record_imported_compactions(
        self, session_id: str, compactions: Sequence[ImportedCompaction]
    ) -> None:
        rows = [asdict(compaction) for compaction in compactions]
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            if rows:
                new = insert(IMPORTED_COMPACTION).values(session_id=session_id)
                connection.execute(new, rows)

    def imported_compactions(self, session_id: str) -> list[ImportedCompaction]:
        columns = [IMPORTED_COMPACTION.c[known.name] for known in fields(ImportedCompaction)]
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
            return Mark(**row)

    def clear_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> bool:
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            is_set = (MARK.c.session_id == session_id) & MARK.c.cleared_at.is_(None)
            changed = update(MARK).where(is_set, MARK.c.seq == seq, MARK.c.kind == kind)
            return connection.execute(changed, {"cleared_at": at}).rowcount > 0

    def marks(self, session_id: str, *, with_cleared: bool = False) -> list[Mark]:
        every = select(MARK).where(MARK.c.session_id == session_id)
        found = every if with_cleared else _set_marks(session_id)
        return self._list(found.order_by(MARK.c.seq, MARK.c.id), lambda row: Mark(**row))


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


def next_number(connection: Connection, table: Table, session_id: str) -> int:
    """The number of the next row of `table` in a session, from 1."""
    last = select(func.max(table.c.number)).where(table.c.session_id == session_id)
    return int(connection.execute(last).scalar() or 0) + 1


def _point_at(
    connection: Connection, session_id: str, compaction_id: str | None, at: datetime
) -> None:
    moved = update(SESSION).where(SESSION.c.id == session_id)
    # What was recalled stood behind the prefix that is no more.
    changed = {"active_compaction_id": compaction_id, "updated_at": at, "recalls": None}
    connection.execute(moved, changed)


_SETTINGS = select(SETTING).where(SETTING.c.name.in_(bindparam("names", expanding=True)))
_ACTIVE = (
    select(COMPACTION)
    .join(SESSION, SESSION.c.active_compaction_id == COMPACTION.c.id)
    .where(SESSION.c.id == bindparam("session_id"))
)


class Journal(Area):
    """Events and settings."""

    def setting(self, name: str) -> JsonValue:
        return self.settings([name]).get(name)

    def settings(self, names: Collection[str]) -> dict[str, JsonValue]:
        found = self._list(_SETTINGS, dict, names=list(names))
        return {row["name"]: row["value"] for row in found}

    def save_setting(self, name: str, value: JsonValue) -> None:
        with self._database.write() as connection:
            write_setting(connection, name, value)

    def record_event(
        self, session_id: str | None, kind: str, body: JsonObject, *, at: datetime
    ) -> Event:
        row = {"session_id": session_id, "kind": kind, "body": body, "created_at": at}
        with self._database.write() as connection:
            added = connection.execute(insert(EVENT), row).inserted_primary_key
            found = select(EVENT).where(EVENT.c.id == (added[0] if added else None))
            return Event(**connection.execute(found).mappings().one())

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
        return self._list(found.order_by(EVENT.c.id).limit(limit), lambda row: Event(**row))

    def last_events(
        self, session_id: str, kinds: Sequence[str], *, limit: int = 100
    ) -> list[Event]:
        found = select(EVENT).where(EVENT.c.session_id == session_id, EVENT.c.kind.in_(kinds))
        return self._list(found.order_by(EVENT.c.id.desc()).limit(limit), lambda row: Event(**row))


def write_setting(connection: Connection, name: str, value: JsonValue) -> None:
    """Sets a setting; None removes it."""
    lock_name(connection, f"setting:{name}")
    connection.execute(delete(SETTING).where(SETTING.c.name == name))
    if value is not None:
        connection.execute(insert(SETTING), {"name": name, "value": value})


_SCOPE = (POLICY.c.scope, POLICY.c.owner, POLICY.c.model)
_key_of = attrgetter("kind", "owner", "model")  # of a scope, in the order of these columns
_OTHER = POLICY.alias()
_OF_ALL = select(POLICY).where(
    POLICY.c.version
    == select(func.max(_OTHER.c.version))
    .where(*(_OTHER.c[column.name] == column for column in _SCOPE))
    .scalar_subquery(),
)
_NEWEST = _OF_ALL.where(tuple_(*_SCOPE).in_(bindparam("scopes", expanding=True)))


class Policies(Area):
    """Versions of what each scope changes about its policy."""

    def save_policy(
        self, scope: Scope, overrides: JsonObject, *, by: str, at: datetime
    ) -> PolicyVersion:
        (version,) = self.save_policies({scope: overrides}, by=by, at=at)
        return version

    def save_policies(
        self, overrides: Mapping[Scope, JsonObject], *, by: str, at: datetime
    ) -> list[PolicyVersion]:
        bodies = {_key_of(scope): body for scope, body in overrides.items()}
        keys = sorted(bodies)  # in one order: savers cannot deadlock
        if not keys:
            return []
        with self._database.write() as connection:
            for key in keys:
                lock_name(connection, f"policy:{':'.join(key)}")
            known = {_key_of(found.scope): found.version for found in _newest(connection, keys)}
            new = {"created_by": by, "created_at": at}
            rows = [
                {
                    **new,
                    "body": bodies[kind, owner, model],
                    "scope": kind,
                    "owner": owner,
                    "model": model,
                    "version": known.get((kind, owner, model), 0) + 1,
                }
                for kind, owner, model in keys
            ]
            connection.execute(insert(POLICY), rows)
            saved = {version.scope: version for version in _newest(connection, keys)}
        return [saved[scope] for scope in overrides]

    def policy(self, scope: Scope) -> PolicyVersion | None:
        return self._first(_versions(scope).limit(1), to_policy_version)

    def policies(self, scopes: Sequence[Scope]) -> list[PolicyVersion | None]:
        keys = list(map(_key_of, scopes))
        newest = self._list(_NEWEST, to_policy_version, scopes=keys) if keys else []
        found = {version.scope: version for version in newest}
        return [found.get(scope) for scope in scopes]

    def all_policies(self) -> list[PolicyVersion]:
        return self._list(_OF_ALL.order_by(*_SCOPE), to_policy_version)

    def policy_versions(self, scope: Scope) -> list[PolicyVersion]:
        return self._list(_versions(scope), to_policy_version)

    def policy_version(self, version_id: int) -> PolicyVersion:
        found = self._first(select(POLICY).where(POLICY.c.id == version_id), to_policy_version)
        if found is None:
            raise RecordNotFoundError(kind="policy version", record_id=version_id)
        return found


def _newest(connection: Connection, keys: Sequence[tuple[str, str, str]]) -> list[PolicyVersion]:
    rows = connection.execute(_NEWEST, {"scopes": keys}).mappings()
    return [to_policy_version(row) for row in rows]


def _versions(scope: Scope) -> Select[Any]:
    found = select(POLICY).filter_by(scope=scope.kind, owner=scope.owner, model=scope.model)
    return found.order_by(POLICY.c.version.desc())
