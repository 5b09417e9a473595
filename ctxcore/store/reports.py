"""Sums calls and compactions over sessions, lists changes of policies, keeps spending and alerts.

A scope covers the sessions that its policy applies to. Calls and compactions that a session brought
along, from a file or by a fork, were made elsewhere and are not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from ctxcore.policy.names import renewed
from ctxcore.reasons.problems import ProviderProblem
from ctxcore.reasons.values import Reason, to_json
from ctxcore.store.database import Area
from ctxcore.store.rows import to_alert, to_policy_version
from ctxcore.store.scopes import covered_by
from ctxcore.store.values import Alert, CallTally, CompactionTally, Event, PolicyChange, Scope
from ctxcore.tables import ALERT, CALL, COMPACTION, EVENT, POLICY, SESSION, SPENDING

_SUMMED = (
    "cost",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_hour_tokens",
)


class Reports(Area):
    """What is read over many sessions."""

    def call_tallies(self, scope: Scope) -> list[CallTally]:
        is_refused = CALL.c.error_code == str(ProviderProblem.OVERFLOW)
        is_compared = and_(CALL.c.sent_tokens.is_not(None), CALL.c.without_tokens.is_not(None))
        with self._database.read() as connection:
            groups: list[ColumnElement[Any]] = [
                SESSION.c.user_id,
                CALL.c.policy_version_id,
                _month(connection, CALL.c.created_at).label("month"),
                CALL.c.model,
                CALL.c.purpose,
                CALL.c.cost.is_(None),
                or_(CALL.c.input_tokens.is_(None), CALL.c.output_tokens.is_(None)).label("lacks"),
            ]
            found = (
                select(
                    *groups[:5],
                    groups[6],
                    func.count().label("calls"),
                    *(func.sum(CALL.c[name]).label(name) for name in _SUMMED),
                    func.count(CALL.c.input_tokens).label("input_calls"),
                    _sum_where(CALL.c.cached_tokens.is_not(None), CALL.c.input_tokens).label(
                        "cache_told_tokens"
                    ),
                    _sum_where(is_compared, 1).label("compared_calls"),
                    _sum_where(is_compared, CALL.c.sent_tokens).label("sent_tokens"),
                    _sum_where(is_compared, CALL.c.without_tokens).label("without_tokens"),
                    func.coalesce(func.sum(CALL.c.rewritten_tokens), 0).label("rewritten_tokens"),
                    _sum_where(is_refused, 1).label("refused"),
                )
                .join(SESSION, SESSION.c.id == CALL.c.session_id)
                .where(
                    CALL.c.is_imported.is_(False),
                    CALL.c.created_at >= SESSION.c.created_at,
                    *covered_by(scope, model=CALL.c.model),
                )
                .group_by(*groups)
                .order_by(*groups[:5])
            )
            return [_to_tally(row) for row in connection.execute(found).mappings()]

    def compaction_tallies(self, scope: Scope) -> list[CompactionTally]:
        with self._database.read() as connection:
            groups: list[ColumnElement[Any]] = [
                SESSION.c.user_id,
                COMPACTION.c.policy_version_id,
                _month(connection, COMPACTION.c.created_at).label("month"),
            ]
            found = (
                select(
                    *groups,
                    func.count().label("compactions"),
                    _sum_where(COMPACTION.c.has_failed, 1).label("failed"),
                )
                .join(SESSION, SESSION.c.id == COMPACTION.c.session_id)
                .where(
                    COMPACTION.c.created_at >= SESSION.c.created_at,
                    *covered_by(scope, model=SESSION.c.model),
                )
                .group_by(*groups)
                .order_by(*groups)
            )
            return [CompactionTally(**row) for row in connection.execute(found).mappings()]

    def events_of(self, kind: str, scope: Scope, *, limit: int) -> list[tuple[str, Event]]:
        found = (
            select(SESSION.c.user_id, *EVENT.c)
            .join(SESSION, SESSION.c.id == EVENT.c.session_id)
            .where(EVENT.c.kind == kind, *covered_by(scope, model=SESSION.c.model))
        )
        newest = found.order_by(EVENT.c.id.desc()).limit(limit)
        return self._list(newest, _to_owned)

    def policy_changes(
        self,
        scopes: Sequence[Scope] | None = None,
        *,
        by: str | None = None,
        limit: int = 100,
    ) -> list[PolicyChange]:
        earlier = POLICY.alias("earlier")
        same = [earlier.c[name] == POLICY.c[name] for name in ("scope", "owner", "model")]
        found: Select[Any] = select(*POLICY.c, earlier.c.body.label("before")).outerjoin(
            earlier, and_(*same, earlier.c.version == POLICY.c.version - 1)
        )
        if scopes is not None:
            found = found.where(or_(*(_is_of(scope) for scope in scopes)))
        if by is not None:
            found = found.where(POLICY.c.created_by == by)
        return self._list(found.order_by(POLICY.c.id.desc()).limit(limit), _to_change)

    def policy_authors(self) -> list[str]:
        found = select(POLICY.c.created_by).distinct().order_by(POLICY.c.created_by)
        return self._list(found, lambda row: str(row["created_by"]))

    def spend(
        self, user_id: str, dollars: float, periods: Sequence[str], *, at: datetime
    ) -> dict[str, float]:
        with self._database.write() as connection:
            return {period: _spend(connection, user_id, period, dollars, at) for period in periods}

    def forget_spending(self) -> None:
        with self._database.write() as connection:
            connection.execute(delete(SPENDING))

    def raise_alert(
        self, session_id: str, cause: str, reason: Reason, *, user_id: str, at: datetime
    ) -> Alert | None:
        row = {
            "cause": cause,
            "reason": to_json(reason),
            "user_id": user_id,
            "session_id": session_id,
            "created_at": at,
        }
        with self._database.write() as connection:
            is_postgres = connection.dialect.name == "postgresql"
            new = insert_postgres(ALERT) if is_postgres else insert_sqlite(ALERT)
            once = new.values(**row).on_conflict_do_nothing(index_elements=["cause"])
            raised = connection.execute(once.returning(ALERT)).mappings().one_or_none()
            return to_alert(raised) if raised else None

    def alerts(self, *, unseen: bool = False, limit: int = 200) -> list[Alert]:
        found = select(ALERT)
        if unseen:
            found = found.where(ALERT.c.seen_at.is_(None))
        return self._list(found.order_by(ALERT.c.id.desc()).limit(limit), to_alert)

    def count_unseen_alerts(self) -> int:
        found = select(func.count()).select_from(ALERT).where(ALERT.c.seen_at.is_(None))
        with self._database.read() as connection:
            return int(connection.execute(found).scalar_one())

    def see_alerts(self, alert_ids: Collection[int], *, by: str, at: datetime) -> int:
        seen = update(ALERT).where(ALERT.c.id.in_(alert_ids), ALERT.c.seen_at.is_(None))
        with self._database.write() as connection:
            return connection.execute(seen, {"seen_by": by, "seen_at": at}).rowcount


def _spend(
    connection: Connection, user_id: str, period: str, dollars: float, at: datetime
) -> float:
    """Adds what a call cost to a period; the first time all calls of the period are summed."""
    own = (SPENDING.c.user_id == user_id) & (SPENDING.c.period == period)
    added = update(SPENDING).where(own).values(dollars=SPENDING.c.dollars + dollars)
    known = connection.execute(added.returning(SPENDING.c.dollars)).scalar()
    if known is not None:
        return float(known)
    is_day = period.count("-") == 2
    start = at.replace(day=at.day if is_day else 1, hour=0, minute=0, second=0, microsecond=0)
    spent = (
        select(func.coalesce(func.sum(CALL.c.cost), 0.0))
        .join(SESSION, SESSION.c.id == CALL.c.session_id)
        .where(
            SESSION.c.user_id == user_id,
            CALL.c.is_imported.is_(False),
            CALL.c.created_at >= start,
            CALL.c.created_at >= SESSION.c.created_at,
        )
    )
    total = float(connection.execute(spent).scalar_one())
    row = {"user_id": user_id, "period": period, "dollars": total}
    connection.execute(insert(SPENDING), row)
    return total


def _is_of(scope: Scope) -> ColumnElement[bool]:
    """Whether a version is of `scope`; one without an owner stands for all of its kind."""
    own = [POLICY.c.scope == scope.kind]
    if scope.owner:
        own.append(POLICY.c.owner == scope.owner)
    if scope.model:
        own.append(POLICY.c.model == scope.model)
    return and_(*own)


def _month(connection: Connection, at: ColumnElement[Any]) -> ColumnElement[str]:
    """The month of a time in UTC, e.g. `2026-03`."""
    if connection.dialect.name == "postgresql":
        return func.to_char(func.timezone("UTC", at), "YYYY-MM")
    return func.substr(at, 1, 7)  # what is stored begins so; strftime takes a quarter more in all


def _sum_where(condition: ColumnElement[Any], value: Any) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, value), else_=0)), 0)


def _to_tally(row: RowMapping) -> CallTally:
    values = dict(row)
    if values.pop("lacks"):  # some lack the input, others the output: no cost follows from them
        values |= {"output_tokens": None}
        values["input_tokens"] = values["input_tokens"] if values["input_calls"] else None
    return CallTally(**values)


def _to_owned(row: RowMapping) -> tuple[str, Event]:
    values = dict(row)
    return values.pop("user_id"), Event(**values)


def _to_change(row: RowMapping) -> PolicyChange:
    before, _ = renewed(row["before"] or {})
    return PolicyChange(version=to_policy_version(row), before=before)
