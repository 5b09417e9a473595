"""The store's errors; after any of them nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from ctxcore.errors import ContextError
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import RecordCode, RoleProblem, StoreProblem, TurnProblem
from ctxcore.reasons.values import Fact, QuoteCode, Reason, as_reason
from ctxcore.store.holders import parse_holder
from ctxcore.store.values import LeaseInfo

RecordKind: TypeAlias = Literal[
    "message",
    "compaction",
    "user",
    "turn",
    "call",
    "policy version",
    "signal",
    "rule edit",
    "job",
]


def record_code(kind: RecordKind) -> Reason:
    """The kind of a record as a reason names it."""
    return RecordCode[kind.upper().replace(" ", "_")]()


class StoreError(ContextError):
    """Reading or writing failed; nothing was changed."""


class DatabaseError(StoreError):
    """The database failed: it is locked, full, damaged or not reachable."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(StoreProblem.REFUSED(problem=self.problem))


class SchemaError(StoreError):
    """The database was written by a newer version of the library."""

    def __init__(self, *, revision: str, known: str) -> None:
        self.revision = revision
        self.known = known
        super().__init__(StoreProblem.NEWER(revision=revision, wanted=known))


class SessionNotFoundError(StoreError):
    """No session has this id."""

    def __init__(self, *, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(StoreProblem.NO_SESSION(id=session_id))


class SessionAmbiguousError(StoreError):
    """Several sessions have ids with this beginning; the first of them are named."""

    def __init__(self, *, beginning: str, candidates: Sequence[str], count: int) -> None:
        self.beginning = beginning
        self.candidates = tuple(candidates)
        self.count = count
        more: tuple[Fact, ...] = (QuoteCode.MORE(),) if count > len(self.candidates) else ()
        names = (*self.candidates, *more)
        super().__init__(StoreProblem.AMBIGUOUS(count=count, beginning=beginning, names=names))


class LastOperatorError(StoreError):
    """No operator would be left."""

    def __init__(self, *, user_id: str) -> None:
        self.user_id = user_id
        super().__init__(RoleProblem.LAST_OPERATOR(user=user_id))


class RecordNotFoundError(StoreError):
    """There is no such record."""

    def __init__(
        self, *, kind: RecordKind, record_id: str | int, reason: Reason | None = None
    ) -> None:
        self.kind: RecordKind = kind
        self.record_id = record_id
        super().__init__(reason or StoreProblem.NO_RECORD(what=record_code(kind), id=record_id))


class CorruptRecordError(StoreError):
    """A stored record cannot be read; it is reported, never skipped."""

    def __init__(self, *, session_id: str, record: Reason | str, problem: Reason | str) -> None:
        self.session_id = session_id
        self.record = as_reason(record)
        self.problem = as_reason(problem)
        super().__init__(
            StoreProblem.DAMAGED(what=self.record, id=session_id, problem=self.problem)
        )


class CorruptMessageError(CorruptRecordError):
    """The body of a stored message cannot be read."""

    def __init__(self, *, session_id: str, seq: int, problem: Reason | str) -> None:
        self.seq = seq
        record = PlaceCode.MESSAGE(number=seq)
        super().__init__(session_id=session_id, record=record, problem=problem)


class StaleCompactionError(StoreError):
    """Another compaction became active in the meantime."""

    def __init__(self, *, session_id: str, expected: str | None, active: str | None) -> None:
        self.session_id = session_id
        self.expected = expected
        self.active = active
        super().__init__(StoreProblem.STALE(id=session_id, active=active, expected=expected))


class StaleHistoryError(StoreError):
    """Another writer added messages in the meantime."""

    def __init__(self, *, session_id: str, expected: int, length: int) -> None:
        self.session_id = session_id
        self.expected = expected
        self.length = length
        super().__init__(StoreProblem.GROWN(id=session_id, expected=expected, length=length))


class LeaseTakenError(StoreError):
    """Another owner holds the lease, e.g. a turn is already running in the session."""

    def __init__(
        self, *, name: str, owner: str, expires_at: datetime, holder: str | None = None
    ) -> None:
        self.name = name
        self.owner = owner
        self.expires_at = expires_at
        self.holder = holder
        """The process that holds it, as stored; None: not known."""
        kind, _, of = name.partition(":")
        time, process = expires_at.isoformat(), parse_holder(holder)
        reason = StoreProblem.HELD(name=name, owner=owner, time=time)
        if kind == "turn" and process is not None:
            reason = StoreProblem.RUNNING_IN(
                id=of, owner=owner, time=time, host=process.host, pid=process.pid
            )
        elif kind == "turn":
            reason = StoreProblem.RUNNING(id=of, owner=owner, time=time)
        super().__init__(reason)

    @property
    def lease(self) -> LeaseInfo:
        """The lease as it was found."""
        return LeaseInfo(
            name=self.name, owner=self.owner, expires_at=self.expires_at, holder=self.holder
        )


class StaleTurnError(StoreError):
    """The turn does not run any more, e.g. somebody took it over."""

    def __init__(self, *, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(TurnProblem.LOST())


class CountsMissingError(StoreError):
    """A session's messages are not all counted by this counter."""

    def __init__(self, *, session_id: str, counter_id: str) -> None:
        self.session_id = session_id
        self.counter_id = counter_id
        super().__init__(StoreProblem.UNCOUNTED(id=session_id, counter=counter_id))


class UnknownCounterError(StoreError):
    """A session's own counter is not one of the library's, so its counts cannot be continued."""

    def __init__(self, *, session_id: str, counter_id: str) -> None:
        self.session_id = session_id
        self.counter_id = counter_id
        super().__init__(StoreProblem.COUNTER(id=session_id, counter=counter_id))
