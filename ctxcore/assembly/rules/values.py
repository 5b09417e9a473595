"""The parts of a legality rule: its check, its repair, and what both work on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from ctxcore.assembly.items import Item, Merged
from ctxcore.messages.values import Message, ToolCall
from ctxcore.plain import Plain
from ctxcore.reasons.codes import RepairCode
from ctxcore.reasons.values import Reason, as_reason
from ctxcore.tokens.families import Provider, TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(Plain):
    """One thing made legal: what, and at which place of the history.

    The place counts from 0; None is a text of this library, or a tool definition.
    """

    reason: Reason
    at: int | None

    @property
    def kind(self) -> str:
        """The code of the repair, e.g. `missing_result`."""
        named = self.reason.code == RepairCode.NAMED_CALL
        code = RepairCode.RENAMED_CALL if named else self.reason.code
        return code.rpartition(".")[2]

    @property
    def detail(self) -> str:
        """What was repaired, in English."""
        return str(self.reason)


LONGEST_NAME: Final = 64  # of a tool, for OpenAI, Anthropic and Bedrock
_SENT_EVERYWHERE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS = 6  # chosen: enough to tell the tools of one request apart


@lru_cache(maxsize=1024)  # the same tools are called in every context
def is_sent_everywhere(name: str) -> bool:
    """Whether every provider takes `name` as a tool's."""
    return bool(_SENT_EVERYWHERE.fullmatch(name))


class SentNames:
    """The names that tools are sent under, given those that are defined.

    A defined tool keeps its name, with `_` for what is not allowed; where two would become the
    same, each that changes has a digest of its own name behind it. A name without
    a definition always has one.
    """

    def __init__(self, defined: Iterable[str] = ()) -> None:
        names = tuple(dict.fromkeys(defined))
        becomes = Counter(map(_legal, names))
        self._sent = {
            name: _legal(name) if becomes[_legal(name)] == 1 else _digested(name)
            for name in names
            if not is_sent_everywhere(name)
        }

    @property
    def original(self) -> Mapping[str, str]:
        """The names that are sent in place of defined ones, with the defined ones."""
        return {sent: name for name, sent in self._sent.items()}

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs of the definitions."""
        return tuple(
            Repair(reason=RepairCode.RENAMED_TOOL(name=name, new_name=sent), at=None)
            for name, sent in self._sent.items()
        )

    def applied(self, tools: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
        """`tools` as they are sent; one that keeps its name is the caller's own object."""
        return renamed_tools(tools, self._sent)

    def of(self, name: str) -> str:
        """The name that the tool `name` is sent under."""
        if is_sent_everywhere(name):
            return name
        return self._sent.get(name) or _digested(name)


def defined_names(tools: Iterable[Mapping[str, object]]) -> list[str]:
    """The names in tool definitions of any form, in order."""
    return [
        name
        for tool in tools
        for function in _functions(tool)
        if isinstance(name := function.get("name"), str)
    ]


def renamed_tools(
    tools: Sequence[Mapping[str, object]], names: Mapping[str, str]
) -> list[Mapping[str, object]]:
    """`tools` under other names; a definition that keeps its name is the caller's own object."""
    return [_renamed(tool, names) for tool in tools] if names else list(tools)


def plain(text: str) -> str:
    """`text` with `_` for characters that a provider refuses."""
    return _OTHERS.sub("_", text)


def with_digest(text: str, of: str, *, most: int) -> str:
    """`text` within `most` characters, with a digest of the original `of` behind it."""
    digest = sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{text[: most - len(digest) - 1]}_{digest}"


def _legal(name: str) -> str:
    """`name` as every provider takes it; too long a name ends in a digest."""
    if is_sent_everywhere(name):
        return name
    legal = plain(name)
    legal = legal if legal[:1].isalpha() or legal[:1] == "_" else f"_{legal}"
    return legal if len(legal) <= LONGEST_NAME else with_digest(legal, name, most=LONGEST_NAME)


def _digested(name: str) -> str:
    return with_digest(_legal(name), name, most=LONGEST_NAME)


def _functions(tool: Mapping[str, object]) -> list[Mapping[str, object]]:
    """What holds the names in a definition: Gemini lists several functions in one tool."""
    for key in ("function", "toolSpec"):
        inner = tool.get(key)
        if isinstance(inner, Mapping):
            return [inner]
    listed = tool.get("function_declarations") or tool.get("functionDeclarations")
    if isinstance(listed, list):
        return [function for function in listed if isinstance(function, Mapping)]
    return [tool]


def _renamed(tool: Mapping[str, object], names: Mapping[str, str]) -> Mapping[str, object]:
    if not any(function.get("name") in names for function in _functions(tool)):
        return tool
    return {key: _renamed_value(key, value, names) for key, value in tool.items()}


def _renamed_value(key: str, value: Any, names: Mapping[str, str]) -> object:
    """The value of a definition's `key`, with the names in it replaced."""
    if key == "name":
        return names.get(value, value)
    if key in ("function", "toolSpec") and isinstance(value, Mapping):
        return {**value, "name": names.get(value["name"], value["name"])}
    if key in ("function_declarations", "functionDeclarations") and isinstance(value, list):
        return [_renamed(item, names) if isinstance(item, Mapping) else item for item in value]
    return value


NO_TOOLS: Final = SentNames()

PROVIDERS: tuple[Provider, ...] = get_args(Provider)
STRICT: tuple[Provider, ...] = ("anthropic", "gemini", "bedrock")

Placed = tuple[int, Message]
"""A message, with its place in the list that was passed."""
Finding: TypeAlias = tuple[int | None, Reason | str]
"""Where something is that a provider refuses, and what; None: in a tool definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation(Plain):
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
    """What rules check."""

    placed: Sequence[Placed]
    unread: Sequence[tuple[int, Reason]] = ()
    """The places of what could not be read as a message, and why."""
    tools: Sequence[str] = ()
    """The names in the tool definitions, in order."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """What repairs share, and the list of what they did."""

    counter: TokenCounter
    names: SentNames = NO_TOOLS
    taken_ids: Collection[str] = ()
    """The ids of calls before the first item."""
    used_ids: set[str] = field(default_factory=set)
    repairs: list[Repair] = field(default_factory=list)
    renamed_tools: dict[str, str] = field(default_factory=dict)
    """The names that are sent, with those that they replace."""
    renamed_ids: dict[str, str] = field(default_factory=dict)

    def note(self, item: Item, reason: Reason) -> None:
        """Notes what was done to `item`."""
        self.repairs.append(Repair(reason=reason, at=item.seq - 1 if item.row else None))


class Exchange(NamedTuple):
    """A message with the tool results behind it, as it will be sent."""

    head: Item | None
    calls: tuple[ToolCall, ...]
    """Those of `head`, or their replacements."""
    results: tuple[tuple[int, Item], ...]
    """The results in order, each with the place of the call that it answers."""
    orphans: tuple[Item, ...]
    """Results without a call."""


Note = Callable[[Reason | str], None]


@dataclass(frozen=True, slots=True)
class EachMessage:
    """A repair of one message alone; returns the same object where it is legal.

    It notes what it does; a change without a note is noted as the rule's.
    """

    change: Callable[[Message, Note], Message]
    passes: Callable[[Message], bool] | None = None
    """A quick check that nearly every message passes; rules may share one."""


@dataclass(frozen=True, slots=True)
class EachExchange:
    """A repair of calls and their results; returns the same object where it is legal."""

    change: Callable[[Exchange, Bench], Exchange]


def each_call(
    is_legal: Callable[[ToolCall], bool], mend: Callable[[ToolCall, Item, Bench], ToolCall]
) -> EachExchange:
    """The repair that replaces each illegal call by what `mend` makes of it; most have none."""

    def change(exchange: Exchange, bench: Bench) -> Exchange:
        head = exchange.head
        if head is None or all(map(is_legal, exchange.calls)):
            return exchange
        mended = (call if is_legal(call) else mend(call, head, bench) for call in exchange.calls)
        return exchange._replace(calls=tuple(mended))

    return EachExchange(change)


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A repair of all items of a request together."""

    change: Callable[[list[Item], Bench], list[Item]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The repair that joins items to messages."""

    join: Callable[[Sequence[Item], Bench], list[Merged]]


Repairing = EachMessage | EachExchange | WholeRequest | Neighbours
Check = Callable[[Conversation, Provider], Iterable[Finding]]
Refusing = Literal["reading", "building"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What some providers refuse, how it is found, and how it is repaired."""

    name: str
    check: Check
    """Yields each place where a provider would refuse a conversation, and why."""
    providers: Sequence[Provider] = PROVIDERS
    repair: Repairing | None = None
    refuse: Refusing | None = None
    """Where nothing can be repaired: when the error is raised."""
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
        return [Violation(rule=self.name, at=at, reason=as_reason(why)) for at, why in found]
