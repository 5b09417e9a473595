"""Owns what a legality rule is: how a violation is found, and what is done about it.

A rule has a `check` and either a `repair` or a `refuse`. Repairs change what is sent, never the
history, and note each thing they did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.rules.repair import Repair
from ctxcore.assembly.rules.sent_names import NO_TOOLS, SentNames
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.values import Reason, stated
from ctxcore.tokens.counter import TokenCounter

Provider = Literal["openai", "anthropic", "gemini", "bedrock"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
STRICT: tuple[Provider, ...] = ("anthropic", "gemini", "bedrock")

Placed = tuple[int, Message]
"""A message, with its place in the list that was passed."""
Finding: TypeAlias = tuple[int | None, Reason | str]
"""Where something is that a provider refuses, and what; None: in a tool definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing a provider would refuse: the rule, the place in the list passed, and why.

    The place is None where it is in a tool definition.
    """

    rule: str
    at: int | None
    reason: Reason

    @property
    def detail(self) -> str:
        """What a provider would refuse, in English."""
        return str(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What rules look at."""

    placed: Sequence[Placed]
    unread: Sequence[tuple[int, Reason]] = ()
    """What could not be read as a message, with its place."""
    tools: Sequence[str] = ()
    """The names in the tool definitions, in order."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """What repairs work with, and the list of what they did."""

    counter: TokenCounter
    names: SentNames = NO_TOOLS
    taken_ids: Collection[str] = ()
    """Of calls before the first item."""
    used_ids: set[str] = field(default_factory=set)
    repairs: list[Repair] = field(default_factory=list)
    renamed_tools: dict[str, str] = field(default_factory=dict)
    """The names that are sent, with those that they stand for."""
    renamed_ids: dict[str, str] = field(default_factory=dict)

    def note(self, item: Item, reason: Reason) -> None:
        """Notes what was done to `item`."""
        self.repairs.append(Repair(reason=reason, at=item.seq - 1 if item.row else None))


class Exchange(NamedTuple):
    """A message with the tool results behind it, as it will be sent."""

    head: Item | None
    calls: tuple[ToolCall, ...]
    """Those of `head`, or what takes their place."""
    results: tuple[tuple[int, Item], ...]
    """The results in order, each with the place of the call that it answers."""
    orphans: tuple[Item, ...]
    """Results without a call."""

    def calling(self, calls: tuple[ToolCall, ...]) -> Exchange:
        """This exchange with other calls, one for each."""
        return self if calls == self.calls else self._replace(calls=calls)

    def mending(
        self,
        is_legal: Callable[[ToolCall], bool],
        mend: Callable[[ToolCall, Item, Bench], ToolCall],
        bench: Bench,
    ) -> Exchange:
        """This exchange with each call that is not legal mended; most have none."""
        for call in self.calls:
            if not is_legal(call):
                break
        else:
            return self
        assert self.head is not None  # it has calls
        head = self.head
        mended = (call if is_legal(call) else mend(call, head, bench) for call in self.calls)
        return self.calling(tuple(mended))


Note = Callable[[Reason | str], None]


@dataclass(frozen=True, slots=True)
class EachMessage:
    """A repair that looks at one message alone; gives back the same one where it is legal.

    What it does it notes; a change without a note is noted as the rule's.
    """

    change: Callable[[Message, Note], Message]
    passes: Callable[[Message], bool] | None = None
    """A quick look that lets nearly every message pass; rules may share one."""


@dataclass(frozen=True, slots=True)
class EachExchange:
    """A repair of calls and their results; gives back the same exchange where it is legal."""

    change: Callable[[Exchange, Bench], Exchange]


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A repair that looks at all items of a request."""

    change: Callable[[list[Item], Bench], list[Item]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The repair that makes items messages."""

    join: Callable[[Sequence[Item], Bench], list[Merged]]


Repairing = EachMessage | EachExchange | WholeRequest | Neighbours
Check = Callable[[Conversation, Provider], Iterable[Finding]]
Refusing = Literal["reading", "building"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What some providers refuse, how it is found, and what is done about it."""

    name: str
    check: Check
    """Tells each place where a provider would refuse a conversation, and why."""
    providers: Sequence[Provider] = PROVIDERS
    repair: Repairing | None = None
    refuse: Refusing | None = None
    """Where nothing can be repaired: as a list is read, or as a context is built, an error is
    raised."""
    broken: Sequence[Mapping[str, object]] = ()
    """A conversation that breaks this rule."""
    broken_tools: Sequence[Mapping[str, object]] = ()

    def __post_init__(self) -> None:
        if (self.repair is None) == (self.refuse is None):
            raise ValueError(f"rule {self.name!r} needs either a repair or a refuse")

    def violations(self, conversation: Conversation, provider: Provider) -> list[Violation]:
        """What `provider` would refuse because of this rule."""
        if provider not in self.providers:
            return []
        found = self.check(conversation, provider)
        return [Violation(rule=self.name, at=at, reason=stated(why)) for at, why in found]
