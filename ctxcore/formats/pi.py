"""Reads session files of pi and of OpenClaw, which is built on it: the branch of the last entry.

Version 1 has no tree; its entries follow each other. Answers that failed or were aborted are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.branches import Link, active_branch
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.messages.shapes.anthropic import message_of_blocks, tool_message
from ctxcore.messages.values import Role
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.storage_problems import FileProblem, FormatCode
from ctxcore.reasons.values import quoted

_ROLES: Final[Mapping[str, Role]] = {
    **{"user": "user", "custom": "user", "hookMessage": "user"},
    **{"system": "system", "developer": "developer"},
}
_SUMMARIES: Final = ("compactionSummary", "branchSummary")
_SAID: Final = ("message", "custom_message", "branch_summary")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry of a session."""

    raw: JsonObject
    line: int | None

    @property
    def kind(self) -> str:
        """Its type, e.g. `message`."""
        return type_of(self.raw)

    @property
    def time(self) -> datetime | None:
        """When it was written."""
        return time_at(self.raw, "timestamp")

    @property
    def link(self) -> Link:
        """Its place in the tree.

        OpenClaw names an answer by the id of its call, too; where it goes back, it writes a `leaf`
        that names the entry to go on from.
        """
        named = "targetId" if self.kind == "leaf" else "parentId"
        own, parent = text_at(self.raw, "id"), self.raw.get(named)
        content = object_at(self.raw, "message").get("content")
        blocks = content if isinstance(content, list) else []
        calls = [text_at(b, "id") for b in blocks if isinstance(b, dict) if _is_call(b)]
        return Link(
            ids=tuple(name for name in (own, *calls) if name),
            parent=parent if isinstance(parent, str) else None,
            is_root=named in self.raw and parent is None,
        )


def _is_pi(records: Records) -> bool:
    if records.layout != "lines":
        return False
    values = [value for value in records.values if isinstance(value, dict)]
    if any(map(_is_head, values)):
        return True
    return any(_is_message(value) for value in values)


def _is_head(value: JsonObject) -> bool:
    names = ("id", "timestamp", "cwd")
    return value.get("type") == "session" and all(isinstance(value.get(key), str) for key in names)


def _is_message(value: JsonObject) -> bool:
    """Whether this is a message of a file whose head is lost, as no other program writes them."""
    message = object_at(value, "message")
    if value.get("type") != "message":
        return False
    is_answer = message.get("role") == "assistant" and {"provider", "stopReason"} <= message.keys()
    return is_answer or message.get("role") in ("toolResult", "bashExecution")


def _read(records: Records) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="pi", path=records.name)
    entries = Spool[_Entry]()
    for record in records:
        if isinstance(record.value, dict) and type_of(record.value):
            entries.append(_Entry(raw=record.value, line=record.line), size=record.size)
        else:
            builder.problem(FileProblem.NO_RECORD(), line=record.line)
    leaf = len(entries) - 1 if entries else None
    branch = active_branch([entry.link for entry in entries], leaf)
    head = next((entry.raw for entry in entries if _is_head(entry.raw)), {})
    builder.model = text_at(head, "modelId")
    for at in branch:
        _read_entry(builder, entries[at])
    for at in sorted(set(range(len(entries))) - set(branch)):
        entry = entries[at]
        if not _is_head(entry.raw):
            builder.ignore("left branch" if entry.kind in _SAID else entry.kind)
    names = [text_at(entry.raw, "name") for entry in entries if entry.kind == "session_info"]
    transcript = builder.build(id=text_at(head, "id"), titles=reversed(names))
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _read_entry(builder: TranscriptBuilder, entry: _Entry) -> None:
    raw = entry.raw
    match entry.kind:
        case "message":
            message = raw.get("message")
            if isinstance(message, dict):
                _read_message(builder, message, entry)
            else:
                builder.problem(FileProblem.NO_CONTENT(kind="message"), line=entry.line)
        case "custom_message":
            _say(builder, "user", raw.get("content"), entry)
        case "branch_summary":
            _say(builder, "user", raw.get("summary"), entry)
        case "compaction":
            builder.compaction(_compaction(raw, entry.time))
        case "model_change":
            builder.model = text_at(raw, "modelId") or builder.model
            builder.ignore("model_change")
        case "session":
            return
        case kind:
            builder.ignore(kind)


def _read_message(builder: TranscriptBuilder, message: JsonObject, entry: _Entry) -> None:
    role = text_at(message, "role") or ""
    if role == "assistant":
        _read_answer(builder, message, entry)
    elif role == "toolResult":
        _read_result(builder, message, entry)
    elif role == "bashExecution":
        _read_shell(builder, message, entry)
    elif role == "compactionSummary":
        builder.compaction(_compaction(message, entry.time))
    elif role in _SUMMARIES:
        _say(builder, "user", message.get("summary"), entry)
    elif role in _ROLES:
        _say(builder, _ROLES[role], message.get("content"), entry)
    else:
        names = (*_ROLES, "assistant", "toolResult")
        problem = MessageProblem.ROLE(value=quoted(message.get("role")), names=names)
        builder.problem(problem, line=entry.line)


def _say(builder: TranscriptBuilder, role: Role, content: JsonValue, entry: _Entry) -> None:
    try:
        builder.add(message_of_blocks(role, _blocks(content)), time=entry.time, line=entry.line)
    except MessageError as error:
        builder.problem(error.reason, line=entry.line)


def _read_answer(builder: TranscriptBuilder, raw: JsonObject, entry: _Entry) -> None:
    try:
        message = message_of_blocks("assistant", _blocks(raw.get("content")))
    except MessageError as error:
        builder.problem(error.reason, line=entry.line)
        return
    key = f"{entry.line} {text_at(entry.raw, 'id')}"
    builder.add(message, key=key, time=entry.time, line=entry.line)
    builder.model = text_at(raw, "model") or builder.model
    usage = _usage(raw, entry)
    if usage.total_input_tokens or usage.output_tokens:
        builder.usage(usage, key=key)


def _read_result(builder: TranscriptBuilder, raw: JsonObject, entry: _Entry) -> None:
    content = raw.get("content")
    blocks: JsonValue = _blocks(content) if isinstance(content, list) else content
    block: JsonObject = {"type": "tool_result", "content": blocks}
    try:
        parts = tool_message(block).content
    except MessageError as error:
        builder.problem(error.reason, line=entry.line)
        return
    call_id, name = text_at(raw, "toolCallId"), text_at(raw, "toolName")
    builder.result(parts, call_id=call_id, name=name, time=entry.time, line=entry.line)


def _read_shell(builder: TranscriptBuilder, raw: JsonObject, entry: _Entry) -> None:
    """A command that the user ran; the model is told of it, unless it was kept from it."""
    if raw.get("excludeFromContext") is True:
        builder.ignore("bashExecution")
        return
    lines = [f"$ {text_at(raw, 'command') or ''}", text_at(raw, "output") or ""]
    if code := count_at(raw, "exitCode"):
        lines.append(f"exit code {code}")
    builder.say("user", "\n".join(filter(None, lines)), time=entry.time)


def _blocks(content: JsonValue) -> JsonValue:
    """Content in Anthropic's form, which differs in names only."""
    return [*map(_block, content)] if isinstance(content, list) else content


def _block(block: JsonValue) -> JsonValue:
    if not isinstance(block, dict):
        return block
    if _is_call(block):
        named = {"id": block.get("id"), "name": block.get("name")}
        return {"type": "tool_use", **named, "input": block.get("arguments")}
    match type_of(block):
        case "thinking":
            return {"type": "thinking", "thinking": block.get("thinking")}
        case "image" if "source" not in block:
            source: JsonObject = {"media_type": block.get("mimeType"), "data": block.get("data")}
            return {"type": "image", "source": {"type": "base64", **source}}
    return block


def _is_call(block: JsonObject) -> bool:
    return type_of(block) in ("toolCall", "tool_call")


def _compaction(raw: JsonObject, time: datetime | None) -> RecordedCompaction:
    return RecordedCompaction(
        at=0,
        summary=text_at(raw, "summary") or "",
        before_tokens=count_at(raw, "tokensBefore"),
        recorded_at=time,
    )


def _usage(raw: JsonObject, entry: _Entry) -> RecordedUsage:
    """pi counts what came from or went into a cache beside the input, as is done here."""
    usage = object_at(raw, "usage")
    return RecordedUsage(
        call_id=text_at(raw, "responseId") or text_at(entry.raw, "id") or str(entry.line),
        after=0,
        input_tokens=count_at(usage, "input") or 0,
        cache_read_tokens=count_at(usage, "cacheRead") or 0,
        cache_write_tokens=count_at(usage, "cacheWrite") or 0,
        output_tokens=count_at(usage, "output") or 0,
        model=text_at(raw, "model"),
        recorded_at=entry.time,
    )


PI = Format(
    name="pi",
    label=FormatCode.PI(),
    matches=_is_pi,
    read=_read,
)
