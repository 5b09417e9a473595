"""Owns the store's errors; after any of them nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ctxcore.errors import ContextError


class StoreError(ContextError):
    """Reading or writing failed; nothing was changed."""


class DatabaseError(StoreError):
    """The database refused: it is locked, full, damaged or not reachable."""

    def __init__(self, *, problem: str) -> None:
        self.problem = problem
        super().__init__(f"the database refused: {problem}")


class SchemaError(StoreError):
    """The database was written by a newer version of the library."""

    def __init__(self, *, revision: str, known: str) -> None:
        self.revision = revision
        self.known = known
        super().__init__(
            f"the database has revision {revision!r}, this version of ctxcore knows {known!r}; "
            f"upgrade ctxcore or choose another database"
        )


class SessionNotFoundError(StoreError):
    """No session has this id."""

    def __init__(self, *, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"there is no session {session_id!r}; list_sessions() has those there are")


class SessionAmbiguousError(StoreError):
    """Several sessions have ids that begin so; it names the first of them."""

    def __init__(self, *, beginning: str, candidates: Sequence[str], count: int) -> None:
        self.beginning = beginning
        self.candidates = tuple(candidates)
        self.count = count
        named = ", ".join(self.candidates) + (", …" if count > len(self.candidates) else "")
        super().__init__(
            f"{count:,} sessions have an id that begins with {beginning!r}: {named}; "
            "say more of the one you mean"
        )


class RecordNotFoundError(StoreError):
    """A session has no such record."""

    def __init__(self, *, kind: str, record_id: str | int) -> None:
        self.kind = kind
        self.record_id = record_id
        super().__init__(f"there is no {kind} {record_id!r} here")


class CorruptRecordError(StoreError):
    """A stored record cannot be read; it is reported, never skipped."""

    def __init__(self, *, session_id: str, record: str, problem: str) -> None:
        self.session_id = session_id
        self.record = record
        self.problem = problem
        super().__init__(
            f"{record} of session {session_id!r} is damaged ({problem}); "
            f"restore the database from a copy, or fork the session before it"
        )


class CorruptMessageError(CorruptRecordError):
    """The body of a stored message cannot be read."""

    def __init__(self, *, session_id: str, seq: int, problem: str) -> None:
        self.seq = seq
        super().__init__(session_id=session_id, record=f"message {seq}", problem=problem)


class StaleCompactionError(StoreError):
    """Another compaction became active meanwhile."""

    def __init__(self, *, session_id: str, expected: str | None, active: str | None) -> None:
        self.session_id = session_id
        self.expected = expected
        self.active = active
        super().__init__(
            f"another compaction became active in session {session_id!r} meanwhile "
            f"({active!r}, not {expected!r}); look at the session again and repeat what you want"
        )


class LeaseTakenError(StoreError):
    """Someone else is at it, e.g. a turn is already running in the session."""

    def __init__(self, *, name: str, owner: str, expires_at: datetime) -> None:
        self.name = name
        self.owner = owner
        self.expires_at = expires_at
        kind, _, of = name.partition(":")
        what = f"a turn is running in session {of!r}" if kind == "turn" else f"{name!r} is held"
        super().__init__(
            f"{what}, by {owner!r} until {expires_at.isoformat()}; wait for its end or stop it"
        )


class CountsMissingError(StoreError):
    """A session's messages are not all counted by this counter."""

    def __init__(self, *, session_id: str, counter_id: str) -> None:
        self.session_id = session_id
        self.counter_id = counter_id
        super().__init__(
            f"session {session_id!r} is not counted by {counter_id!r} up to its end; "
            f"recount() it, or read it with the counter of its own"
        )


class UnknownCounterError(StoreError):
    """A session's own counter is not one of the library's, so that nobody can carry it on."""

    def __init__(self, *, session_id: str, counter_id: str) -> None:
        self.session_id = session_id
        self.counter_id = counter_id
        super().__init__(
            f"session {session_id!r} is counted by {counter_id!r}, which this library does not "
            f"have; append with that counter, or recount() with the new one first"
        )
