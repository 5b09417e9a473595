"""Reads chat histories of Grok's command line tool; a file beside one names it (`summary.json`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.beside import object_beside
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_canonical, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.values import Opaque, Role
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_HISTORY: Final = "chat_history.jsonl"
_SUMMARY: Final = "summary.json"
_BESIDE: Final = (_SUMMARY, "updates.jsonl", "events.jsonl", "signals.json", "plan.json")
_ROLES: Final[Mapping[str, Role]] = {"system": "system", "user": "user"}
_OWN_KEYS: Final = {
    "assistant": ("tool_calls", "model_id", "model_fingerprint"),
    "user": ("prompt_index", "synthetic_reason"),
    "tool_result": ("tool_call_id",),
    "backend_tool_call": ("kind",),
}


@dataclass(slots=True)
class _Reader:
    """Adds the records of a history to a conversation."""

    builder: TranscriptBuilder

    def read(self, record: Record) -> None:
        """Reads the next record."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict) or not type_of(raw):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        try:
            self._read(raw, line)
        except MessageError as error:
            self.builder.problem(error.reason, line=line)

    def _read(self, raw: JsonObject, line: int | None) -> None:
        kind, time = type_of(raw), time_at(raw, "timestamp", "created_at")
        if kind in _ROLES:
            said: JsonObject = {"role": _ROLES[kind], "content": _content(raw.get("content"))}
            self.builder.add(parse_message(said), time=time, line=line)
        elif kind == "assistant":
            self._answer(raw, line)
        elif kind == "tool_result":
            images = raw.get("images")
            shown = images if isinstance(images, list) else []
            text: JsonObject = {"type": "text", "text": raw.get("content")}
            content = [text, *shown] if shown else raw.get("content")
            said = {"role": "tool", "content": _content(content)}
            parts, call_id = parse_message(said).content, text_at(raw, "tool_call_id")
            self.builder.result(parts, call_id=call_id, time=time, line=line)
        elif kind == "reasoning":
            for message in Responses().to([(0, raw)], _refuse).messages:
                self.builder.think(message.reasoning, time=time)
        elif kind == "backend_tool_call":
            self.builder.answer([Opaque(provider=kind, raw=to_canonical(raw))], time=time)
        else:
            self.builder.ignore(kind)

    def _answer(self, raw: JsonObject, line: int | None) -> None:
        time, calls = time_at(raw, "timestamp", "created_at"), raw.get("tool_calls")
        said: JsonObject = {"role": "assistant", "content": _content(raw.get("content"))}
        called = (
            [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        )
        message = parse_message(said)
        if message.content or not called:
            self.builder.add(message, time=time, line=line)
        for call in called:
            inner = call.get("function")
            function = inner if isinstance(inner, dict) else call
            self.builder.call(
                text_at(function, "name") or "unknown",
                function.get("arguments"),
                call_id=text_at(call, "id"),
                time=time,
                line=line,
            )
        self.builder.model = text_at(raw, "model_id") or self.builder.model


def _refuse(_: int, error: MessageError) -> None:
    raise error


def _is_grok(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    return any(map(_is_summary, values)) or (
        records.layout == "lines" and any(map(_is_record, values))
    )


def _is_summary(value: JsonObject) -> bool:
    return "chat_format_version" in value and isinstance(value.get("info"), dict)


def _is_record(value: JsonObject) -> bool:
    kind = type_of(value)
    if any(key in value for key in ("role", "uuid", "payload", "message", "data")):
        return False
    return any(key in value for key in _OWN_KEYS.get(kind, ())) and (
        "content" in value or kind == "backend_tool_call"
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    if any(isinstance(value, dict) and _is_summary(value) for value in records.values):
        yield Problem(line=None, reason=FileProblem.PART_OF(file=_HISTORY))
        return
    builder = TranscriptBuilder(format="grok", path=records.name)
    reader = _Reader(builder)
    for record in records:
        reader.read(record)
    about = _summary(records.path)
    builder.model = builder.model or text_at(about, "current_model_id")
    folder = Path(records.name).parent.name if Path(records.name).name == _HISTORY else None
    transcript = builder.build(
        id=text_at(object_at(about, "info"), "id") or folder or None,
        titles=[text_at(about, "generated_title"), text_at(about, "session_summary")],
        parent_id=text_at(about, "parent_session_id", "parent_id"),
    )
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _summary(path: Path | None) -> Mapping[str, object]:
    """What the file beside a history says about it; nothing if there is none that can be read."""
    if path is None or path.name != _HISTORY:
        return {}
    return object_beside(path.with_name(_SUMMARY))


def _is_part(path: Path) -> bool:
    return path.name in _BESIDE and path.with_name(_HISTORY).is_file()


def _content(content: JsonValue) -> JsonValue:
    """Content in OpenAI's form, in which images are named otherwise."""
    return [*map(_part, content)] if isinstance(content, list) else content


def _part(part: JsonValue) -> JsonValue:
    if isinstance(part, dict) and type_of(part) == "image" and isinstance(part.get("url"), str):
        return {"type": "image_url", "image_url": {"url": part["url"]}}
    return part


GROK = Format(
    name="grok",
    label=FormatCode.GROK(),
    matches=_is_grok,
    read=_read,
    is_part=_is_part,
)
