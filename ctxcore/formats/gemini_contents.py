"""Reads contents in Gemini's form out of session records, with Gemini's own codec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


def read_steps(builder: TranscriptBuilder, steps: Iterable[Step]) -> None:
    """Adds contents and compactions in order; responses without an id follow their calls."""
    for answer in _by_answer(steps):
        contents = [(at, step) for at, step in answer if isinstance(step, Content)]
        found = _read(builder, contents)
        for at, step in answer:
            if isinstance(step, RecordedCompaction):
                builder.compaction(step)
            else:
                _add(builder, step, found.get(at, []))


def _by_answer(steps: Iterable[Step]) -> Iterator[list[tuple[int, Step]]]:
    """The steps with their places, each answer with what follows it.

    Read together, the codec would join two answers with calls, of which each has its own usage.
    """
    answer: list[tuple[int, Step]] = []
    for at, step in enumerate(steps):
        if answer and isinstance(step, Content) and step.raw.get("role") == "model":
            yield answer
            answer = []
        answer.append((at, step))
    yield answer


def _read(
    builder: TranscriptBuilder, contents: Sequence[tuple[int, Content]]
) -> dict[int, list[Message]]:
    """The messages in contents, by the place of the content."""
    lines = {at: content.line for at, content in contents}

    def refuse(at: int, error: MessageError) -> None:
        builder.problem(error.reason, line=lines[at])

    read = Gemini().to([(at, content.raw) for at, content in contents], refuse)
    found: dict[int, list[Message]] = {}
    for message, places in zip(read.messages, read.places or (), strict=True):
        found.setdefault(places[0], []).append(message)
    return found


def _add(builder: TranscriptBuilder, step: Content, messages: Sequence[Message]) -> None:
    for message in messages:
        builder.add(message, key=step.key, time=step.time, line=step.line)
        if message.role == "assistant":
            builder.model = step.model or builder.model
    if step.usage is not None:
        builder.usage(step.usage, key=step.key)
