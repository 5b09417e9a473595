"""Owns the markers that a policy's field is declared with: what it may hold, its group, its words.

A marker stands in the field's `Annotated`; a range knows what it allows and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeAlias

from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Reason

GroupName: TypeAlias = Literal["preset", "window", "when", "target", "stays", "summary", "tools"]
Unit: TypeAlias = Literal["tokens", "characters", "messages", "turns", "summaries"]
Kind: TypeAlias = Literal[
    "percent",
    "tokens",
    "count",
    "number",
    "choice",
    "choices",
    "switch",
    "model",
    "text",
    "list",
    "names",
]

GROUPS: Mapping[GroupName, str] = {
    "preset": "What makes the preset",
    "window": "The window",
    "when": "When a compaction starts",
    "target": "How far it goes",
    "stays": "What stays as it is",
    "summary": "Summary",
    "tools": "Tool outputs",
}
"""Every group with its title, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Group:
    """Which fields a field stands beside."""

    name: GroupName


@dataclass(frozen=True, slots=True)
class Told:
    """What a field is called, its unit with it, and what it does."""

    label: str
    help: str


class Range(Protocol):
    """What a field may hold."""

    @property
    def kind(self) -> Kind:
        """How such a value is typed and shown."""

    @property
    def allowed(self) -> Reason:
        """What is allowed, for an error."""

    def allows(self, value: Any) -> bool:
        """Whether a field may hold `value`."""


@dataclass(frozen=True, slots=True)
class Share:
    """A number that is shown as a percentage."""

    low: float
    high: float

    @property
    def kind(self) -> Kind:
        return "percent"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.NUMBER(low=self.low, high=self.high)

    def allows(self, value: Any) -> bool:
        return _is_number(value) and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Score(Share):
    """A number that is shown as it is."""

    @property
    def kind(self) -> Kind:
        return "number"


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of something."""

    low: int
    unit: Unit

    @property
    def kind(self) -> Kind:
        return "tokens" if self.unit == "tokens" else "count"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.WHOLE(low=self.low)

    def allows(self, value: Any) -> bool:
        return _is_whole(value) and value >= self.low


@dataclass(frozen=True, slots=True)
class TextOf:
    """A text of at least so many characters."""

    least: int

    @property
    def kind(self) -> Kind:
        return "text"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TEXT(low=self.least)

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) >= self.least


@dataclass(frozen=True, slots=True)
class ModelName(TextOf):
    """The name of a model."""

    least: int = 1

    @property
    def kind(self) -> Kind:
        return "model"


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """What every field of type `bool` may hold."""

    @property
    def kind(self) -> Kind:
        return "switch"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.YES_OR_NO()

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class OneOf:
    """What every field of a `Literal` type may hold."""

    names: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        return "choice"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.ONE_OF(names=self.names)

    def allows(self, value: Any) -> bool:
        return value in self.names


@dataclass(frozen=True, slots=True)
class OrNone:
    """What every field of a type `… | None` may hold."""

    other: Range

    @property
    def kind(self) -> Kind:
        return self.other.kind

    @property
    def allowed(self) -> Reason:
        return AllowedCode.OR_NONE(allowed=self.other.allowed)

    def allows(self, value: Any) -> bool:
        return value is None or self.other.allows(value)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of names; which there are is asked when a value is checked."""

    names: Callable[[], tuple[str, ...]]
    least: int = 0
    unknown: Callable[[object], Reason | None] | None = None
    """Says which names of a value are not known, where that is why it is refused."""

    @property
    def kind(self) -> Kind:
        return "choices"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.LIST_OF(names=self.names())

    def allows(self, value: Any) -> bool:
        if not isinstance(value, tuple) or len(value) < self.least:
            return False
        known = self.names()
        return all(name in known for name in value)


@dataclass(frozen=True, slots=True)
class Falling:
    """Whole numbers, each smaller than the one before; one at least."""

    @property
    def kind(self) -> Kind:
        return "list"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.FALLING()

    def allows(self, value: Any) -> bool:
        if not (isinstance(value, tuple) and value and all(map(_is_count, value))):
            return False
        return all(later < one for one, later in pairwise(value))


@dataclass(frozen=True, slots=True)
class TurnsByMessages:
    """Pairs of messages and turns, the messages falling from pair to pair."""

    @property
    def kind(self) -> Kind:
        return "list"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TURNS_BY_MESSAGES()

    def allows(self, value: Any) -> bool:
        pairs = _pairs(value)
        if pairs is None or not all(_is_count(turns) for _, turns in pairs):
            return False
        return not pairs or Falling().allows(tuple(messages for messages, _ in pairs))


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Pairs of a tool and tokens, each tool once."""

    low: int

    @property
    def kind(self) -> Kind:
        return "names"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TOOL_LIMITS(low=self.low)

    def allows(self, value: Any) -> bool:
        pairs = _pairs(value)
        if pairs is None or not ToolNames().allows(names := tuple(name for name, _ in pairs)):
            return False
        is_least = all(_is_whole(tokens) and tokens >= self.low for _, tokens in pairs)
        return is_least and len(set(names)) == len(names)


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Names of tools, which may be any."""

    @property
    def kind(self) -> Kind:
        return "names"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TOOL_NAMES()

    def allows(self, value: Any) -> bool:
        return isinstance(value, tuple) and all(isinstance(one, str) and one for one in value)


RANGES = (Share, Score, Count, TextOf, ListOf, Falling, TurnsByMessages, ToolLimits, ToolNames)
"""Those that a declaration names; the others follow from the type."""


def _pairs(value: object) -> tuple[tuple[Any, Any], ...] | None:
    """`value` if it is a tuple of pairs."""
    if not isinstance(value, tuple):
        return None
    is_pairs = all(isinstance(one, tuple) and len(one) == 2 for one in value)
    return value if is_pairs else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0
