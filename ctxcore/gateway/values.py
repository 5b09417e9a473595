"""Types of a model call: connection, request, stream events, usage and reply.

A number that a provider did not report is None, never 0.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ctxcore.messages.values import JsonObject, JsonValue, Message, Reasoning, Text, ToolCall
from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(Plain):
    """How a model is reached. It holds the name of the key's variable, never the key itself.

    Without `key_env` an own server (`api_base`) gets a placeholder, not the key that the
    environment holds for the public service.
    """

    name: str
    model: str
    """The default model of this connection; a request may name another one."""
    api_base: str | None = None
    key_env: str | None = None
    options: Mapping[str, JsonValue] = field(default_factory=dict, repr=False, hash=False)
    """Further arguments of the provider, e.g. `{"api_version": "2024-10-21"}`; not for keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model, ready to send; `messages` and `tools` as OpenAI writes them."""

    model: str
    messages: Sequence[JsonObject]
    tools: Sequence[JsonObject] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    connection: Connection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Plain):
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(Plain):
    """The next piece of the visible thinking."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDelta(Plain):
    """The next piece of a tool call being written; the whole call is in `ModelReply.calls`.

    `index` is the position of the call in this reply; `name` comes with its first piece.
    """

    index: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Plain):
    """A heartbeat while nothing arrives, so that the reader can close the stream."""

    seconds: float
    """How long the call has been running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage(Plain):
    """Tokens as the provider reported them; `cached` and `cache_write` are parts of `input`.

    `cache_hour_tokens` is the part of `cache_write_tokens` that is kept for an hour, and
    `reasoning_tokens` a part of `output_tokens`. What the provider cleared by itself it left out of
    what it was sent, so it is no part of `input_tokens`.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_hour_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cleared_parts: int | None = None
    """Uses of tools and turns with thinking."""
    cleared_tokens: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether the provider reported anything."""
        return self.input_tokens is not None or self.output_tokens is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply(Plain):
    """The whole answer, the last event of a stream that was not closed early."""

    text: str
    thoughts: tuple[Reasoning, ...]
    """The visible thinking; `raw` keeps signed blocks, which the provider needs back."""
    calls: tuple[ToolCall, ...]
    finish_reason: str
    """`stop`, `length`, `tool_calls` or `content_filter`; others as the provider names them."""
    usage: ModelUsage
    model: str
    cost: float | None
    """US dollars; None where the price or the usage is not known."""
    latency_seconds: float
    first_token_seconds: float | None

    @property
    def reasoning(self) -> str:
        """The visible thinking as one text; empty if there is none."""
        return "".join(thought.text for thought in self.thoughts)

    @property
    def message(self) -> Message:
        """The reply as the assistant message to append to a history."""
        text = (Text(text=self.text),) if self.text else ()
        return Message(role="assistant", content=(*self.thoughts, *text), calls=self.calls)


StreamEvent: TypeAlias = TextDelta | ReasoningDelta | CallDelta | Waiting | ModelReply


class Gateway(Protocol):
    """Sends one request to a model; safe to share between threads."""

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The reply piece by piece, a `ModelReply` last. Closing it cancels the call.

        Raises (from the iterator):
            ProviderError: the call failed; what was yielded before stays valid.
        """
        ...

    def complete(self, request: ModelRequest) -> ModelReply:
        """The whole reply.

        Raises:
            ProviderError: the call failed.
        """
        ...
