"""The users of a store, their roles, what operators see of their sessions, and who read what.

Operators see figures of all; what was said takes the role of an auditor as well, and is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxcore.assembly.records import EMPTY_WORKING_STATE
from ctxcore.engine.asynchronous import async_twin
from ctxcore.engine.errors import RoleError
from ctxcore.engine.services import EngineServices
from ctxcore.reasons.storage_problems import AccessCode, RoleProblem
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import (
    EVERY_SESSION,
    AuditAction,
    AuditEntry,
    AuditRecord,
    SessionConditions,
    SessionFilter,
    SessionInfo,
    UserInfo,
)

_ALL = 1_000_000


class People:
    """The users, as one of them may see them."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
        limit: int = 100,
        offset: int = 0,
    ) -> list[SessionInfo]:
        """The sessions of a user, or of all, the one last changed first.

        An operator who is no auditor gets others' sessions with their figures alone, without
        titles; titles that an auditor gets are recorded. With `title`, sessions whose titles may
        not be read are left out.

        Raises:
            NotAllowedError: they are not the user's own, and this user is no operator.
        """
        whose = self._whose(user_id, title)
        if whose == ():
            return []
        found = self._services.store.list_sessions(
            *whose, listed=listed, title=title, where=where, limit=limit, offset=offset
        )
        return as_seen(self._services, found)

    def count_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
    ) -> int:
        """How many `sessions` there are in all."""
        whose = self._whose(user_id, title)
        if whose == ():
            return 0
        return self._services.store.count_sessions(*whose, listed=listed, title=title, where=where)

    def figures(self, session_id: str) -> SessionInfo:
        """A session with its figures alone, for its owner and operators; nothing is recorded.

        Raises:
            SessionNotFoundError: there is none.
            NotAllowedError: it is another user's, and this user is no operator.
        """
        return without_texts(self._services.figures(session_id))

    def set_roles(self, user_id: str, *, is_operator: bool, is_auditor: bool = False) -> UserInfo:
        """Gives a user roles, recorded; for operators. Only operators can be auditors.

        Raises:
            RecordNotFoundError: there is no such user.
            LastOperatorError: no operator would be left.
            RoleError: the user would get the right to read what others said from themselves.
        """
        services = self._services
        services.require_operator(AccessCode.USERS())
        reads = is_operator and is_auditor
        if reads and user_id == services.user_id and not services.user().is_auditor:
            raise RoleError(problem=RoleProblem.OWN_READING())
        return self._set(self._entry("roles", user_id, is_operator=is_operator, is_auditor=reads))

    def appoint(self, user_id: str, *, is_auditor: bool = False) -> UserInfo:
        """Makes a user an operator, also in a store that has none; recorded.

        Not for a user to ask for: whoever keeps the store calls it, where roles of a login have
        left no operator. Where there is one it is `set_roles`.

        Raises:
            RecordNotFoundError: there is no such user.
            NotAllowedError: there is an operator, and this user is none.
            RoleError: the user would get the right to read what others said from themselves.
        """
        if any(user.is_operator for user in self._services.store.list_users()):
            return self.set_roles(user_id, is_operator=True, is_auditor=is_auditor)
        return self._set(self._entry("roles", user_id, is_operator=True, is_auditor=is_auditor))

    def take_roles(self, *, is_operator: bool, is_auditor: bool = False) -> UserInfo:
        """Gives this engine's user the roles that a login names; creates the user if needed.

        Not for a user to ask for: whoever checked the login calls it. It may leave no operator,
        since the next login can name one.
        """
        services = self._services
        reads = is_operator and is_auditor
        entry = self._entry(
            "login_roles", services.user_id, is_operator=is_operator, is_auditor=reads
        )
        try:
            user = services.store.user(services.user_id)
        except RecordNotFoundError:
            user = services.store.create_user(services.user_id, at=services.clock())
        if (user.is_operator, user.is_auditor) == (entry.is_operator, entry.is_auditor):
            return user
        return self._set(entry, keeps_operator=False)

    def relatives(self, session_id: str) -> list[SessionInfo]:
        """The sessions that forks connect with one, as `sessions` gives them, the oldest first.

        Deleted ones too, and those of others only for operators.
        """
        services = self._services
        services.session(session_id)
        found = services.store.relatives(session_id)
        if not services.user().is_operator:
            found = [one for one in found if one.user_id == services.user_id]
        return as_seen(services, found)

    def rename(self, user_id: str, name: str) -> UserInfo:
        """Changes the name of a user; for operators."""
        self._services.require_operator(AccessCode.USERS())
        return self._services.store.update_user(user_id, name=name.strip() or user_id)

    def group(self, user_id: str, group: str) -> UserInfo:
        """Changes the group whose policy a user has; for operators."""
        self._services.require_operator(AccessCode.USERS())
        return self._services.store.update_user(user_id, group=group.strip())

    def audit(self, *, limit: int = 200, before_id: int | None = None) -> list[AuditRecord]:
        """Who read what others said and set roles, newest first.

        For operators of all; for others what concerns their own sessions and roles.
        """
        services = self._services
        own = None if services.user().is_operator else services.user_id
        return services.store.audit_records(concerning=own, limit=limit, before_id=before_id)

    def names(self, records: Sequence[AuditRecord]) -> dict[str, str]:
        """The names of those whom records of `audit` name, by id."""
        ids = {who for one in records for who in (one.user_id, one.owner_id)}
        return {one.id: one.name for one in self._services.store.list_users() if one.id in ids}

    def _entry(
        self, action: AuditAction, user_id: str, *, is_operator: bool, is_auditor: bool
    ) -> AuditEntry:
        """The record that a user gets roles from this one."""
        return AuditEntry(
            created_at=self._services.clock(),
            user_id=self._services.user_id,
            action=action,
            owner_id=user_id,
            is_operator=is_operator,
            is_auditor=is_auditor,
        )

    def _set(self, entry: AuditEntry, *, keeps_operator: bool = True) -> UserInfo:
        """Saves roles; who may no longer read what others said loses the results of jobs too."""
        store = self._services.store
        user = store.set_roles(entry, keeps_operator=keeps_operator)
        if not user.reads_others:
            for job in store.jobs(user.id, limit=_ALL):
                store.delete_job(job.id)
        return user

    def _whose(self, user_id: str | None, title: str) -> tuple[str | None] | tuple[()]:
        """Whose sessions are listed; empty where none may be."""
        services = self._services
        if user_id == services.user_id:
            return (user_id,)
        services.require_operator(AccessCode.SESSIONS())
        if not title or services.user().reads_others:
            return (user_id,)
        return (services.user_id,) if user_id is None else ()

    # the same for an event loop, each verb in a thread of its own

    asessions = async_twin(sessions)
    acount_sessions = async_twin(count_sessions)
    afigures = async_twin(figures)
    arelatives = async_twin(relatives)
    aset_roles = async_twin(set_roles)
    aappoint = async_twin(appoint)
    atake_roles = async_twin(take_roles)
    arename = async_twin(rename)
    agroup = async_twin(group)
    aaudit = async_twin(audit)
    anames = async_twin(names)


def as_seen(services: EngineServices, found: Sequence[SessionInfo]) -> list[SessionInfo]:
    """Sessions as the user may see them: others' with their figures alone, or recorded."""
    if all(one.user_id == services.user_id for one in found):
        return list(found)
    if services.user().reads_others:
        services.audit.lists(found)
        return list(found)
    return [one if one.user_id == services.user_id else without_texts(one) for one in found]


def without_texts(session: SessionInfo) -> SessionInfo:
    """The figures of a session: without its title, tools, working state and what was recalled."""
    return replace(
        session,
        title="",
        tools=(),
        working=EMPTY_WORKING_STATE,
        system_changes=(),
        recalls=(),
        damage=(),
    )
