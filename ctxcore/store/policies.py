"""Owns what people change about policies: every save is a new version, none is ever changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, func, insert, select, tuple_

from ctxcore.messages.values import JsonObject
from ctxcore.store.area import Area
from ctxcore.store.dialects import lock_name
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import to_policy_version
from ctxcore.store.values import PolicyVersion, Scope
from ctxcore.tables import POLICY

_OTHER = POLICY.alias()
_NEWEST = select(POLICY).where(
    tuple_(POLICY.c.scope, POLICY.c.owner, POLICY.c.model).in_(bindparam("scopes", expanding=True)),
    POLICY.c.version
    == select(func.max(_OTHER.c.version))
    .where(
        _OTHER.c.scope == POLICY.c.scope,
        _OTHER.c.owner == POLICY.c.owner,
        _OTHER.c.model == POLICY.c.model,
    )
    .scalar_subquery(),
)


class Policies(Area):
    """Versions of what each scope changes about its policy."""

    def save_policy(
        self, scope: Scope, overrides: JsonObject, *, by: str, at: datetime
    ) -> PolicyVersion:
        versions = _versions(scope)
        with self._database.write() as connection:
            lock_name(connection, f"policy:{scope.kind}:{scope.owner}:{scope.model}")
            newest = connection.execute(versions).mappings().first()
            row = {
                "scope": scope.kind,
                "owner": scope.owner,
                "model": scope.model,
                "version": newest["version"] + 1 if newest else 1,
                "body": overrides,
                "created_by": by,
                "created_at": at,
            }
            connection.execute(insert(POLICY), row)
            return to_policy_version(connection.execute(versions.limit(1)).mappings().one())

    def policy(self, scope: Scope) -> PolicyVersion | None:
        return self._first(_versions(scope).limit(1), to_policy_version)

    def policies(self, scopes: Sequence[Scope]) -> list[PolicyVersion | None]:
        keys = [(scope.kind, scope.owner, scope.model) for scope in scopes]
        newest = self._list(_NEWEST, to_policy_version, scopes=keys) if keys else []
        found = {version.scope: version for version in newest}
        return [found.get(scope) for scope in scopes]

    def policy_versions(self, scope: Scope) -> list[PolicyVersion]:
        return self._list(_versions(scope), to_policy_version)

    def policy_version(self, version_id: int) -> PolicyVersion:
        found = self._first(select(POLICY).where(POLICY.c.id == version_id), to_policy_version)
        if found is None:
            raise RecordNotFoundError(kind="policy version", record_id=version_id)
        return found


def _versions(scope: Scope) -> Select[Any]:
    is_its = (POLICY.c.scope == scope.kind) & (POLICY.c.owner == scope.owner)
    of_model = POLICY.c.model == scope.model
    return select(POLICY).where(is_its, of_model).order_by(POLICY.c.version.desc())
