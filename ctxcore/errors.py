"""The library's errors; catch `ContextError` at the edge (a page, a script).

An error takes facts as keyword arguments and keeps them as attributes. Its problem is a `Reason`
or, where another program reported it, plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import Place, PlaceCode, in_file
from ctxcore.reasons.problems import BudgetProblem, PartProblem, PluginProblem, SummaryProblem, core
from ctxcore.reasons.storage_problems import SettingProblem
from ctxcore.reasons.values import Fact, Reason, as_reason, counts, repr_fact


class ContextError(Exception):
    """Base of all errors of this library; `reason` holds the problem as a code with facts."""

    def __init__(self, reason: Reason | str, *, place: Reason | None = None) -> None:
        problem = as_reason(reason)
        self.reason = problem if place is None else PlaceCode.AT(place=place, problem=problem)
        super().__init__(str(self.reason))

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)

    @property
    def code(self) -> str:
        """The code of the problem, without its place, for programs to act on."""
        return core(self.reason).code

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The facts that the problem's sentence names."""
        return core(self.reason).facts


class UnreadableError(ValueError):
    """Stored or exported data is not valid; the caller that reads it adds the place."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(str(reason))

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (type(self), self.args, self.__dict__)


def without_message(error: BaseException) -> Exception:
    """An error for a log: the kinds of `error` and its causes with their calls.

    It has no messages, which may quote what was said, or a key.
    """
    kind = type(type(error).__qualname__, (Exception,), {"__module__": type(error).__module__})
    told = kind().with_traceback(error.__traceback__)
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    told.__cause__ = None if before is None else without_message(before)
    return cast("Exception", told)


def _unpickled(
    kind: type[Exception], args: tuple[object, ...], attributes: Mapping[str, object]
) -> object:
    """A copied error; its class cannot be called with `args`, since it takes keyword facts."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class WorkersError(ContextError):
    """Work cannot be shared out, or was not finished by those who did it."""


class TrialError(ContextError):
    """Policies cannot be tried as it was asked for."""


class MessageError(ContextError):
    """A message is not what the chat format allows."""

    def __init__(self, *, place: Place, problem: Reason | str) -> None:
        self.place = place
        self.problem = as_reason(problem)
        super().__init__(self.problem, place=place.reason)


class StateError(MessageError):
    """A state was made from other messages than were passed, or cannot be read.

    `at` is the index of the first message that differs; None where no single message does.
    """

    def __init__(self, *, problem: Reason | str, at: int | None = None) -> None:
        self.at = at
        place = Place(PlaceCode.STATE) if at is None else Place(PlaceCode.MESSAGE, at)
        super().__init__(place=place, problem=problem)


class BudgetError(ContextError):
    """What must be kept does not fit, even with everything else left out."""

    def __init__(self, *, needed: int, available: int, parts: Mapping[str, int]) -> None:
        self.needed = needed
        self.available = available
        self.parts = dict(parts)
        sizes = counts({name: tokens for name, tokens in self.parts.items() if tokens})
        super().__init__(BudgetProblem.NO_ROOM(needed=needed, available=available, parts=sizes))


class PolicyError(ContextError):
    """A policy field has a value outside its range; `source` is where the value was given."""

    def __init__(
        self, *, field: str, value: object, allowed: Reason | str, source: Reason | None = None
    ) -> None:
        self.field = field
        self.value = value
        self.allowed = as_reason(allowed)
        self.source = source
        problem = SettingProblem.FIELD(field=field, value=repr_fact(value), allowed=self.allowed)
        super().__init__(problem, place=source)


class ConfigurationError(ContextError):
    """A file with settings cannot be read or is not valid, or a package is not installed."""

    def __init__(
        self, *, problem: Reason | str, path: str | None = None, line: int | None = None
    ) -> None:
        self.path = path
        """The file; None for a package."""
        self.line = line
        self.problem = as_reason(problem)
        super().__init__(self.problem, place=None if path is None else in_file(path, line))


class FormatError(ContextError):
    """A file is not a conversation this library reads."""

    def __init__(self, *, path: str, problem: Reason | str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.problem = as_reason(problem)
        super().__init__(self.problem, place=in_file(path, line))


class UnknownWindowError(ContextError):
    """The window of a model is not known, so no budget can be computed."""

    def __init__(self, *, model: str | None) -> None:
        self.model = model
        super().__init__(BudgetProblem.WINDOW_OF(model=model) if model else BudgetProblem.WINDOW())


class PartNotFoundError(ContextError):
    """A tool output has no such part; the message names those it has."""

    def __init__(self, *, part: str, problem: Reason | str) -> None:
        self.part = part
        self.problem = as_reason(problem)
        super().__init__(PartProblem.NO_PART(part=part, problem=self.problem))


class WorkingStateError(ContextError):
    """A field of a working state is not valid; the error leaves the value itself out."""

    def __init__(self, *, field: str, problem: Reason | str, allowed: Reason | str) -> None:
        self.field = field
        self.problem = as_reason(problem)
        self.allowed = as_reason(allowed)
        super().__init__(
            SettingProblem.STATE_FIELD(field=field, problem=self.problem, allowed=self.allowed)
        )


class SummarizerError(ContextError):
    """A summarizer failed or returned nothing usable; nothing was changed."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(SummaryProblem.NO_SUMMARY(problem=self.problem))


class SummarizerTypeError(ContextError, TypeError):
    """What was passed as a summarizer is none, or returned no text; nothing was changed."""

    def __init__(self, *, problem: Reason) -> None:
        self.problem = problem
        super().__init__(problem)


class StrategyError(ContextError):
    """A compaction strategy failed; nothing was changed."""

    def __init__(self, *, name: str, error: Exception) -> None:
        self.name = name
        kind = type(error).__name__
        super().__init__(PluginProblem.STRATEGY(name=name, kind=kind, problem=reason_of(error)))


class CompactionRefusedError(ContextError):
    """A person refused a compaction and chose an error over losing messages."""

    def __init__(self, *, current_tokens: int, max_tokens: int) -> None:
        self.current_tokens = current_tokens
        self.max_tokens = max_tokens
        super().__init__(BudgetProblem.REFUSED(tokens=current_tokens, available=max_tokens))
