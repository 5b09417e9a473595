"""Defines messages and their parts as frozen values, without identity, token counts or pins.

Those belong to a history or a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ctxcore.json_types import JsonObject as JsonObject
from ctxcore.json_types import JsonValue as JsonValue
from ctxcore.messages.provider_compactions import summary_of
from ctxcore.plain import Plain

SentObject: TypeAlias = Any
"""A message or tool definition as it is sent, a JSON object. Each provider's SDK declares types of
its own for these, which no other type fits, so that only `Any` passes all their type checks."""

Role = Literal["system", "developer", "user", "assistant", "tool"]

ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Plain):
    """Text. `extra` holds further keys of the part (a cache mark, say) as canonical JSON."""

    text: str
    extra: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Media(Plain):
    """An image, a sound or a file; `raw` is the part as it came, canonical JSON."""

    kind: Literal["image", "audio", "file"]
    raw: str
    width: int | None = None
    height: int | None = None
    detail: str = "auto"

    @property
    def label(self) -> str:
        """The text that replaces it in a summary, e.g. `[image 1024×768]`."""
        size = f" {self.width}×{self.height}" if self.width and self.height else ""
        return f"[{self.kind}{size}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(Plain):
    """Visible thinking of a model. It is sent back only inside the open tool turn.

    `raw` holds the provider's own block where it must come back unchanged (a signature).
    """

    text: str
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Plain):
    """A refusal of the model, which OpenAI sends in a field of its own."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque(Plain):
    """A part of an unknown kind; it round-trips as canonical JSON."""

    provider: str
    raw: str

    @property
    def summary(self) -> str | None:
        """What a compaction by the provider says of the messages before it; else None."""
        return summary_of(self.provider, self.raw)

    @property
    def label(self) -> str:
        """The text that stands for it: `[its kind]`, of a compaction with the summary below."""
        summary = self.summary
        return f"[{self.provider}]" if summary is None else f"[{self.provider}]\n{summary}"


Part = Text | Media | Reasoning | Refusal | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Plain):
    """One request of a model to run a tool; `arguments` is JSON text as the model wrote it.

    `extra` holds further keys (a provider's signature, say) as canonical JSON; they go back to a
    model only inside the open tool turn, with the thinking they belong to.
    """

    id: str
    name: str
    arguments: str
    extra: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Plain):
    """One entry of a conversation.

    `answers` is the id of the call that a tool message answers; `extra` holds unknown keys of the
    original dictionary as canonical JSON, so that they round-trip.
    """

    role: Role
    content: tuple[Part, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    name: str | None = None
    action: str | None = None
    extra: str | None = None

    @property
    def text(self) -> str:
        """The text of the message; media and unknown parts as their labels, thinking left out."""
        return "\n".join(shown for part in self.content if (shown := shown_text(part)) is not None)

    @property
    def reasoning(self) -> str:
        """The visible thinking of the message; empty if there is none."""
        return "\n".join(part.text for part in self.content if isinstance(part, Reasoning))

    @property
    def is_tool_result(self) -> bool:
        """Whether this answers a tool call."""
        return self.role == "tool"

    @property
    def is_system(self) -> bool:
        """Whether this instructs the model: system, or OpenAI's newer name for it, developer."""
        return self.role in ("system", "developer")


def shown_text(part: Part) -> str | None:
    """A part as text, media and unknown parts as labels; None for thinking."""
    match part:
        case Text(text=text) | Refusal(text=text):
            return text
        case Media() | Opaque():
            return part.label
        case Reasoning():
            return None


def text_chars(message: Message) -> int:
    """The length of a message's text, fast: plans add up the lengths of long histories."""
    content = message.content
    if len(content) == 1 and isinstance(content[0], Text):
        return len(content[0].text)
    return len(message.text)


def text_message(role: Role, text: str, *, action: str | None = None) -> Message:
    """A message of one text."""
    return Message(role=role, content=(Text(text=text),), action=action)


def tool_result(call_id: str, output: str, *, name: str | None = None) -> Message:
    """The message that answers a tool call with `output`."""
    return Message(role="tool", content=(Text(text=output),), answers=call_id, name=name)
