"""Stores turns and their model calls.

A session has at most one running turn, held by a lease that expires, so that a crashed process
blocks nobody; its turn is marked as interrupted. Locks are taken in one order: session, lease,
turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    Select,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from ctxcore.assembly.verdicts import Run
from ctxcore.messages.values import Message
from ctxcore.reasons.values import Reason, to_json
from ctxcore.store.appending import Batch, get_session, prepare, write
from ctxcore.store.database import Area
from ctxcore.store.errors import RecordNotFoundError, StaleTurnError
from ctxcore.store.leases import find_lease, release, release_held, take, taken, turn_lease
from ctxcore.store.records import next_number
from ctxcore.store.rows import CALL_COPIES, dump_call, load_call, load_runs, to_turn_info
from ctxcore.store.values import (
    NO_CLAIM,
    BilledCalls,
    CallInfo,
    Claim,
    LeaseInfo,
    TurnInfo,
    TurnState,
)
from ctxcore.tables import CALL, LEASE, SENT_TEXT, TURN
from ctxcore.tokens.families import TokenCounter

_LARGE = ("runs", "recipe")
WITHOUT_RUNS = [column for column in CALL.c if column.name not in (*_LARGE, *CALL_COPIES)]
# The same SQL for both databases; a text that is stored already stays as it is.
_ADD_TEXT = text(
    "INSERT INTO sent_text (session_id, address, body) VALUES (:session_id, :address, :body) "
    "ON CONFLICT (session_id, address) DO NOTHING"
)
_BILLED = (
    "cost",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_hour_tokens",
)
_MAX_IN_LIST = 500  # ids in one IN list, below every database's limit
_ENDED = ("done", "stopped", "failed", "interrupted")


class Turns(Area):
    """The turns and calls of sessions."""

    def begin_turn(
        self,
        session_id: str,
        turn_id: str,
        messages: Sequence[Message],
        *,
        counter: TokenCounter,
        at: datetime,
        lease_until: datetime,
        model: str | None = None,
        oversize_tokens: int | None = None,
        system: str | None = None,
        claim: Claim = NO_CLAIM,
    ) -> TurnInfo:
        batch = Batch(
            messages=messages,
            counter=counter,
            at=at,
            oversize_tokens=oversize_tokens,
            turn_id=turn_id,
        )
        prepared = prepare(self._database, session_id, batch)
        with self._database.write() as connection:
            locked = get_session(connection, session_id, locks=True)
            _hold(connection, session_id, turn_id, at=at, until=lease_until, claim=claim)
            first_seq = locked["length"] + 1
            row = {
                "id": turn_id,
                "session_id": session_id,
                "number": next_number(connection, TURN, session_id),
                "state": "running",
                "model": model,
                "partial": "",
                "error": None,
                "first_seq": first_seq,
                "last_seq": first_seq,
                "history_messages": 0,
                "history_tokens": 0,
                "started_at": at,
                "ended_at": None,
                "system": system,
            }
            connection.execute(insert(TURN), row)
            write(connection, locked, prepared)
            return _find(connection, session_id, turn_id)

    def resume_turn(
        self,
        session_id: str,
        turn_id: str,
        *,
        at: datetime,
        lease_until: datetime,
        system: str | None = None,
        claim: Claim = NO_CLAIM,
    ) -> TurnInfo:
        given = {} if system is None else {"system": system}
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            turn = _find(connection, session_id, turn_id)
            _refuse_running(connection, turn, at, claim)
            _hold(connection, session_id, turn_id, at=at, until=lease_until, claim=claim)
            _change(connection, turn_id, state="running", ended_at=None, error=None, **given)
            return _find(connection, session_id, turn_id)

    def save_partial(
        self, session_id: str, turn_id: str, text: str, *, lease_until: datetime
    ) -> bool:
        own = (LEASE.c.name == turn_lease(session_id)) & (LEASE.c.owner == turn_id)
        with self._database.write() as connection:
            held = update(LEASE).where(own)
            is_held = connection.execute(held, {"expires_at": lease_until}).rowcount > 0
            if is_held:
                _change(connection, turn_id, partial=text)
            return is_held

    def end_turn(
        self,
        session_id: str,
        turn_id: str,
        state: TurnState,
        *,
        at: datetime,
        error: Reason | None = None,
    ) -> TurnInfo:
        ended_at = at if state in _ENDED else None
        with self._database.write() as connection:
            _find(connection, session_id, turn_id)  # refuses an unknown turn
            release(connection, turn_lease(session_id), turn_id)
            ended = update(TURN).where(TURN.c.id == turn_id, TURN.c.state == "running")
            values = {"state": state, "ended_at": ended_at, "error": error and to_json(error)}
            if connection.execute(ended, values).rowcount == 0:
                raise StaleTurnError(turn_id=turn_id)
            return _find(connection, session_id, turn_id)

    def interrupt_stale_turns(
        self, *, at: datetime, ended: Collection[LeaseInfo] = ()
    ) -> list[TurnInfo]:
        with self._database.write() as connection:
            for lease in ended:
                release_held(connection, lease)
            held = select(LEASE.c.owner).where(LEASE.c.expires_at > at)
            stale = select(TURN).where(TURN.c.state == "running", TURN.c.id.not_in(held))
            turns = connection.execute(stale.order_by(TURN.c.started_at)).mappings().all()
            turn_ids = [turn["id"] for turn in turns]
            connection.execute(delete(LEASE).where(LEASE.c.owner.in_(turn_ids)))
            for turn_id in turn_ids:
                _change(connection, turn_id, state="interrupted", ended_at=at)
            return [_find(connection, turn["session_id"], turn["id"]) for turn in turns]

    def interrupt_turn(self, session_id: str, *, at: datetime) -> TurnInfo | None:
        running = select(TURN.c.id).where(
            TURN.c.session_id == session_id, TURN.c.state == "running"
        )
        with self._database.write() as connection:
            get_session(connection, session_id, locks=True)
            turn_id = connection.execute(running).scalar()
            if turn_id is None:
                return None
            release(connection, turn_lease(session_id), turn_id)
            _change(connection, turn_id, state="interrupted", ended_at=at)
            return _find(connection, session_id, turn_id)

    def turn(self, session_id: str, turn_id: str) -> TurnInfo:
        with self._database.read() as connection:
            return _find(connection, session_id, turn_id)

    def last_turn(self, session_id: str) -> TurnInfo | None:
        found = select(TURN).where(TURN.c.session_id == session_id).order_by(TURN.c.number.desc())
        return self._first(found.limit(1), to_turn_info)

    def turns(self, session_id: str) -> list[TurnInfo]:
        found = select(TURN).where(TURN.c.session_id == session_id)
        return self._list(found.order_by(TURN.c.number), to_turn_info)

    def record_calls(
        self, calls: Sequence[CallInfo], *, texts: Mapping[str, str] | None = None
    ) -> None:
        if not calls:
            return
        rows = [
            {"session_id": calls[0].session_id, "address": address, "body": body}
            for address, body in (texts or {}).items()
        ]
        with self._database.write() as connection:
            connection.execute(insert(CALL), [dump_call(call) for call in calls])
            if rows:
                connection.execute(_ADD_TEXT, rows)

    def call(self, session_id: str, call_id: str) -> CallInfo:
        found = select(CALL).where(CALL.c.session_id == session_id, CALL.c.id == call_id)
        call = self._first(found, load_call)
        if call is None:
            raise RecordNotFoundError(kind="call", record_id=call_id)
        return call

    def sent_texts(
        self, session_id: str, addresses: Collection[str] | None = None
    ) -> dict[str, str]:
        of_session = select(SENT_TEXT).where(SENT_TEXT.c.session_id == session_id)
        statements = [of_session]
        if addresses is not None:
            wanted = sorted(set(addresses))
            statements = [
                of_session.where(SENT_TEXT.c.address.in_(wanted[at : at + _MAX_IN_LIST]))
                for at in range(0, len(wanted), _MAX_IN_LIST)
            ]
        found = (row for statement in statements for row in self._list(statement, dict))
        return {row["address"]: row["body"] for row in found}

    def calls(
        self, session_id: str, *, turn_id: str | None = None, with_runs: bool = True
    ) -> list[CallInfo]:
        columns = list(CALL.c) if with_runs else WITHOUT_RUNS
        found: Select[Any] = select(*columns).where(CALL.c.session_id == session_id)
        if turn_id is not None:
            found = found.where(CALL.c.turn_id == turn_id)
        return self._list(found.order_by(CALL.c.created_at, CALL.c.id), load_call)

    def last_call(self, session_id: str, purpose: str) -> CallInfo | None:
        found = select(*WITHOUT_RUNS).where(
            CALL.c.session_id == session_id, CALL.c.purpose == purpose
        )
        newest = found.order_by(CALL.c.created_at.desc(), CALL.c.id.desc())
        return self._first(newest.limit(1), load_call)

    def counted_calls(self, model: str, counter_id: str, *, limit: int) -> list[CallInfo]:
        found = select(*WITHOUT_RUNS).where(
            CALL.c.model == model,
            CALL.c.counter_id == counter_id,
            CALL.c.is_comparable.is_(True),
            CALL.c.input_tokens.is_not(None),
        )
        newest = found.order_by(CALL.c.created_at.desc(), CALL.c.id.desc())
        return self._list(newest.limit(limit), load_call)

    def count_calls(self, session_id: str) -> int:
        found = select(func.count()).where(CALL.c.session_id == session_id)
        with self._database.read() as connection:
            return int(connection.execute(found).scalar_one())

    def billed_calls(self, session_ids: Sequence[str]) -> list[BilledCalls]:
        groups = (
            CALL.c.session_id,
            CALL.c.model,
            CALL.c.is_imported,
            CALL.c.cost.is_(None),
            or_(CALL.c.input_tokens.is_(None), CALL.c.output_tokens.is_(None)).label("is_unknown"),
        )
        sums = [func.sum(CALL.c[name]).label(name) for name in _BILLED]
        wanted = select(*groups[:3], groups[4], func.count().label("calls"), *sums)
        found: list[BilledCalls] = []
        for at in range(0, len(session_ids), _MAX_IN_LIST):
            of_them = CALL.c.session_id.in_(session_ids[at : at + _MAX_IN_LIST])
            found += self._list(wanted.where(of_them).group_by(*groups), _billed)
        return found

    def runs(self, session_id: str, call_ids: Sequence[str]) -> dict[str, tuple[Run, ...]]:
        of_session = select(CALL.c.id, CALL.c.runs).where(CALL.c.session_id == session_id)
        found: dict[str, tuple[Run, ...]] = {}

        def read(row: RowMapping) -> tuple[str, tuple[Run, ...]]:
            return row["id"], load_runs(row["runs"], session_id=session_id)

        for at in range(0, len(call_ids), _MAX_IN_LIST):
            wanted = of_session.where(CALL.c.id.in_(call_ids[at : at + _MAX_IN_LIST]))
            found.update(self._list(wanted, read))
        return found


def _billed(row: RowMapping) -> BilledCalls:
    values = dict(row)
    if values.pop("is_unknown"):  # some lack the input, others the output: their sums mean nothing
        values |= {"input_tokens": None, "output_tokens": None}
    return BilledCalls(**values)


def _hold(
    connection: Connection,
    session_id: str,
    turn_id: str,
    *,
    at: datetime,
    until: datetime,
    claim: Claim,
) -> None:
    """Acquires the session's turn lease; the turn that had it before becomes interrupted."""
    name = turn_lease(session_id)
    if not take(connection, name, turn_id, expires_at=until, at=at, claim=claim):
        raise taken(connection, name, at=at)
    stale = select(TURN.c.id).where(
        TURN.c.session_id == session_id, TURN.c.state == "running", TURN.c.id != turn_id
    )
    for stale_id in connection.execute(stale).scalars().all():
        _change(connection, stale_id, state="interrupted", ended_at=at)


def _refuse_running(connection: Connection, turn: TurnInfo, at: datetime, claim: Claim) -> None:
    """Refuses to resume a running turn; its lease alone would not, since the turn owns it."""
    if turn.state != "running":
        return
    name = turn_lease(turn.session_id)
    held = find_lease(connection, name)
    if held is not None and held.expires_at > at and not claim.takes_over(held):
        raise taken(connection, name, at=at)


def _change(connection: Connection, turn_id: str, **columns: Any) -> None:
    connection.execute(update(TURN).where(TURN.c.id == turn_id), columns)


def _find(connection: Connection, session_id: str, turn_id: str) -> TurnInfo:
    own = select(TURN).where(TURN.c.session_id == session_id, TURN.c.id == turn_id)
    row = connection.execute(own).mappings().first()
    if row is None:
        raise RecordNotFoundError(kind="turn", record_id=turn_id)
    return to_turn_info(row)
