"""Owns the errors of the engine; all are `ContextError`s."""

from __future__ import annotations

from ctxcore.errors import ContextError


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
