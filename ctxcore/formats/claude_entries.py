"""Reads the records of a Claude Code session and assembles them into messages.

The lines of one answer become one message, with the results of its calls right behind it. Blank
texts are left out, since Anthropic's API refuses them when they are sent back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.provider_usage import anthropic_usage
from ctxcore.formats.records import Problem
from ctxcore.formats.values import RecordedCompaction, RecordedUsage
from ctxcore.messages.shapes.anthropic import message_of_blocks, result_blocks, tool_message
from ctxcore.messages.values import JsonObject, JsonValue, Message, Reasoning, Role, Text
from ctxcore.reasons.storage_problems import FileProblem


def to_messages(message: JsonObject) -> list[Message]:
    """A message in Claude's form: the answer, or the tool results and then the user's message."""
    content = message.get("content")
    if message.get("role") == "assistant":
        answer = _message("assistant", content if isinstance(content, list) else [content])
        return [answer] if answer else []
    user = _user_message(content)
    results = [tool_message(block) for block in result_blocks(content)]
    return [*results, user] if user else results


def _user_message(content: JsonValue, *, is_meta: bool = False) -> Message | None:
    """The content of a user record besides tool results; None if there is none."""
    message = _message("user", content)
    parts = [part for part in message.content if not isinstance(part, Reasoning)] if message else []
    if not parts:
        return None
    extra = '{"is_meta":true}' if is_meta else None
    return Message(role="user", content=tuple(parts), extra=extra)


def _message(role: Role, content: JsonValue) -> Message | None:
    """`content` without tool results and blank texts; None if nothing is left."""
    message = message_of_blocks(role, content)
    parts = tuple(p for p in message.content if not isinstance(p, Text) or p.text.strip())
    return replace(message, content=parts) if parts or message.calls else None


EntryKind: TypeAlias = Literal["user", "assistant", "boundary", "summary", "link"]

_TITLE_FIELDS = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_SYNTHETIC = "<synthetic>"  # the model name of messages that the program wrote, e.g. API errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record; `content` is that of a user or assistant message."""

    line: int | None
    kind: EntryKind
    record: JsonObject
    content: JsonValue = None

    @property
    def uuid(self) -> str | None:
        """The record's own id."""
        return text_at(self.record, "uuid")

    @property
    def message_id(self) -> str | None:
        """The provider's id of an answer, shared by all of its lines."""
        return text_at(object_at(self.record, "message"), "id")

    @property
    def is_meta(self) -> bool:
        """Whether a program wrote this user message; it was sent to the model too."""
        return self.record.get("isMeta") is True

    @property
    def is_prompt(self) -> bool:
        """Whether a person wrote this, so that a branch may begin with it."""
        return self.kind == "user" and not self.is_meta and not self.answered_ids

    @property
    def answered_ids(self) -> list[str]:
        """The ids of the calls that this record answers; empty text for a missing id."""
        return [text_at(block, "tool_use_id") or "" for block in self.blocks("tool_result")]

    @property
    def call_ids(self) -> list[str]:
        """The ids of the calls in this record."""
        return [call_id for block in self.blocks("tool_use") if (call_id := text_at(block, "id"))]

    @property
    def recorded_at(self) -> datetime | None:
        """The time of the record."""
        return time_at(self.record, "timestamp")

    def blocks(self, kind: str) -> list[JsonObject]:
        """The content blocks of one type."""
        blocks = self.content if isinstance(self.content, list) else []
        return [b for b in blocks if isinstance(b, dict) and b.get("type") == kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The entries of a session file and all else that is in it; the best title comes first."""

    entries: tuple[Entry, ...]
    titles: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: Counter[str] = field(default_factory=Counter)


def parse_log(records: Iterable[tuple[int | None, JsonValue]]) -> Log:
    """The entries of a session, each `uuid` once, with titles, problems and ignored records."""
    entries, problems, ignored = [], [], Counter[str]()
    titles: list[JsonObject] = []
    seen: set[str] = set()
    for line, record in records:
        if not isinstance(record, dict):
            problems.append(Problem(line=line, reason=FileProblem.NO_RECORD()))
            continue
        if text_at(record, "type") in _TITLE_FIELDS:
            titles.append(record)
        kind, content = _kind_and_content(record)
        entry = Entry(line=line, kind=kind, record=record, content=content)
        has_content = kind in ("boundary", "link") or isinstance(content, (str, list))
        if not has_content:
            reason = FileProblem.NO_CONTENT(kind=text_at(record, "type"))
            problems.append(Problem(line=line, reason=reason))
        elif entry.uuid in seen:
            ignored["duplicate"] += 1
        else:
            entries.append(entry)
            if entry.uuid:
                seen.add(entry.uuid)
            if kind == "link":
                ignored[_label(record)] += 1
    return Log(
        entries=tuple(entries),
        titles=_ranked_titles(titles, seen),
        problems=tuple(problems),
        ignored=ignored,
    )


def is_message(record: object) -> bool:
    """Whether `record` is a Claude Code user or assistant record."""
    return (
        isinstance(record, dict)
        and record.get("type") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "content" in record["message"]
    )


def _ranked_titles(records: Iterable[JsonObject], uuids: Collection[str]) -> tuple[str, ...]:
    """The latest title of each kind, without the summaries of other sessions in the file."""
    titles: dict[str, str] = {}
    for record in records:
        kind, leaf = text_at(record, "type") or "", text_at(record, "leafUuid")
        title = text_at(record, _TITLE_FIELDS.get(kind, ""))
        if title and (leaf is None or leaf in uuids):
            titles[kind] = title
    return tuple(titles[kind] for kind in _TITLE_FIELDS if kind in titles)


def _kind_and_content(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    match record.get("type"):
        case "assistant":
            return ("link" if _is_synthetic(record) else "assistant"), content
        case "user":
            return _user_kind(record), content
        case "system":
            return _system_kind(record), record.get("content")
        case "attachment":
            return _queued_prompt(record)
    return "link", None


def _is_synthetic(record: JsonObject) -> bool:
    """Whether the program wrote this answer, which was then never sent to the model."""
    by_program = object_at(record, "message").get("model") == _SYNTHETIC
    return by_program or record.get("isApiErrorMessage") is True


def _user_kind(record: JsonObject) -> EntryKind:
    if record.get("isCompactSummary") is True:
        return "summary"
    return "link" if record.get("isVisibleInTranscriptOnly") is True else "user"


def _system_kind(record: JsonObject) -> EntryKind:
    """Local commands and their output are sent to the model as user messages; all else is not."""
    if record.get("subtype") == "compact_boundary":
        return "boundary"
    is_command = record.get("subtype") == "local_command" and bool(record.get("content"))
    return "user" if is_command else "link"


def _queued_prompt(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    """A prompt that was typed while the model worked is recorded as an attachment."""
    attachment = object_at(record, "attachment")
    prompt = attachment.get("prompt")
    if attachment.get("type") == "queued_command" and isinstance(prompt, (str, list)) and prompt:
        return "user", prompt
    return "link", None


def _label(record: Mapping[str, object]) -> str:
    """The kind of an ignored record, e.g. `system/turn_duration`."""
    detail = text_at(record, "subtype") or text_at(object_at(record, "attachment"), "type")
    if record.get("type") == "assistant":
        detail = "synthetic"
    kind = text_at(record, "type") or "untyped"
    return f"{kind}/{detail}" if detail else kind


_Timed: TypeAlias = tuple[Message, datetime | None]


@dataclass(slots=True, kw_only=True)
class _Answer:
    """The lines of an answer, and the results of its calls."""

    lines: list[Entry] = field(default_factory=list)
    results: list[_Timed] = field(default_factory=list)

    @property
    def has_open_calls(self) -> bool:
        """Whether a call has no result yet."""
        return sum(len(line.blocks("tool_use")) for line in self.lines) > len(self.results)


@dataclass(slots=True, kw_only=True)
class _Compaction:
    """A compaction; its summary is in the record after the boundary."""

    boundary: Entry | None
    summary: str | None = None


@dataclass(slots=True, kw_only=True)
class Assembly:
    """The messages of one conversation, with times, compactions and usage."""

    messages: list[Message] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    usage: list[RecordedUsage] = field(default_factory=list)

    def add(self, message: Message, time: datetime | None) -> None:
        """Appends a message."""
        self.messages.append(message)
        self.times.append(time)


_Step: TypeAlias = _Answer | _Compaction | _Timed


def assemble(entries: Iterable[Entry]) -> Assembly:
    """The messages of `entries`, with the compactions and usage between them."""
    order, assembly = _Order(), Assembly()
    for entry in entries:
        match entry.kind:
            case "assistant":
                order.join_answer(entry)
            case "user":
                order.join_user(entry)
            case "boundary":
                order.steps.append(_Compaction(boundary=entry))
            case "summary":
                order.join_summary(entry)
    for step in order.steps:
        match step:
            case _Answer():
                _add_answer(assembly, step)
            case _Compaction():
                assembly.compactions.append(_compaction(step, len(assembly.messages)))
            case (message, time):
                assembly.add(message, time)
    return assembly


@dataclass(slots=True, kw_only=True)
class _Order:
    """The steps so far, and the answer that each line or result belongs to."""

    steps: list[_Step] = field(default_factory=list)
    by_message: dict[str, _Answer] = field(default_factory=dict)
    by_call: dict[str, _Answer] = field(default_factory=dict)

    def join_answer(self, entry: Entry) -> None:
        """Adds a line to the answer of the same id; without an id it is an answer of its own."""
        answer = self.by_message.get(entry.message_id or "")
        if answer is None:
            answer = _Answer()
            self.steps.append(answer)
        if entry.message_id:
            self.by_message[entry.message_id] = answer
        answer.lines.append(entry)
        self.by_call.update(dict.fromkeys(entry.call_ids, answer))

    def join_user(self, entry: Entry) -> None:
        """Adds the results in a record to the answers with their calls, then the user's message."""
        for block in result_blocks(entry.content):
            result = (tool_message(block), entry.recorded_at)
            answer = self._calling(text_at(block, "tool_use_id"))
            if answer is None:
                self.steps.append(result)
            else:
                answer.results.append(result)
        message = _user_message(entry.content, is_meta=entry.is_meta)
        if message is not None:
            self.steps.append((message, entry.recorded_at))

    def join_summary(self, entry: Entry) -> None:
        """Completes the compaction whose boundary was just before, or adds one without."""
        last = self.steps[-1] if self.steps else None
        if not isinstance(last, _Compaction) or last.summary is not None:
            last = _Compaction(boundary=None)
            self.steps.append(last)
        message = _user_message(entry.content)
        last.summary = message.text if message else ""

    def _calling(self, call_id: str | None) -> _Answer | None:
        """The latest answer with this call; without an id the latest with an open call."""
        if call_id is not None:
            return self.by_call.get(call_id)
        answers = (step for step in reversed(self.steps) if isinstance(step, _Answer))
        return next((answer for answer in answers if answer.has_open_calls), None)


def _add_answer(assembly: Assembly, answer: _Answer) -> None:
    blocks: list[JsonValue] = []
    for line in answer.lines:
        blocks += line.content if isinstance(line.content, list) else [line.content]
    message = _message("assistant", blocks)
    if message is not None:
        assembly.add(message, answer.lines[0].recorded_at)
    after = max(len(assembly.messages) - 1, 0)
    if (usage := _usage(answer.lines, after)) is not None:
        assembly.usage.append(usage)
    for result, time in answer.results:
        assembly.add(result, time)


def _compaction(step: _Compaction, at: int) -> RecordedCompaction:
    metadata = object_at(step.boundary.record if step.boundary else {}, "compactMetadata")
    return RecordedCompaction(
        at=at,
        summary=step.summary or "",
        before_tokens=count_at(metadata, "preTokens"),
        trigger=text_at(metadata, "trigger"),
        recorded_at=step.boundary.recorded_at if step.boundary else None,
    )


def _usage(lines: list[Entry], after: int) -> RecordedUsage | None:
    """The usage of one answer: its last line's, since output grows from line to line."""
    messages = [(line, object_at(line.record, "message")) for line in reversed(lines)]
    found = next(((line, m) for line, m in messages if object_at(m, "usage")), None)
    if found is None:
        return None
    last, message = found
    return anthropic_usage(
        object_at(message, "usage"),
        call_id=last.message_id or text_at(last.record, "requestId", "uuid") or "",
        after=after,
        model=text_at(message, "model"),
        recorded_at=last.recorded_at,
    )
