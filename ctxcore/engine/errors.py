"""Owns the errors of the engine; all are `ContextError`s."""

from __future__ import annotations

from ctxcore.errors import ContextError
from ctxcore.reasons.storage_problems import StoreProblem, TurnProblem
from ctxcore.reasons.values import Reason, stated
from ctxcore.store.errors import RecordNotFoundError


class NotAllowedError(ContextError):
    """Someone asked for what belongs to somebody else."""

    def __init__(self, *, user_id: str, what: Reason | str) -> None:
        self.user_id = user_id
        self.what = stated(what)
        super().__init__(TurnProblem.NOT_ALLOWED(what=self.what, user=user_id))


class StaleProposalError(ContextError):
    """What a proposal was made from has changed since."""

    def __init__(self, *, changed: Reason | str) -> None:
        self.changed = stated(changed)
        super().__init__(TurnProblem.STALE(changed=self.changed))


class TurnStateError(ContextError):
    """A turn cannot do this in the state it is in."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = stated(problem)
        super().__init__(self.problem)


class TurnLostError(TurnStateError):
    """A turn is no longer this one's to write to."""

    def __init__(self, *, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(problem=TurnProblem.LOST())


class PlaceError(RecordNotFoundError):
    """A session has no message at this place."""

    def __init__(self, *, place: int, length: int) -> None:
        told = (
            StoreProblem.PLACE_OF(number=place, length=length, last=length - 1)
            if length
            else StoreProblem.PLACE(number=place, length=length)
        )
        super().__init__(kind="message", record_id=place, told=told)


class NoModelError(ContextError):
    """A model was asked for an answer, but none is set."""

    def __init__(self) -> None:
        super().__init__(TurnProblem.NO_MODEL())


class ImportRefusedError(ContextError):
    """A file is no export of this library that it can read."""

    def __init__(self, *, place: Reason | str, problem: Reason | str) -> None:
        self.place = stated(place)
        self.problem = stated(problem)
        super().__init__(self.problem, place=self.place)
