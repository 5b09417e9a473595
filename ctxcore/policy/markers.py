"""The markers in the `Annotated` types of policy fields: ranges of values, groups, labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Reason

GroupName: TypeAlias = Literal[
    "preset", "window", "when", "target", "stays", "summary", "tools", "storage"
]
Unit: TypeAlias = Literal["tokens", "characters", "messages", "turns", "summaries", "days"]
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
    "prose",
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
    "storage": "Stored sessions",
}
"""The title of each group, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Group:
    """The group that a field is shown in."""

    name: GroupName


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field is called, its unit included, and what it does."""

    label: str
    help: str


class Range(Protocol):
    """The values that a field may hold."""

    @property
    def kind(self) -> Kind:
        """How such a value is entered and shown."""

    @property
    def allowed(self) -> Reason:
        """What is allowed, for error messages."""

    def allows(self, value: Any) -> bool:
        """Whether a field may hold `value`."""


@dataclass(frozen=True, slots=True)
class Share:
    """A number from `low` to `high`, shown as a percentage."""

    kind: ClassVar[Kind] = "percent"
    low: float
    high: float

    @property
    def allowed(self) -> Reason:
        return AllowedCode.NUMBER(low=self.low, high=self.high)

    def allows(self, value: Any) -> bool:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Score(Share):
    """A number from `low` to `high`, shown as it is."""

    kind: ClassVar[Kind] = "number"


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of at least `low`."""

    low: int
    unit: Unit

    @property
    def kind(self) -> Kind:
        return "tokens" if self.unit == "tokens" else "count"

    @property
    def allowed(self) -> Reason:
        return AllowedCode.WHOLE(low=self.low)

    def allows(self, value: Any) -> bool:
        return _is_whole(value, self.low)


@dataclass(frozen=True, slots=True)
class TextOf:
    """A text of at least `least` characters."""

    kind: ClassVar[Kind] = "text"
    least: int

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TEXT(low=self.least)

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) >= self.least


@dataclass(frozen=True, slots=True)
class ModelName(TextOf):
    """The name of a model."""

    kind: ClassVar[Kind] = "model"
    least: int = 1


@dataclass(frozen=True, slots=True)
class Prose:
    """A text in a person's own words, of at most `most` characters."""

    kind: ClassVar[Kind] = "prose"
    most: int

    @property
    def allowed(self) -> Reason:
        return AllowedCode.PROSE(high=self.most)

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value.strip()) and len(value) <= self.most


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """The range of every field of type `bool`."""

    kind: ClassVar[Kind] = "switch"
    allowed: ClassVar[Reason] = AllowedCode.YES_OR_NO()

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The range of every field of a `Literal` type."""

    kind: ClassVar[Kind] = "choice"
    names: tuple[str, ...]

    @property
    def allowed(self) -> Reason:
        return AllowedCode.ONE_OF(names=self.names)

    def allows(self, value: Any) -> bool:
        return value in self.names


@dataclass(frozen=True, slots=True)
class OrNone:
    """The range of every field of a type `… | None`."""

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
    """A list of known names; `names` is called at each check, since plug-ins add to them."""

    kind: ClassVar[Kind] = "choices"
    names: Callable[[], tuple[str, ...]]
    least: int = 0
    unknown: Callable[[object], Reason | None] | None = None
    """Names the unknown ones of a value, where they are why it is refused."""

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
    """At least one whole number, each smaller than the one before."""

    kind: ClassVar[Kind] = "list"
    allowed: ClassVar[Reason] = AllowedCode.FALLING()

    def allows(self, value: Any) -> bool:
        if not (isinstance(value, tuple) and value and all(map(_is_whole, value))):
            return False
        return all(later < earlier for earlier, later in pairwise(value))


@dataclass(frozen=True, slots=True)
class TurnsByMessages:
    """Pairs of messages and turns, the messages falling from pair to pair."""

    kind: ClassVar[Kind] = "list"
    allowed: ClassVar[Reason] = AllowedCode.TURNS_BY_MESSAGES()

    def allows(self, value: Any) -> bool:
        if not _are_pairs(value) or not all(_is_whole(turns) for _, turns in value):
            return False
        return not value or Falling().allows(tuple(messages for messages, _ in value))


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Pairs of a tool and its tokens, each tool once."""

    kind: ClassVar[Kind] = "names"
    low: int

    @property
    def allowed(self) -> Reason:
        return AllowedCode.TOOL_LIMITS(low=self.low)

    def allows(self, value: Any) -> bool:
        if not _are_pairs(value):
            return False
        names = tuple(name for name, _ in value)
        are_limits = all(_is_whole(tokens, self.low) for _, tokens in value)
        return ToolNames().allows(names) and are_limits and len(set(names)) == len(names)


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Names of tools, which may be any."""

    kind: ClassVar[Kind] = "names"
    allowed: ClassVar[Reason] = AllowedCode.TOOL_NAMES()

    def allows(self, value: Any) -> bool:
        return isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)


RANGES = (
    *(Share, Score, Count, TextOf, Prose, ListOf),
    *(Falling, TurnsByMessages, ToolLimits, ToolNames),
)
"""The ranges that a declaration names; the others follow from the field's type."""


def _are_pairs(value: object) -> bool:
    if not isinstance(value, tuple):
        return False
    return all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)


def _is_whole(value: object, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
