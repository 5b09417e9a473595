"""Owns every error the library raises; catch `ContextError` at the edge (a page, a script).

An error takes facts as keyword arguments, keeps them as attributes and says a way out.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.reasons.values import Fact, Reason, stated


class ContextError(Exception):
    """Base of all errors of this library; `reason` says in a code and facts what is wrong."""

    def __init__(self, reason: Reason | str) -> None:
        self.reason = stated(reason)
        super().__init__(str(self.reason))

    @property
    def code(self) -> str:
        """What is wrong, as a code that a program can act on."""
        return self.reason.code

    @property
    def facts(self) -> Mapping[str, Fact]:
        """What the sentence names."""
        return self.reason.facts


class MessageError(ContextError):
    """A message is not what the chat format allows."""

    def __init__(self, *, place: str, problem: str) -> None:
        self.place = place
        self.problem = problem
        super().__init__(f"{place}: {problem}")


class StateError(MessageError):
    """A state was made from other messages than were passed, or cannot be read.

    `at` is the place of the first message that differs, from 0; None where no message is to blame.
    """

    def __init__(self, *, problem: str, at: int | None = None) -> None:
        self.at = at
        super().__init__(place="state" if at is None else f"message {at}", problem=problem)


class BudgetError(ContextError):
    """What must be kept does not fit, whatever is left out."""

    def __init__(self, *, needed: int, available: int, parts: Mapping[str, int]) -> None:
        self.needed = needed
        self.available = available
        self.parts = dict(parts)
        listed = ", ".join(f"{name} {tokens:,}" for name, tokens in self.parts.items() if tokens)
        super().__init__(
            f"what must be kept takes {needed:,} tokens but {available:,} are usable ({listed}); "
            f"shorten the system prompt or tool definitions, or use a larger window"
        )


class PolicyError(ContextError):
    """A policy field has a value outside its range; `source` says where the value was given."""

    def __init__(self, *, field: str, value: object, allowed: str, source: str = "") -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        self.source = source
        where = f"{source}: " if source else ""
        super().__init__(f"{where}policy field {field!r} is {value!r}; allowed: {allowed}")


class ConfigurationError(ContextError):
    """A file with settings cannot be read, or is not what it should be."""

    def __init__(self, *, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = path if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {problem}")


class UnknownWindowError(ContextError):
    """The window of a model is not known, so no budget can be computed."""

    def __init__(self, *, model: str | None) -> None:
        self.model = model
        of = f"of model {model!r} " if model else ""
        super().__init__(f"the context window {of}is unknown; pass window_tokens or max_tokens")


class PartNotFoundError(ContextError):
    """A tool output has no such part; the message says which there are."""

    def __init__(self, *, part: str, problem: str) -> None:
        self.part = part
        self.problem = problem
        super().__init__(f"no part {part!r}: {problem}")


class WorkingStateError(ContextError):
    """A field of a working state is not what it may be; the value itself is not told."""

    def __init__(self, *, field: str, problem: str, allowed: str) -> None:
        self.field = field
        self.problem = problem
        self.allowed = allowed
        super().__init__(f"working state field {field!r} {problem}; allowed: {allowed}")


class SummarizerError(ContextError):
    """A summarizer failed or returned nothing usable; nothing was changed."""

    def __init__(self, *, problem: str) -> None:
        self.problem = problem
        super().__init__(f"the summarizer gave no usable summary: {problem}")


class FormatError(ContextError):
    """A file is not a conversation this library reads."""

    def __init__(self, *, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = path if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {problem}")


class CompactionRefusedError(ContextError):
    """A person refused a compaction and wants to be told rather than lose anything."""

    def __init__(self, *, current_tokens: int, max_tokens: int) -> None:
        self.current_tokens = current_tokens
        self.max_tokens = max_tokens
        super().__init__(
            f"the compaction was refused at {current_tokens:,} of {max_tokens:,} tokens; "
            "compact, drop the oldest messages, or start a new session"
        )
