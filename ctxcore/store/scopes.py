"""The sessions that the policy of a scope applies to, as conditions of a query."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select

from ctxcore.store.values import Scope
from ctxcore.tables import SESSION, USER


def covered_by(scope: Scope, *, model: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    """The conditions on sessions, and on the model used, that a scope sets."""
    if scope.kind == "default":
        return []
    if scope.kind == "session":
        return [SESSION.c.id == scope.owner]
    if scope.kind == "group":
        members = select(USER.c.id).where(USER.c.group == scope.owner)
        return [SESSION.c.user_id.in_(members)]
    own = [SESSION.c.user_id == scope.owner]
    return [*own, model == scope.model] if scope.kind == "user_model" else own
