"""Types that codecs share: shapes, lists as they were passed and read, messages to be sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from ctxcore.errors import MessageError
from ctxcore.messages.values import Message, Reasoning, SentObject

ProviderShape = Literal["openai", "anthropic", "responses", "gemini"]
"""Dictionaries as a provider takes them."""
Shape = Literal[ProviderShape, "langchain", "pydantic-ai"]
"""The same, or message objects of a library."""
SHAPES: tuple[ProviderShape, ...] = get_args(ProviderShape)

Fit = Literal["no", "fits", "own"]
"""Whether a message is not of a shape, may be of it, or is of it and hardly any other."""

Refuse = Callable[[int, MessageError], None]
"""Called with the place of a message that cannot be read; reading goes on unless it raises."""

Places = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages in order, and the places each came from; None where message n came from place n."""

    messages: tuple[Message, ...]
    places: Places | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassedMessages:
    """A list of messages as a caller passed it, and what was read from it."""

    shape: Shape
    given: tuple[object, ...]
    messages: tuple[Message, ...]
    places: Places | None = None
    """For each message the places in `given` it came from; None: message n is at place n."""
    also: frozenset[Shape] = frozenset()
    """Other shapes in which the same list means the same."""

    def seen_as(self, shape: Shape) -> PassedMessages | None:
        """The same list as one of `shape`; None if it is not."""
        if shape == self.shape:
            return self
        return replace(self, shape=shape) if shape in self.also else None

    def places_of(self, at: int) -> tuple[int, ...]:
        """The places in the passed list that message `at` came from."""
        if not 0 <= at < len(self.messages):
            raise IndexError(f"message {at} of {len(self.messages)}")
        return (at,) if self.places is None else self.places[at]

    def raws(self, at: int) -> tuple[Mapping[str, object], ...]:
        """The caller's objects that message `at` was read from; none for a `Message` value."""
        found = (self.given[place] for place in self.places_of(at))
        return tuple(raw for raw in found if isinstance(raw, Mapping))

    @property
    def has_system(self) -> bool:
        """Whether a system message is among them."""
        return any(message.is_system for message in self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One message as it is sent; `source` is its place among the messages read, if it has one."""

    message: Message
    source: int | None = None
    is_untouched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SentGroup:
    """Neighbours that are sent as one `message` in OpenAI's shape; other codecs join themselves."""

    message: Message
    sent: tuple[Sent, ...]
    has_reasoning: bool = False


def is_thought_alone(message: Message) -> bool:
    """Whether a message holds nothing but thinking."""
    content = message.content
    return bool(content) and not message.calls and all(isinstance(p, Reasoning) for p in content)


class Codec(Protocol):
    """Reads and writes the messages of one shape."""

    shape: Shape
    maker: str
    """The provider in the possessive, for errors, e.g. `Anthropic's`."""

    def detect(self, raw: Mapping[str, object]) -> Fit:
        """Whether `raw` is a message of this shape; a malformed message fits every shape."""
        ...

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        """The messages in `entries`, each with its place in the list."""
        ...

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[SentObject]:
        """`groups` in this shape; what is untouched comes back as the caller's own object."""
        ...
