"""Reads transcripts of Cursor's agent: messages of blocks like Claude's, without times.

Its calls have no ids, and most transcripts hold no results; those there are follow their calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.claude_blocks import read_blocks
from ctxcore.formats.cursor_run import is_run_event, read_run
from ctxcore.formats.fields import file_stem, object_at, text_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_SUBAGENTS: Final = "subagents"
_QUERY: Final = ("<user_query>", "</user_query>")


def _is_cursor(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    is_one = any(_is_message(value) or is_run_event(value) for value in values)
    return records.layout != "list" and is_one


def _is_message(value: JsonObject) -> bool:
    message = object_at(value, "message")
    return (
        value.get("role") in ("user", "assistant", "system")
        and isinstance(message.get("content"), (list, str))
        and "role" not in message
        and not any(key in value for key in ("type", "content", "uuid"))
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    values = [value for value in records.values if isinstance(value, dict)]
    transcript = read_run(records) if any(map(is_run_event, values)) else _transcript(records)
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _transcript(records: Records) -> Transcript:
    reader = _Reader(records.name)
    for record in records:
        reader.read(record)
    return reader.builder.build(
        id=file_stem(records.name),
        titles=reader.queries,
        parent_id=_parent_id(records.path),
    )


class _Reader:
    """Adds the records of a transcript to a conversation."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="cursor", path=name)
        self.queries: list[str] = []
        self._calls: set[str] = set()

    def read(self, record: Record) -> None:
        """Reads the next record."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
        elif type_of(raw) and "message" not in raw:
            self.builder.ignore(type_of(raw))
        elif not isinstance(object_at(raw, "message").get("content"), (list, str)):
            kind = text_at(raw, "role") or "message"
            self.builder.problem(FileProblem.NO_CONTENT(kind=kind), line=line)
        else:
            self.builder.model = text_at(raw, "model") or self.builder.model
            content = cast("JsonValue", object_at(raw, "message").get("content"))
            self._read({"role": raw.get("role"), "content": content}, line)

    def _read(self, said: JsonObject, line: int | None) -> None:
        try:
            messages = read_blocks(self.builder, said)
        except MessageError as error:
            self.builder.problem(error.reason, line=line)
            return
        for message, name in messages:
            self._add(message, name, line)

    def _add(self, message: Message, name: str | None, line: int | None) -> None:
        """Adds a message; a result that names no known call is that of the first open one."""
        self._calls.update(call.id for call in message.calls if call.id)
        if message.is_tool_result and message.answers not in self._calls:
            message = replace(message, answers="", name=name)
        if message.role == "user":
            self.queries += filter(None, [_query(message.text)])
        self.builder.add(message, key=f"line {line}", line=line)


def _query(text: str) -> str | None:
    """What a person wrote, among what the editor adds."""
    _, is_marked, rest = text.partition(_QUERY[0])
    return rest.partition(_QUERY[1])[0] if is_marked else None


def _parent_id(path: Path | None) -> str | None:
    """The transcript that a sub-agent's is below."""
    if path is None or path.parent.name != _SUBAGENTS:
        return None
    folder = path.absolute().parent.parent
    beside = sorted(PurePath(one).stem for one in folder.glob("*.jsonl"))
    return beside[0] if len(beside) == 1 else folder.name


CURSOR = Format(
    name="cursor",
    label=FormatCode.CURSOR(),
    matches=_is_cursor,
    read=_read,
    suffixes=(".jsonl",),
)
