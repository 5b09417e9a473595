"""Reads sessions of Factory's Droid: those it stores, and the events that `droid exec` prints.

A file beside a stored session names its model (`*.settings.json`). An event at the end of a run
repeats its last answer; the tokens it counts are those of the whole run, so no usage is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.beside import object_beside
from ctxcore.formats.branches import Link, active_branch
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.claude_blocks import read_blocks
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import Format, RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.shapes.outputs import shell_text
from ctxcore.messages.values import Role
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_SETTINGS: Final = ".settings.json"
_EVENTS: Final[Mapping[str, str]] = {
    "message": "text",
    "tool_call": "toolName",
    "tool_result": "value",
    "completion": "finalText",
}
"""What the events of a run hold, by their type."""
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
}
_REMINDER: Final = "</system-reminder>"


def _is_droid(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    return records.layout != "list" and any(
        check(value) for value in values for check in (_is_stored, _is_event, _is_settings)
    )


def _is_stored(value: JsonObject) -> bool:
    """Whether this is the head of a stored session, or a message with Claude's blocks."""
    kind = value.get("type")
    if kind == "session_start":
        return any(key in value for key in ("id", "title", "cwd", "session"))
    message = object_at(value, "message")
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    is_entry = kind == "message" and message.get("role") in ("user", "assistant")
    return is_entry and any(type_of(block) in ("tool_use", "tool_result") for block in blocks)


def _is_event(value: JsonObject) -> bool:
    own = _EVENTS.get(type_of(value))
    return own is not None and own in value and "timestamp" in value and bool(_session_id(value))


def _is_settings(value: JsonObject) -> bool:
    return "assistantActiveTimeMs" in value and "tokenUsage" in value


def _session_id(value: Mapping[str, object]) -> str | None:
    return text_at(value, "session_id", "sessionId")


def _read(records: Records) -> Iterator[Transcript | Problem]:
    values = [value for value in records.values if isinstance(value, dict)]
    if any(map(_is_settings, values)):
        yield Problem(line=None, reason=FileProblem.PART_OF(file="*.jsonl"))
        return
    is_run = any(map(_is_event, values)) and not any(map(_is_stored, values))
    transcript = _run(records) if is_run else _stored(records)
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry of a stored session."""

    raw: JsonObject
    line: int | None

    @property
    def kind(self) -> str:
        """Its type, e.g. `message`."""
        return type_of(self.raw)

    @property
    def is_message(self) -> bool:
        """Whether somebody says something in it."""
        return self.kind == "message" and isinstance(self.raw.get("message"), dict)

    @property
    def link(self) -> Link:
        """Its place in the tree."""
        own, parent = text_at(self.raw, "id"), text_at(self.raw, "parentId", "parent_id")
        return Link(ids=(own,) if own else (), parent=parent)


def _stored(records: Records) -> Transcript:
    builder = TranscriptBuilder(format="droid", path=records.name)
    entries = Spool[_Entry]()
    for record in records:
        if isinstance(record.value, dict) and type_of(record.value):
            entries.append(_Entry(raw=record.value, line=record.line), size=record.size)
        else:
            builder.problem(FileProblem.NO_RECORD(), line=record.line)
    said = [at for at, entry in enumerate(entries) if entry.is_message]
    branch = set(active_branch([entry.link for entry in entries], said[-1] if said else None))
    for at, entry in enumerate(entries):
        if entry.is_message and at not in branch:
            builder.ignore("left branch")
        elif entry.kind != "session_start":
            _read_entry(builder, entry)
    head = next((entry.raw for entry in entries if entry.kind == "session_start"), {})
    builder.model = builder.model or _model(records.path)
    return builder.build(
        id=text_at(head, "id") or text_at(object_at(head, "session"), "id"),
        titles=[text_at(head, "sessionTitle", "title")],
        parent_id=text_at(head, "parent", "callingSessionId", "parentSessionId"),
    )


def _read_entry(builder: TranscriptBuilder, entry: _Entry) -> None:
    raw, time = entry.raw, time_at(entry.raw, "timestamp")
    message = raw.get("message")
    if entry.kind == "compaction_state":
        builder.compaction(_compaction(raw, time))
    elif entry.kind != "message":
        builder.ignore(entry.kind)
    elif not isinstance(message, dict) or not isinstance(message.get("content"), (list, str)):
        builder.problem(FileProblem.NO_CONTENT(kind="message"), line=entry.line)
    else:
        _read_message(builder, message, entry, time)


def _read_message(
    builder: TranscriptBuilder, message: JsonObject, entry: _Entry, time: datetime | None
) -> None:
    try:
        messages = read_blocks(builder, message)
    except MessageError as error:
        builder.problem(error.reason, line=entry.line)
        return
    for found, _ in messages:
        key = text_at(message, "id") or f"line {entry.line}"
        builder.add(found, key=key, time=time, line=entry.line)
    builder.model = text_at(message, "model") or builder.model


def _compaction(raw: JsonObject, time: datetime | None) -> RecordedCompaction:
    return RecordedCompaction(
        at=0,
        summary=text_at(raw, "summaryText", "summary")
        or text_at(object_at(raw, "summary"), "body", "text")
        or "",
        before_tokens=count_at(raw, "tokensBefore"),
        trigger=text_at(raw, "summaryKind", "trigger"),
        recorded_at=time,
    )


def _model(path: Path | None) -> str | None:
    """The model that the file beside a session names."""
    return text_at(object_beside(path.with_suffix(_SETTINGS) if path else None), "model")


def _run(records: Records) -> Transcript:
    reader = _RunReader(records.name)
    for record in records:
        reader.read(record)
    return reader.builder.build(id=reader.session_id, titles=reader.prompts)


class _RunReader:
    """Adds the events of a run to a conversation."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="droid", path=name)
        self.session_id: str | None = None
        self.prompts: list[str] = []
        self._answer: str | None = None

    def read(self, record: Record) -> None:
        """Reads the next event."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict) or not type_of(raw):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        self.session_id = self.session_id or _session_id(raw)
        self.builder.model = text_at(raw, "model") or self.builder.model
        self._read(raw, type_of(raw), time_at(raw, "timestamp"), line)

    def _read(self, raw: JsonObject, kind: str, time: datetime | None, line: int | None) -> None:
        call_id = text_at(raw, "toolCallId", "id")
        match kind:
            case "message":
                self._message(raw, time, line)
            case "reasoning":
                self.builder.think(text_at(raw, "text", "content") or "", time=time)
            case "tool_call":
                name = text_at(raw, "toolName", "toolId") or "unknown"
                arguments = raw.get("parameters")
                self.builder.call(name, arguments, call_id=call_id, time=time, line=line)
            case "tool_result":
                tool = text_at(raw, "toolName", "toolId")
                given = _output(raw.get("value", raw.get("error")))
                self.builder.result(given, call_id=call_id, name=tool, time=time, line=line)
            case "completion":
                self._end(text_at(raw, "finalText"), time)
            case _:
                self.builder.ignore(kind)

    def _message(self, raw: JsonObject, time: datetime | None, line: int | None) -> None:
        role, said = _ROLES.get(text_at(raw, "role") or ""), text_at(raw, "text", "content")
        if role == "assistant" and said:
            self._answer = said
            self.builder.answer(said, time=time)
        elif role in ("user", "system"):
            self.builder.say(role, said or "", time=time)
            self.prompts += [(said or "").rpartition(_REMINDER)[2]] if role == "user" else []
        else:
            self.builder.problem(FileProblem.NO_CONTENT(kind="message"), line=line)

    def _end(self, text: str | None, time: datetime | None) -> None:
        """The last answer again, which some versions write nowhere else."""
        if text and text != self._answer:
            self.builder.answer(text, time=time)
        else:
            self.builder.ignore("completion")


def _output(value: JsonValue) -> str:
    """What a tool gave: text, what a command printed, or any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) <= {"stdout", "stderr", "exitCode"}:
        printed = shell_text([value])
        code = value.get("exitCode")
        if printed is not None:
            return f"{printed}\n[exit code {code}]" if code else printed
    return "" if value is None else to_ordered(value)


def _is_part(path: Path) -> bool:
    name = path.name.removesuffix(_SETTINGS)
    return name != path.name and path.with_name(f"{name}.jsonl").is_file()


DROID = Format(
    name="droid",
    label=FormatCode.DROID(),
    matches=_is_droid,
    read=_read,
    is_part=_is_part,
)
