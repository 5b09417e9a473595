"""The errors of the engine; all are `ContextError`s."""

from __future__ import annotations

from typing import ClassVar

from ctxcore.errors import ContextError
from ctxcore.reasons.storage_problems import StoreProblem, TurnProblem
from ctxcore.reasons.values import Code, Reason, as_reason
from ctxcore.store.errors import RecordNotFoundError


class NotAllowedError(ContextError):
    """The user may not access this."""

    _problem: ClassVar[Code] = TurnProblem.NOT_ALLOWED

    def __init__(self, *, user_id: str, what: Reason | str) -> None:
        self.user_id = user_id
        self.what = as_reason(what)
        super().__init__(self._problem(what=self.what, user=user_id))


class NotAuditorError(NotAllowedError):
    """The user sees the figures of this, and may not read what was said."""

    _problem = TurnProblem.NOT_AUDITOR


class RoleError(ContextError):
    """Roles cannot be set this way."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(self.problem)


class StaleProposalError(ContextError):
    """The session has changed since the proposal was made."""

    def __init__(self, *, changed: Reason | str) -> None:
        self.changed = as_reason(changed)
        super().__init__(TurnProblem.STALE(changed=self.changed))


class TurnStateError(ContextError):
    """A turn's state does not allow this."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(self.problem)


class TurnLostError(TurnStateError):
    """Another process took over the turn, or it was erased."""

    def __init__(self, *, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(problem=TurnProblem.LOST())


class PlaceError(RecordNotFoundError):
    """A session has no message at this place."""

    def __init__(self, *, place: int, length: int) -> None:
        reason = (
            StoreProblem.PLACE_OF(number=place, length=length, last=length - 1)
            if length
            else StoreProblem.PLACE(number=place, length=length)
        )
        super().__init__(kind="message", record_id=place, reason=reason)


class SplitBlockError(ContextError):
    """A branch would leave a call without its results."""

    def __init__(self, *, place: int, first: int) -> None:
        self.place = place
        self.first = first
        super().__init__(StoreProblem.IN_BLOCK(number=place, first=first))


class RuleError(ContextError):
    """A rule cannot be added or dismissed."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(self.problem)


class NoModelError(ContextError):
    """No model is set."""

    def __init__(self) -> None:
        super().__init__(TurnProblem.NO_MODEL())


class ImportRefusedError(ContextError):
    """A file is not a readable export of this library."""

    def __init__(self, *, place: Reason | str, problem: Reason | str) -> None:
        self.place = as_reason(place)
        self.problem = as_reason(problem)
        super().__init__(self.problem, place=self.place)
