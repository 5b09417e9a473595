"""Stores users and sessions.

Deleting hides a session and can be undone; purging erases it, with its words in the search index.
A staged session is hidden until it is complete; a lease keeps it from being erased meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from ctxcore.assembly.records import Recalls, WorkingState
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.store.appending import Batch, get_session, write_first
from ctxcore.store.database import Area, after_purge, index_sql, lock_name
from ctxcore.store.errors import RecordNotFoundError, SessionNotFoundError
from ctxcore.store.leases import erase_lease, take, turn_lease
from ctxcore.store.records import write_setting
from ctxcore.store.rows import dump_factor, dump_recalls, dump_working, to_session_info
from ctxcore.store.values import (
    BRANCH,
    EVERY_SESSION,
    IMPORTED,
    OWN_ORIGINS,
    Claim,
    SessionConditions,
    SessionFactor,
    SessionFilter,
    SessionInfo,
    SessionStamp,
    Staging,
    UserInfo,
)
from ctxcore.tables import (
    COMPACTION,
    IMPORTED_COMPACTION,
    JOB,
    JOB_SESSION,
    LEASE,
    MARK,
    POLICY,
    SESSION,
    SETTING,
    TURN,
    USER,
    Unreadable,
)
from ctxcore.tokens.families import TokenCounter

_ANY_USER = select(USER.c.id).limit(1)
_USER = select(USER).where(USER.c.id == bindparam("user_id"))
_OF_MARKS = MARK.c.session_id == bindparam("session_id")
_STAMP = select(
    SESSION.c.user_id,
    SESSION.c.updated_at,
    SESSION.c.deleted_at,
    SESSION.c.length,
    SESSION.c.active_compaction_id,
    select(TURN.c.state)
    .where(TURN.c.session_id == bindparam("session_id"))
    .order_by(TURN.c.number.desc())
    .limit(1)
    .scalar_subquery()
    .label("turn_state"),
    select(func.count(MARK.c.set_at)).where(_OF_MARKS).scalar_subquery().label("marks_set"),
    select(func.count(MARK.c.cleared_at)).where(_OF_MARKS).scalar_subquery().label("marks_cleared"),
).where(SESSION.c.id == bindparam("session_id"))
_EMPTY: dict[str, Any] = {
    "deleted_at": None,
    "length": 0,
    "head_seq": 0,
    "goal_seq": None,
    "last_user_seq": None,
    "system_seqs": [],
    "counter_id": None,
    "active_compaction_id": None,
    "indexed_until": 0,
    "working": None,
    "system_changes": None,
    "count_factor": None,
    "recalls": None,
    "rule_edits": None,
    "staged_at": None,
}


_STAGED = "staged:"
_ITS_LEASE = LEASE.c.name == _STAGED + SESSION.c.id


def staging_lease(session_id: str) -> str:
    """The name of the lease of a staged session."""
    return f"{_STAGED}{session_id}"


def is_staging_lease(name: str) -> bool:
    """Whether a lease of this name keeps a staged session."""
    return name.startswith(_STAGED)


def insert_session(connection: Connection, row: dict[str, Any]) -> None:
    """Adds an empty session."""
    connection.execute(insert(SESSION), {**_EMPTY, **row})


class Sessions(Area):
    """Users and their sessions."""

    def create_user(
        self,
        user_id: str,
        *,
        at: datetime,
        name: str = "",
        group: str = "",
        is_operator: bool = False,
        is_auditor: bool = False,
        first_has_roles: bool = False,
    ) -> UserInfo:
        with self._database.write() as connection:
            if first_has_roles:
                lock_name(connection, "first user")
            lock_name(connection, f"user:{user_id}")
            found = select(USER.c.id).where(USER.c.id == user_id)
            if connection.execute(found).first() is None:
                row = {"id": user_id, "name": name or user_id, "group": group}
                roles = {"is_operator": is_operator, "is_auditor": is_auditor}
                if first_has_roles and not connection.execute(_ANY_USER).first():
                    roles = dict.fromkeys(roles, True)
                connection.execute(insert(USER), {**row, **roles, "created_at": at})
        return self.user(user_id)

    def update_user(
        self,
        user_id: str,
        *,
        name: str | None = None,
        group: str | None = None,
        is_operator: bool | None = None,
        is_auditor: bool | None = None,
    ) -> UserInfo:
        roles = {"is_operator": is_operator, "is_auditor": is_auditor}
        given = {"name": name, "group": group, **roles}
        changed = {key: value for key, value in given.items() if value is not None}
        if changed:
            with self._database.write() as connection:
                connection.execute(update(USER).where(USER.c.id == user_id), changed)
        return self.user(user_id)

    def user(self, user_id: str) -> UserInfo:
        found = self._first(_USER, _to_user, user_id=user_id)
        if found is None:
            raise RecordNotFoundError(kind="user", record_id=user_id)
        return found

    def list_users(self) -> list[UserInfo]:
        return self._list(select(USER).order_by(USER.c.name, USER.c.id), _to_user)

    def create_session(
        self,
        session_id: str,
        *,
        user_id: str,
        at: datetime,
        title: str = "",
        model: str | None = None,
        origin: str = "chat",
        tools: Sequence[JsonObject] = (),
        parent_id: str | None = None,
        parent_seq: int | None = None,
        messages: Sequence[Message] = (),
        counter: TokenCounter | None = None,
        staging: Staging | None = None,
    ) -> SessionInfo:
        row = {
            "id": session_id,
            "user_id": user_id,
            "title": title,
            "model": model,
            "origin": origin,
            "tools": list(tools),
            "parent_id": parent_id,
            "parent_seq": parent_seq,
            "created_at": at,
            "updated_at": at,
            "staged_at": at if staging else None,
        }
        with self._database.write() as connection:
            insert_session(connection, row)
            if staging is not None:
                name, until = staging_lease(session_id), staging.lease_until
                claim = Claim(holder=staging.holder)
                take(connection, name, staging.id, expires_at=until, at=at, claim=claim)
            if messages and counter is not None:
                batch = Batch(messages=messages, counter=counter, at=at)
                write_first(connection, session_id, batch)
        return self.session(session_id)

    def session(self, session_id: str) -> SessionInfo:
        with self._database.read() as connection:
            return to_session_info(get_session(connection, session_id))

    def session_stamp(self, session_id: str) -> SessionStamp:
        with self._database.read() as connection:
            found = connection.execute(_STAMP, {"session_id": session_id}).mappings().first()
        if found is None:
            raise SessionNotFoundError(session_id=session_id)
        return SessionStamp(**found)

    def list_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
        limit: int = 100,
        offset: int = 0,
    ) -> list[SessionInfo]:
        filters = [*_filters(user_id, listed, title), *_conditions(where)]
        if listed == "unbranched":
            found = _with_newest_branch(filters)
        else:
            found = select(SESSION).where(*filters)
        page = found.order_by(found.selected_columns.updated_at.desc(), SESSION.c.id)
        return self._list(page.limit(limit).offset(offset), to_session_info, heals=True)

    def session_ids(self, user_id: str | None = None, *, beginning: str = "") -> list[str]:
        own = SESSION.c.id.startswith(beginning, autoescape=True)
        found = select(SESSION.c.id).where(own, *_filters(user_id, "all", ""))
        ids = self._list(found.order_by(SESSION.c.id), lambda row: str(row["id"]))
        return [known for known in ids if known.startswith(beginning)]  # SQLite's LIKE ignores case

    def count_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
    ) -> int:
        filters = [*_filters(user_id, listed, title), *_conditions(where)]
        counted = select(func.count()).select_from(SESSION).where(*filters)
        with self._database.read() as connection:
            return int(connection.execute(counted).scalar_one())

    def rename(self, session_id: str, title: str, *, at: datetime) -> None:
        self._change(session_id, title=title, updated_at=at)

    def set_model(self, session_id: str, model: str | None, *, at: datetime) -> None:
        self._change(session_id, model=model, updated_at=at)

    def set_goal(self, session_id: str, seq: int | None) -> None:
        if seq is not None and not 0 < seq <= self.session(session_id).length:
            raise RecordNotFoundError(kind="message", record_id=seq)
        self._change(session_id, goal_seq=seq)

    def set_working_state(self, session_id: str, working: WorkingState) -> None:
        self._change(session_id, working=dump_working(working))

    def set_tools(self, session_id: str, tools: Sequence[JsonObject], *, at: datetime) -> None:
        self._change(session_id, tools=list(tools), updated_at=at)

    def set_count_factor(self, session_id: str, in_force: SessionFactor) -> None:
        self._change(session_id, count_factor=dump_factor(in_force))

    def set_recalls(self, session_id: str, recalls: Recalls) -> None:
        self._change(session_id, recalls=dump_recalls(recalls))

    def assign(self, session_id: str, user_id: str) -> None:
        self._change(session_id, user_id=user_id)

    def delete(self, session_id: str, *, at: datetime) -> None:
        self._change(session_id, deleted_at=at)

    def restore(self, session_id: str, *, at: datetime | None = None) -> None:
        touched = {} if at is None else {"updated_at": at}
        self._change(session_id, deleted_at=None, **touched)

    def publish(
        self, staging_id: str, session_ids: Collection[str], *, settings: Mapping[str, JsonValue]
    ) -> None:
        ids = func.substr(LEASE.c.name, len(_STAGED) + 1)
        staged = select(ids).where(_staged_as(staging_id))
        with self._database.write() as connection:
            if lost := set(session_ids) - set(connection.execute(staged).scalars()):
                raise SessionNotFoundError(session_id=min(lost))
            shown = update(SESSION).where(SESSION.c.id.in_(staged))
            connection.execute(shown, {"staged_at": None})
            connection.execute(delete(LEASE).where(_staged_as(staging_id)))
            for name, value in settings.items():
                write_setting(connection, name, value)

    def purge_staged(self, *, at: datetime, staging_id: str | None = None) -> list[str]:
        is_left = is_abandoned(at)
        if staging_id is not None:
            is_left = exists().where(_ITS_LEASE, LEASE.c.owner == staging_id)
        found = select(SESSION.c.id).where(SESSION.c.staged_at.is_not(None), is_left)
        return self._purge_found(found)

    def purge(self, session_id: str) -> None:
        self._purge([session_id])

    def purge_deleted(self, *, before: datetime) -> list[str]:
        return self._purge_found(select(SESSION.c.id).where(SESSION.c.deleted_at < before))

    def _purge_found(self, found: Select[Any]) -> list[str]:
        with self._database.read() as connection:
            session_ids = list(connection.execute(found.order_by(SESSION.c.id)).scalars())
        if session_ids:
            self._purge(session_ids)
        return session_ids

    def _purge(self, session_ids: Sequence[str]) -> None:
        with self._database.write() as connection:
            for session_id in session_ids:
                get_session(connection, session_id, locks=True)
                _erase(connection, session_id)
            _forget_imports(connection, session_ids)
            after_purge(connection)
        for cached in (self._database.rule_books, self._database.known_rows):
            cached.forget(session_ids)
        self._database.empty_log()

    def _change(self, session_id: str, **columns: Any) -> None:
        with self._database.write() as connection:
            statement = update(SESSION).where(SESSION.c.id == session_id)
            if connection.execute(statement, columns).rowcount == 0:
                raise SessionNotFoundError(session_id=session_id)


def is_abandoned(at: datetime) -> ColumnElement[bool]:
    """Whether a session was staged and nobody holds its lease any more."""
    is_held = exists().where(_ITS_LEASE, LEASE.c.expires_at > at)
    return SESSION.c.staged_at.is_not(None) & ~is_held


def _staged_as(staging_id: str) -> ColumnElement[bool]:
    """Leases of the sessions that were staged together."""
    return LEASE.c.name.startswith(_STAGED, autoescape=True) & (LEASE.c.owner == staging_id)


def _to_user(row: RowMapping) -> UserInfo:
    return UserInfo(**row)


def _filters(user_id: str | None, listed: SessionFilter, title: str) -> list[Any]:
    filters: list[Any] = [SESSION.c.staged_at.is_(None)]
    if user_id is not None:
        filters.append(SESSION.c.user_id == user_id)
    if listed != "all":
        hidden = SESSION.c.deleted_at.is_not(None)
        filters.append(hidden if listed == "deleted" else ~hidden)
    if listed == "unbranched":
        filters.append(~_is_branch_of_present())
    if title:
        filters.append(SESSION.c.title.icontains(title, autoescape=True))
    return filters


def _conditions(where: SessionConditions) -> Iterator[ColumnElement[bool]]:
    if where.model:
        yield SESSION.c.model.icontains(where.model, autoescape=True)
    if where.changed_from is not None:
        yield SESSION.c.updated_at >= where.changed_from
    if where.changed_before is not None:
        yield SESSION.c.updated_at < where.changed_before
    if where.least_messages:
        yield SESSION.c.length >= where.least_messages
    if where.is_imported is not None:
        own = SESSION.c.origin.in_(OWN_ORIGINS)
        yield ~own if where.is_imported else own
    if where.is_compacted is not None:
        made = exists().where(COMPACTION.c.session_id == SESSION.c.id)
        recorded = exists().where(IMPORTED_COMPACTION.c.session_id == SESSION.c.id)
        yield (made | recorded) if where.is_compacted else ~(made | recorded)


def _with_newest_branch(filters: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The sessions that `filters` let through, changed when they or a branch of them were last."""
    roots = select(SESSION.c.id.label("root_id"), SESSION.c.id, SESSION.c.updated_at)
    line = roots.where(*filters).cte("line", recursive=True)
    below = select(line.c.root_id, SESSION.c.id, SESSION.c.updated_at)
    below = below.join(line, SESSION.c.parent_id == line.c.id)
    line = line.union_all(below.where(SESSION.c.origin == BRANCH, SESSION.c.deleted_at.is_(None)))
    newest = select(line.c.root_id, func.max(line.c.updated_at).label("updated_at"))
    changed = newest.group_by(line.c.root_id).subquery()
    own = (column for column in SESSION.c if column.name != "updated_at")
    found = select(*own, changed.c.updated_at)
    return found.join(changed, changed.c.root_id == SESSION.c.id)


def _is_branch_of_present() -> ColumnElement[bool]:
    parent = SESSION.alias("parent")
    present = (parent.c.id == SESSION.c.parent_id) & parent.c.deleted_at.is_(None)
    return (SESSION.c.origin == BRANCH) & exists().where(present)


def _forget_imports(connection: Connection, session_ids: Sequence[str]) -> None:
    """Takes erased sessions out of the notes of imported files; a note of none goes too."""
    notes = select(SETTING).where(SETTING.c.name.startswith(IMPORTED))
    for note in connection.execute(notes).mappings().all():
        made: dict[str, dict[str, Any]] | Unreadable = note["value"]
        if isinstance(made, Unreadable):
            continue
        kept = {at: one for at, one in made.items() if one["session"] not in session_ids}
        if len(kept) == len(made):
            continue
        is_note = SETTING.c.name == note["name"]
        if kept:
            connection.execute(update(SETTING).where(is_note), {"value": kept})
        else:
            connection.execute(delete(SETTING).where(is_note))


def _erase(connection: Connection, session_id: str) -> None:
    connection.execute(index_sql(connection, "erase"), {"session_id": session_id})
    is_its_own = (POLICY.c.scope == "session") & (POLICY.c.owner == session_id)
    connection.execute(delete(POLICY).where(is_its_own))
    erase_lease(connection, turn_lease(session_id))
    erase_lease(connection, staging_lease(session_id))
    told = select(JOB_SESSION.c.job_id).where(JOB_SESSION.c.session_id == session_id)
    connection.execute(delete(JOB).where(JOB.c.id.in_(told)))
    connection.execute(delete(SESSION).where(SESSION.c.id == session_id))
