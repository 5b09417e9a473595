"""Reads transcripts of Antigravity's agent: its steps, of which most are results of calls.

A step does not name the call it is the result of; it is that of the first one still open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import text_at, time_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_REQUEST: Final = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_MODEL: Final = re.compile(r"`Model Selection`\s+from\s+.+?\s+to\s+(.+?)\.?\s*$", re.MULTILINE)
_FROM_USER: Final = ("USER_INPUT", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE")


def _is_antigravity(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    return records.layout != "list" and any(map(_is_step, values))


def _is_step(value: JsonObject) -> bool:
    texts = all(isinstance(value.get(key), str) for key in ("source", "type", "status"))
    return texts and isinstance(value.get("step_index"), int) and type_of(value).isupper()


def _read(records: Records) -> Iterator[Transcript | Problem]:
    reader = _Reader(records.name)
    for record in records:
        reader.read(record)
    transcript = reader.builder.build(id=_own_id(records.name), titles=reader.requests)
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _own_id(name: str) -> str | None:
    """The id of the session, which a folder above its transcript is named by."""
    parts = PurePath(name).parts
    for at, part in enumerate(parts[1:], 1):
        if part == ".system_generated":
            return parts[at - 1]
    return None


class _Reader:
    """Adds the steps of a transcript to a conversation."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="antigravity", path=name)
        self.requests: list[str] = []
        self._answers = 0

    def read(self, record: Record) -> None:
        """Reads the next step."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict) or not _is_step(raw):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        clipped = raw.get("truncated_fields")
        if isinstance(clipped, list) and clipped:
            self.builder.problem(FileProblem.CLIPPED(), line=line)
        self._read(raw, type_of(raw), time_at(raw, "created_at"), line)

    def _read(self, raw: JsonObject, kind: str, time: datetime | None, line: int | None) -> None:
        content = text_at(raw, "content")
        if kind == "PLANNER_RESPONSE":
            self._answer(raw, content, time, line)
        elif kind in _FROM_USER:
            self._say(content or "", time)
        elif kind == "CHECKPOINT":
            summary = content or ""
            self.builder.compaction(RecordedCompaction(at=0, summary=summary, recorded_at=time))
        elif raw["source"] == "SYSTEM" or content is None:
            self.builder.ignore(kind)
        else:
            self.builder.result(content, name=None, time=time, line=line)

    def _say(self, content: str, time: datetime | None) -> None:
        self.builder.say("user", content, time=time)
        self.requests += _REQUEST.findall(content)
        chosen = _MODEL.findall(content)
        self.builder.model = chosen[-1] if chosen else self.builder.model

    def _answer(
        self, raw: JsonObject, content: str | None, time: datetime | None, line: int | None
    ) -> None:
        self._answers += 1
        key, thinking, calls = str(self._answers), text_at(raw, "thinking"), raw.get("tool_calls")
        given = calls if isinstance(calls, list) else []
        called = [call for call in given if isinstance(call, dict)]
        if not (thinking or content or called):
            self.builder.ignore("blank assistant")
        if thinking:
            self.builder.think(thinking, key=key, time=time)
        if content:
            self.builder.answer(content, key=key, time=time)
        for call in called:
            name, args = text_at(call, "name") or "unknown", call.get("args")
            arguments = _decoded(args) if isinstance(args, dict) else args
            call_id = text_at(call, "id")
            self.builder.call(name, arguments, call_id=call_id, key=key, time=time, line=line)


def _decoded(arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Arguments, each of which is written as JSON text of its own."""
    return {name: _value(text) for name, text in arguments.items()}


def _value(text: JsonValue) -> JsonValue:
    if not isinstance(text, str):
        return text
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


ANTIGRAVITY = Format(
    name="antigravity",
    label=FormatCode.ANTIGRAVITY(),
    matches=_is_antigravity,
    read=_read,
    suffixes=(".jsonl",),
)
