"""Finds and deletes the stored sessions that nobody changed for as long as their policy says.

Deleting only hides a session; it is erased when it was deleted long enough ago.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ctxcore.engine.policies import merge_layers
from ctxcore.plain import Plain
from ctxcore.policy.layers import Layer
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Scope, SessionConditions, SessionInfo

FIELD = "delete_after_days"
_PAGE = 500  # sessions read at a time

Limits = Mapping[Scope, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSession(Plain):
    """A session to delete, and after how many days without a change."""

    session: SessionInfo
    days: int


def stored_limits(store: SessionStore) -> dict[Scope, int | None]:
    """The days that stored policies set, by scope; None: never."""
    found: dict[Scope, int | None] = {}
    for version in store.all_policies():
        if FIELD in version.overrides:
            days = version.overrides[FIELD]
            found[version.scope] = days if isinstance(days, int) else None
    return found


def due_sessions(
    store: SessionStore,
    limits: Limits,
    layers: Sequence[Layer],
    *,
    now: datetime,
    user_id: str | None = None,
    default_model: str | None = None,
) -> list[DueSession]:
    """The sessions of one user or of all that are to be deleted now, the newest first."""
    common = merge_layers((), {}, outer=layers).policy.delete_after_days
    days = [value for value in (*limits.values(), common) if value is not None]
    if not days:
        return []
    groups = {user.id: user.group for user in store.list_users()}
    found: list[DueSession] = []
    for session in _older_than(store, now - timedelta(days=min(days)), user_id):
        chain = _chain(session, groups.get(session.user_id, ""), default_model)
        limit = next((limits[scope] for scope in chain if scope in limits), common)
        changed_at = max(session.updated_at, session.created_at)  # imports keep their old times
        if limit is not None and changed_at <= now - timedelta(days=limit):
            found.append(DueSession(session=session, days=limit))
    return found


def _older_than(store: SessionStore, at: datetime, user_id: str | None) -> Iterator[SessionInfo]:
    where, offset = SessionConditions(changed_before=at), 0
    while page := store.list_sessions(user_id, where=where, limit=_PAGE, offset=offset):
        yield from page
        offset += len(page)


def _chain(session: SessionInfo, group: str, default_model: str | None) -> tuple[Scope, ...]:
    """The scopes of a session's policy, narrowest first."""
    owner, model = session.user_id, session.model or default_model or ""
    return (
        Scope(kind="session", owner=session.id),
        Scope(kind="user_model", owner=owner, model=model),
        Scope(kind="user", owner=owner),
        Scope(kind="group", owner=group),
        Scope(),
    )
