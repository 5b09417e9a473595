"""Takes a plain function for a summarizer, and refuses at once what is neither."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ctxcore.errors import SummarizerTypeError
from ctxcore.messages.values import Message
from ctxcore.reasons.problems import SummaryProblem
from ctxcore.summarizers.protocol import Summarizer, SummaryRequest

SummaryFunction: TypeAlias = Callable[[Sequence[Message], str], str]
"""Takes the messages to summarize, oldest first, and the summary so far (may be empty)."""

SummarizerLike: TypeAlias = Summarizer | SummaryFunction
"""What may be passed as a summarizer."""


@dataclass(frozen=True, slots=True)
class FunctionSummarizer:
    """A summarizer that calls a plain function."""

    function: SummaryFunction

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", None) or type(self.function).__name__

    def summarize(self, request: SummaryRequest) -> str:
        """What the function returns; the compaction cuts it to the limits of the request."""
        return self.function(request.messages, request.previous)


def to_summarizer(given: SummarizerLike) -> Summarizer:
    """`given` as a summarizer.

    Raises:
        SummarizerTypeError: it is neither a summarizer nor a function of messages and summary.
    """
    if _is_summarizer(given):
        _check(given.summarize, given, (None,))  # type: ignore[union-attr]  # it has the method
        return given  # type: ignore[return-value]  # it has what the protocol asks for
    if not callable(given) or inspect.isclass(given):
        raise SummarizerTypeError(problem=SummaryProblem.NO_SUMMARIZER(kind=_kind(given)))
    _check(given, given, ((), ""))
    return FunctionSummarizer(given)


def _check(function: Callable[..., object], given: object, arguments: tuple[object, ...]) -> None:
    """Refuses a function that gives a coroutine or takes other arguments."""
    if _is_async(function):
        raise SummarizerTypeError(problem=SummaryProblem.COROUTINE())
    if not _takes(function, arguments):
        raise SummarizerTypeError(problem=SummaryProblem.OTHER_ARGUMENTS(kind=_kind(given)))


def _is_summarizer(given: object) -> bool:
    if inspect.isclass(given) or not callable(getattr(given, "summarize", None)):
        return False
    return isinstance(getattr(given, "name", None), str)


def _is_async(function: object) -> bool:
    """Whether a call gives a coroutine, also of an object that is called like a function."""
    called = (function, getattr(type(function), "__call__", None))  # noqa: B004  # it is looked into
    return any(map(inspect.iscoroutinefunction, called))


def _takes(function: Callable[..., object], arguments: tuple[object, ...]) -> bool:
    """Whether it can be called with so many arguments; some built-ins do not tell."""
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def _kind(given: object) -> str:
    return f"the class {given.__name__}" if inspect.isclass(given) else type(given).__name__
