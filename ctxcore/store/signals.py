"""Stores forgetting signals, and what people say of them: whether they are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, distinct, func, select, update
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from ctxcore.signals.values import tells_of_forgetting
from ctxcore.store.database import Area
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import dump_signal, to_signal_info
from ctxcore.store.scopes import covered_by
from ctxcore.store.values import Scope, SignalCounts, SignalInfo
from ctxcore.tables import CALL, SESSION, SIGNAL


class Signals(Area):
    """The forgetting signals of sessions."""

    def record_signals(self, signals: Sequence[SignalInfo]) -> None:
        if not signals:
            return
        with self._database.write() as connection:
            is_postgres = connection.dialect.name == "postgresql"
            new = insert_postgres(SIGNAL) if is_postgres else insert_sqlite(SIGNAL)
            # A turn that is resumed looks at its messages anew.
            connection.execute(new.on_conflict_do_nothing(), [*map(dump_signal, signals)])

    def signals(self, session_id: str) -> list[SignalInfo]:
        found = select(SIGNAL).where(SIGNAL.c.session_id == session_id)
        return self._list(found.order_by(SIGNAL.c.seq, SIGNAL.c.id), to_signal_info)

    def judge_signal(
        self, session_id: str, signal_id: int, *, is_right: bool | None, at: datetime
    ) -> SignalInfo:
        own = (SIGNAL.c.session_id == session_id) & (SIGNAL.c.id == signal_id)
        judged = {"is_right": is_right, "judged_at": None if is_right is None else at}
        with self._database.write() as connection:
            connection.execute(update(SIGNAL).where(own), judged)
            row = connection.execute(select(SIGNAL).where(own)).mappings().first()
        if row is None:
            raise RecordNotFoundError(kind="signal", record_id=signal_id)
        return to_signal_info(row)

    def signal_counts(self, scope: Scope) -> list[SignalCounts]:
        covered = covered_by(scope, model=SESSION.c.model)
        present = and_(SESSION.c.deleted_at.is_(None), *covered)
        turns = (
            select(CALL.c.policy_version_id, func.count(distinct(CALL.c.turn_id)))
            .join(SESSION, SESSION.c.id == CALL.c.session_id)
            .where(present, CALL.c.turn_id.is_not(None))
            .group_by(CALL.c.policy_version_id)
        )
        columns = (SIGNAL.c.policy_version_id, SIGNAL.c.verdict, SIGNAL.c.is_right)
        signals = (
            select(*columns, func.count().label("count"))
            .join(SESSION, SESSION.c.id == SIGNAL.c.session_id)
            .where(present)
            .group_by(*columns)
        )
        with self._database.read() as connection:
            made = _by_version(connection, turns)
            forgetful = _by_version(connection, _forgetful_turns(present))
            rows = connection.execute(signals).all()
        versions = sorted(
            {*made, *(row.policy_version_id for row in rows)}, key=lambda id_: id_ or 0
        )
        return [
            SignalCounts(
                policy_version_id=version,
                turns=made.get(version, 0),
                forgetful_turns=forgetful.get(version, 0),
                **_counts(_of_version(rows, version)),
            )
            for version in versions
        ]


def _forgetful_turns(present: ColumnElement[bool]) -> Select[Any]:
    """Messages by version that a signal of forgetting is about, unless all were dismissed."""
    hidden = SIGNAL.c.verdict != "kept"  # as `tells_of_forgetting`; null is no match
    found = (
        select(SIGNAL.c.policy_version_id, SIGNAL.c.session_id, SIGNAL.c.seq)
        .distinct()
        .join(SESSION, SESSION.c.id == SIGNAL.c.session_id)
        .where(present, hidden, SIGNAL.c.is_right.is_not(False))
        .subquery()
    )
    return select(found.c.policy_version_id, func.count()).group_by(found.c.policy_version_id)


def _by_version(connection: Connection, counted: Select[Any]) -> dict[int | None, int]:
    return {row[0]: row[1] for row in connection.execute(counted)}


def _of_version(rows: Sequence[Any], version: int | None) -> list[Any]:
    return [row for row in rows if row.policy_version_id == version]


def _counts(rows: Sequence[Any]) -> Counter[str]:
    """The numbers of signals by field of `SignalCounts`."""
    counted = Counter[str]()
    for row in rows:
        counted["forgotten"] += row.count if tells_of_forgetting(row.verdict) else 0
        counted["overlooked"] += row.count if row.verdict == "kept" else 0
        counted["unplaced"] += row.count if row.verdict is None else 0
        counted["right"] += row.count if row.is_right is True else 0
        counted["wrong"] += row.count if row.is_right is False else 0
    return counted
