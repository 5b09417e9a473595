"""The sessions that the policy of a scope applies to, as conditions of a query."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select

from ctxcore.store.values import Scope
from ctxcore.tables import SESSION, USER


def covered_by(scope: Scope, *, model: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    """The conditions on sessions, and on the model used, that a scope sets; none is staged."""
    is_seen = SESSION.c.staged_at.is_(None)
    if scope.kind == "default":
        return [is_seen]
    if scope.kind == "session":
        return [is_seen, SESSION.c.id == scope.owner]
    if scope.kind == "group":
        members = select(USER.c.id).where(USER.c.group == scope.owner)
        return [is_seen, SESSION.c.user_id.in_(members)]
    own = [is_seen, SESSION.c.user_id == scope.owner]
    return [*own, model == scope.model] if scope.kind == "user_model" else own
