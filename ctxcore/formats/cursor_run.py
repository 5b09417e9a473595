"""Reads the events that Cursor's command line agent prints (`--output-format stream-json`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.claude_blocks import read_blocks
from ctxcore.formats.fields import object_at, text_at
from ctxcore.formats.records import Record, Records
from ctxcore.formats.values import Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.reasons.storage_problems import FileProblem

_CALL: Final = "ToolCall"  # e.g. `readToolCall`


def is_run_event(value: JsonObject) -> bool:
    """Whether a record is an event that only these runs have: a call with its arguments inside."""
    is_call = value.get("type") == "tool_call" and isinstance(value.get("tool_call"), dict)
    return is_call and all(isinstance(value.get(key), str) for key in ("call_id", "session_id"))


def read_run(records: Records) -> Transcript:
    """The conversation of a run."""
    reader = _Reader(records.name)
    for record in records:
        reader.read(record)
    reader.end_thought()
    return reader.builder.build(id=reader.session_id)


class _Reader:
    """Adds the events of a run to a conversation."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="cursor", path=name)
        self.session_id: str | None = None
        self._thought: list[str] = []
        self._begun: set[str] = set()
        """The ids of the calls that were added."""

    def read(self, record: Record) -> None:
        """Reads the next event."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict) or not type_of(raw):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        self.session_id = self.session_id or text_at(raw, "session_id")
        self.builder.model = text_at(raw, "model") or self.builder.model
        if type_of(raw) == "thinking":
            more = raw.get("text")
            self._thought += [more] if isinstance(more, str) else []
            return
        self.end_thought()
        try:
            self._read(raw, type_of(raw), line)
        except MessageError as error:
            self.builder.problem(error.reason, line=line)

    def end_thought(self) -> None:
        """Adds the thinking that came in pieces."""
        self.builder.think("".join(self._thought))
        self._thought.clear()

    def _read(self, raw: JsonObject, kind: str, line: int | None) -> None:
        message = raw.get("message")
        if kind in ("user", "assistant") and isinstance(message, dict):
            for found, _ in read_blocks(self.builder, {**message, "role": kind}):
                self.builder.add(found, line=line)
        elif kind == "tool_call" and isinstance(call := raw.get("tool_call"), dict):
            self._call(raw, call, line)
        elif kind in ("user", "assistant", "tool_call"):
            self.builder.problem(FileProblem.NO_CONTENT(kind=kind), line=line)
        else:
            self.builder.ignore(kind)

    def _call(self, raw: JsonObject, call: Mapping[str, JsonValue], line: int | None) -> None:
        """A call, which is written when it begins, and again with its result when it ends."""
        name, inner = _inner(call)
        call_id = text_at(raw, "call_id") or ""
        if call_id not in self._begun:
            self._begun.add(call_id)
            self.builder.call(name, inner.get("args"), call_id=call_id or None, line=line)
        if raw.get("subtype") == "completed":
            text = _output(inner.get("result"))
            self.builder.result(text, call_id=call_id or None, name=name, line=line)


def _inner(call: Mapping[str, JsonValue]) -> tuple[str, Mapping[str, JsonValue]]:
    """The name of the tool, and its arguments and result."""
    for key, value in call.items():
        if isinstance(value, dict) and key.endswith(_CALL):
            return key.removesuffix(_CALL), value
    function = call.get("function")
    if isinstance(function, dict):
        given = {"args": function.get("arguments"), "result": call.get("result")}
        return text_at(function, "name") or "unknown", given
    return "unknown", {}


def _output(result: JsonValue) -> str:
    """The text that a tool gave; what has none as JSON."""
    if not isinstance(result, dict):
        return result if isinstance(result, str) else "" if result is None else to_ordered(result)
    success = object_at(result, "success")
    return text_at(success, "content") or to_ordered(result)
