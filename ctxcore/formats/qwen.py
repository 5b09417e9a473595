"""Reads sessions of Qwen Code: records in a tree, each with a content in Gemini's form.

The active branch ends with the last record that says something, or takes something back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

from ctxcore.formats.branches import Link, active_branch
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.gemini_contents import Content, Step, parts_of, read_steps, text_of
from ctxcore.formats.provider_usage import gemini_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject
from ctxcore.messages.canonical import type_of
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_SAID: Final = ("user", "assistant", "tool_result")
_MOVES: Final = ("rewind", "chat_compression")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A record of a session."""

    raw: JsonObject
    line: int | None

    @property
    def label(self) -> str:
        """Its kind, e.g. `system/custom_title`."""
        kind, subtype = type_of(self.raw), text_at(self.raw, "subtype")
        return f"{kind}/{subtype}" if subtype else kind

    @property
    def is_said(self) -> bool:
        """Whether it is of the conversation, and not about it."""
        return type_of(self.raw) in _SAID

    @property
    def payload(self) -> Mapping[str, object]:
        """What a record of the program holds."""
        return object_at(self.raw, "systemPayload")

    @property
    def time(self) -> datetime | None:
        """When it was written."""
        return time_at(self.raw, "timestamp")

    @property
    def link(self) -> Link:
        """Its place in the tree."""
        own, parent = text_at(self.raw, "uuid"), text_at(self.raw, "parentUuid")
        is_root = "parentUuid" in self.raw and self.raw["parentUuid"] is None
        return Link(ids=(own,) if own else (), parent=parent, is_root=is_root)


def _is_qwen(records: Records) -> bool:
    return any(isinstance(value, dict) and _is_record(value) for value in records.values)


def _is_record(value: JsonObject) -> bool:
    """Whether this is a record with a content in Gemini's form, or one about the session."""
    if not all(isinstance(value.get(key), str) for key in ("uuid", "sessionId", "type")):
        return False
    if isinstance(object_at(value, "message").get("parts"), list):
        return True
    return value["type"] == "system" and "systemPayload" in value and "message" not in value


def _read(records: Records) -> Iterator[Transcript | Problem]:
    problems: list[Problem] = []
    agents: dict[str, Spool[_Entry]] = defaultdict(Spool[_Entry])
    for record in records:
        if isinstance(record.value, dict) and type_of(record.value):
            entry = _Entry(raw=record.value, line=record.line)
            is_aside = entry.raw.get("isSidechain") is True
            agent = text_at(entry.raw, "agentId") if is_aside else None
            agents[agent or ""].append(entry, size=record.size)
        else:
            problems.append(Problem(line=record.line, reason=FileProblem.NO_RECORD()))
    yield from problems
    for agent, entries in agents.items():
        transcript = _transcript(agent, entries, records.name)
        if transcript.messages:
            yield transcript
        else:
            yield from transcript.problems


def _transcript(agent: str, entries: Sequence[_Entry], name: str) -> Transcript:
    builder = TranscriptBuilder(format="qwen", path=name)
    places = range(len(entries) - 1, -1, -1)
    leaf = next((at for at in places if _is_leaf(entries[at])), None)
    branch = active_branch([entry.link for entry in entries], leaf)
    for at in sorted(set(range(len(entries))) - set(branch)):
        entry = entries[at]
        builder.ignore("left branch" if entry.is_said else entry.label)
    read_steps(builder, _steps(builder, (entries[at] for at in branch)))
    session_id = next((s for entry in entries if (s := text_at(entry.raw, "sessionId"))), None)
    titled = (text_at(entries[at].payload, "customTitle") for at in reversed(branch))
    trailing = (text_at(entry.payload, "customTitle") for entry in reversed(entries))
    return builder.build(
        id=agent or session_id,
        titles=chain(titled, trailing),
        parent_id=session_id if agent else _parent_id(entries),
    )


def _is_leaf(entry: _Entry) -> bool:
    return entry.is_said or text_at(entry.raw, "subtype") in _MOVES


def _parent_id(entries: Sequence[_Entry]) -> str | None:
    """The session that started this one."""
    parents = (text_at(entry.payload, "parentSessionId") for entry in entries)
    return next((parent for parent in parents if parent), None)


def _steps(builder: TranscriptBuilder, entries: Iterable[_Entry]) -> Iterator[Step]:
    for entry in entries:
        message = entry.raw.get("message")
        if entry.label == "system/chat_compression":
            yield _compaction(entry)
        elif not entry.is_said:
            builder.ignore(entry.label)
        elif not isinstance(message, dict) or not isinstance(message.get("parts"), list):
            builder.problem(FileProblem.NO_CONTENT(kind=entry.label), line=entry.line)
        elif not message["parts"]:
            builder.ignore(f"blank {type_of(entry.raw)}")
        else:
            yield _content(entry, message)


def _content(entry: _Entry, message: JsonObject) -> Content:
    is_answer = type_of(entry.raw) == "assistant"
    usage = _usage(entry)
    return Content(
        raw={"role": "model" if is_answer else "user", "parts": message["parts"]},
        line=entry.line,
        time=entry.time,
        key=text_at(entry.raw, "uuid") if is_answer else None,
        model=text_at(entry.raw, "model"),
        usage=usage if is_answer and usage.total_input_tokens else None,
    )


def _compaction(entry: _Entry) -> RecordedCompaction:
    """A compression; its new history begins with the summary, as a user's content."""
    history = entry.payload.get("compressedHistory")
    first = history[0] if isinstance(history, list) and history else {}
    parts = first.get("parts") if isinstance(first, dict) else None
    return RecordedCompaction(
        at=0,
        summary=text_of(parts_of(parts)),
        before_tokens=count_at(object_at(entry.payload, "info"), "originalTokenCount"),
        recorded_at=entry.time,
    )


def _usage(entry: _Entry) -> RecordedUsage:
    return gemini_usage(
        object_at(entry.raw, "usageMetadata"),
        call_id=text_at(entry.raw, "uuid") or "",
        model=text_at(entry.raw, "model"),
        recorded_at=entry.time,
    )


QWEN = Format(
    name="qwen",
    label=FormatCode.QWEN(),
    matches=_is_qwen,
    read=_read,
)
