"""Reads contents in Gemini's form out of session records, with Gemini's own codec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.values import RecordedCompaction, RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.gemini import Gemini
from ctxcore.messages.values import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One content, and what its record says beside it."""

    raw: JsonObject
    """A role and parts."""
    line: int | None = None
    time: datetime | None = None
    key: str | None = None
    """Contents of one key are one answer of the model."""
    model: str | None = None
    usage: RecordedUsage | None = None


Step = Content | RecordedCompaction


def parts_of(value: JsonValue) -> list[JsonValue]:
    """The parts that a text, a part or a list of either stands for."""
    values = value if isinstance(value, list) else [value]
    return [{"text": part} if isinstance(part, str) else part for part in values if part]


def text_of(parts: Sequence[JsonValue]) -> str:
    """The texts among `parts`."""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def read_steps(builder: TranscriptBuilder, steps: Sequence[Step]) -> None:
    """Adds contents and compactions in order; calls without an id are paired by the codec."""
    contents = [(at, step) for at, step in enumerate(steps) if isinstance(step, Content)]
    found: dict[int, list[Message]] = {}

    def refuse(at: int, error: MessageError) -> None:
        step = steps[at]
        assert isinstance(step, Content)
        builder.problem(error.reason, line=step.line)

    read = Gemini().to([(at, step.raw) for at, step in contents], refuse)
    for message, places in zip(read.messages, read.places or (), strict=True):
        found.setdefault(places[0], []).append(message)
    for at, step in enumerate(steps):
        if isinstance(step, RecordedCompaction):
            builder.compaction(step)
        else:
            _add(builder, step, found.get(at, []))


def _add(builder: TranscriptBuilder, step: Content, messages: Sequence[Message]) -> None:
    for message in messages:
        builder.add(message, key=step.key, time=step.time, line=step.line)
        if message.role == "assistant":
            builder.model = step.model or builder.model
    if step.usage is not None:
        builder.usage(step.usage, key=step.key)
