"""Owns what people change about policies: every save is a new version, none is ever changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Connection, Select, bindparam, func, insert, select, tuple_

from ctxcore.messages.values import JsonObject
from ctxcore.store.area import Area
from ctxcore.store.dialects import lock_name
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import to_policy_version
from ctxcore.store.values import PolicyVersion, Scope
from ctxcore.tables import POLICY

_Key: TypeAlias = tuple[str, str, str]

_OTHER = POLICY.alias()
_OF_ALL = select(POLICY).where(
    POLICY.c.version
    == select(func.max(_OTHER.c.version))
    .where(
        _OTHER.c.scope == POLICY.c.scope,
        _OTHER.c.owner == POLICY.c.owner,
        _OTHER.c.model == POLICY.c.model,
    )
    .scalar_subquery(),
)
_ALL = _OF_ALL.order_by(POLICY.c.scope, POLICY.c.owner, POLICY.c.model)
_NEWEST = _OF_ALL.where(
    tuple_(POLICY.c.scope, POLICY.c.owner, POLICY.c.model).in_(bindparam("scopes", expanding=True)),
)


class Policies(Area):
    """Versions of what each scope changes about its policy."""

    def save_policy(
        self, scope: Scope, overrides: JsonObject, *, by: str, at: datetime
    ) -> PolicyVersion:
        (version,) = self.save_policies([scope], overrides, by=by, at=at)
        return version

    def save_policies(
        self, scopes: Sequence[Scope], overrides: JsonObject, *, by: str, at: datetime
    ) -> list[PolicyVersion]:
        keys = sorted({_key(scope) for scope in scopes})  # in one order: savers cannot deadlock
        if not keys:
            return []
        with self._database.write() as connection:
            for key in keys:
                lock_name(connection, f"policy:{':'.join(key)}")
            found = {_key(one.scope): one.version for one in _newest(connection, keys)}
            rows = [
                {
                    "scope": key[0],
                    "owner": key[1],
                    "model": key[2],
                    "version": found.get(key, 0) + 1,
                    "body": overrides,
                    "created_by": by,
                    "created_at": at,
                }
                for key in keys
            ]
            connection.execute(insert(POLICY), rows)
            saved = {_key(one.scope): one for one in _newest(connection, keys)}
        return [saved[_key(scope)] for scope in scopes]

    def policy(self, scope: Scope) -> PolicyVersion | None:
        return self._first(_versions(scope).limit(1), to_policy_version)

    def policies(self, scopes: Sequence[Scope]) -> list[PolicyVersion | None]:
        keys = [_key(scope) for scope in scopes]
        newest = self._list(_NEWEST, to_policy_version, scopes=keys) if keys else []
        found = {version.scope: version for version in newest}
        return [found.get(scope) for scope in scopes]

    def all_policies(self) -> list[PolicyVersion]:
        return self._list(_ALL, to_policy_version)

    def policy_versions(self, scope: Scope) -> list[PolicyVersion]:
        return self._list(_versions(scope), to_policy_version)

    def policy_version(self, version_id: int) -> PolicyVersion:
        found = self._first(select(POLICY).where(POLICY.c.id == version_id), to_policy_version)
        if found is None:
            raise RecordNotFoundError(kind="policy version", record_id=version_id)
        return found


def _newest(connection: Connection, keys: Sequence[_Key]) -> list[PolicyVersion]:
    rows = connection.execute(_NEWEST, {"scopes": keys}).mappings()
    return [to_policy_version(row) for row in rows]


def _key(scope: Scope) -> _Key:
    return scope.kind, scope.owner, scope.model


def _versions(scope: Scope) -> Select[Any]:
    is_its = (POLICY.c.scope == scope.kind) & (POLICY.c.owner == scope.owner)
    of_model = POLICY.c.model == scope.model
    return select(POLICY).where(is_its, of_model).order_by(POLICY.c.version.desc())
