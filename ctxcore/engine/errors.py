"""Owns the errors of the engine; all are `ContextError`s."""

from __future__ import annotations

from ctxcore.errors import ContextError
from ctxcore.store.errors import RecordNotFoundError


class NotAllowedError(ContextError):
    """Someone asked for what belongs to somebody else."""

    def __init__(self, *, user_id: str, what: str) -> None:
        self.user_id = user_id
        self.what = what
        super().__init__(
            f"{what} is not {user_id!r}'s to see; ask its owner or an operator to assign it"
        )


class StaleProposalError(ContextError):
    """What a proposal was made from has changed since."""

    def __init__(self, *, changed: str) -> None:
        self.changed = changed
        super().__init__(
            f"{changed} changed since the proposal; look at a new one and confirm that"
        )


class TurnStateError(ContextError):
    """A turn cannot do this in the state it is in."""

    def __init__(self, *, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class TurnLostError(TurnStateError):
    """A turn is no longer this one's to write to."""

    def __init__(self, *, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(
            problem="the turn was given up, taken over elsewhere or erased with its session; "
            "look at the session and go on from what is there"
        )


class PlaceError(RecordNotFoundError):
    """A session has no message at this place."""

    def __init__(self, *, place: int, length: int) -> None:
        super().__init__(kind="message", record_id=place)
        self.args = (
            f"there is no message {place}; the session has {length}"
            + (f", 0 to {length - 1}" if length else ""),
        )


class NoModelError(ContextError):
    """A model was asked for an answer, but none is set."""

    def __init__(self) -> None:
        super().__init__("no model is set for this session; choose one, or pass model=")


class ImportRefusedError(ContextError):
    """A file is no export of this library that it can read."""

    def __init__(self, *, place: str, problem: str) -> None:
        self.place = place
        self.problem = problem
        super().__init__(f"{place}: {problem}")
