"""What a Claude Code record says: its blocks read as messages, blank words left out.

Anthropic's own API refuses a blank text when it is sent back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.values import Problem, RecordedCompaction, RecordedUsage
from ctxcore.messages.shapes.anthropic import result_blocks, said_message, tool_message
from ctxcore.messages.values import JsonObject, JsonValue, Message, Part, Reasoning, Role, Text
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason


def to_messages(message: JsonObject) -> list[Message]:
    """A message in Claude's form: the answer, or the tool results and then the user's words."""
    content = message.get("content")
    if message.get("role") == "assistant":
        said = assistant_message(content if isinstance(content, list) else [content])
        return [said] if said else []
    words = user_message(content)
    results = [tool_message(block) for block in result_blocks(content)]
    return [*results, words] if words else results


def user_message(content: JsonValue, *, is_meta: bool = False) -> Message | None:
    """What a user record says besides tool results; None if that is nothing."""
    parts = [part for part in _parts(content, "user") if not isinstance(part, Reasoning)]
    if not parts:
        return None
    extra = '{"is_meta":true}' if is_meta else None
    return Message(role="user", content=tuple(parts), extra=extra)


def assistant_message(blocks: Sequence[JsonValue]) -> Message | None:
    """The answer that `blocks` are, from however many lines; None if they say nothing."""
    said = said_message("assistant", list(blocks))
    content = tuple(_parts(list(blocks), "assistant"))
    return replace(said, content=content) if content or said.calls else None


def content_text(content: JsonValue) -> str:
    """The words in `content`, media as labels."""
    message = user_message(content)
    return message.text if message else ""


def _parts(content: JsonValue, role: Role) -> list[Part]:
    said = said_message(role, content).content
    return [part for part in said if not (isinstance(part, Text) and not part.text.strip())]


EntryKind: TypeAlias = Literal["user", "assistant", "boundary", "summary", "link"]

_TITLE_FIELDS = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_SYNTHETIC = "<synthetic>"  # the model name of messages the program wrote itself, e.g. API errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record in its place; `content` is what a user or assistant record says."""

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
        """The provider's id of an answer; the lines of one answer share it."""
        return text_at(object_at(self.record, "message"), "id")

    @property
    def is_meta(self) -> bool:
        """Whether a program wrote this for the user; the model saw it all the same."""
        return self.record.get("isMeta") is True

    @property
    def is_prompt(self) -> bool:
        """Whether this may begin a branch: a person's words, not the output of a tool."""
        return self.kind == "user" and not self.is_meta and not self.answered_ids

    @property
    def answered_ids(self) -> list[str]:
        """The ids of the calls whose results are in here; empty text for a missing id."""
        return [text_at(block, "tool_use_id") or "" for block in self.blocks("tool_result")]

    @property
    def call_ids(self) -> list[str]:
        """The ids of the calls made in here."""
        return [call_id for block in self.blocks("tool_use") if (call_id := text_at(block, "id"))]

    @property
    def recorded_at(self) -> datetime | None:
        """When the record was written."""
        return time_at(self.record, "timestamp")

    def blocks(self, kind: str) -> list[JsonObject]:
        """The content blocks of one type."""
        blocks = self.content if isinstance(self.content, list) else []
        return [b for b in blocks if isinstance(b, dict) and b.get("type") == kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A session file sorted out; `titles` come best first."""

    entries: tuple[Entry, ...]
    titles: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: Counter[str] = field(default_factory=Counter)


def parse_log(records: Iterable[tuple[int | None, JsonValue]]) -> Log:
    """The entries of a session, each `uuid` once, with titles, problems and counts beside them."""
    entries, problems, ignored = [], [], Counter[str]()
    titles: list[JsonObject] = []
    seen: set[str] = set()
    for line, record in records:
        if not isinstance(record, dict):
            problems.append(Problem(line=line, reason=FileProblem.NO_RECORD()))
            continue
        titles += [record] if text_at(record, "type") in _TITLE_FIELDS else []
        entry, reason = _parse_entry(line, record)
        if reason is not None:
            problems.append(Problem(line=line, reason=reason))
        elif entry.uuid in seen:
            ignored["duplicate"] += 1
        else:
            entries.append(entry)
            seen |= {entry.uuid} if entry.uuid else set()
            ignored.update([_label(record)] if entry.kind == "link" else [])
    return Log(
        entries=tuple(entries),
        titles=_ranked_titles(titles, seen),
        problems=tuple(problems),
        ignored=ignored,
    )


def is_said(record: object) -> bool:
    """Whether `record` is a Claude Code user or assistant record."""
    return (
        isinstance(record, dict)
        and record.get("type") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "content" in record["message"]
    )


def _ranked_titles(records: Iterable[JsonObject], uuids: Collection[str]) -> tuple[str, ...]:
    """The latest title of each kind; summaries of other sessions, listed here too, left out."""
    titles: dict[str, str] = {}
    for record in records:
        kind, leaf = text_at(record, "type") or "", text_at(record, "leafUuid")
        title = text_at(record, _TITLE_FIELDS.get(kind, ""))
        if title and (leaf is None or leaf in uuids):
            titles[kind] = title
    return tuple(titles[kind] for kind in _TITLE_FIELDS if kind in titles)


def _parse_entry(line: int | None, record: JsonObject) -> tuple[Entry, Reason | None]:
    """The entry a record is; the reason if it should say something and does not."""
    kind, content = _kind_and_content(record)
    reason = None
    if kind in ("user", "assistant", "summary") and not isinstance(content, (str, list)):
        reason = FileProblem.NO_CONTENT(kind=text_at(record, "type"))
    return Entry(line=line, kind=kind, record=record, content=content), reason


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
    """Whether the program wrote this itself, so that it was never sent to the model."""
    by_program = object_at(record, "message").get("model") == _SYNTHETIC
    return by_program or record.get("isApiErrorMessage") is True


def _user_kind(record: JsonObject) -> EntryKind:
    if record.get("isCompactSummary") is True:
        return "summary"
    return "link" if record.get("isVisibleInTranscriptOnly") is True else "user"


def _system_kind(record: JsonObject) -> EntryKind:
    """A local command and its output are sent on as the user's words; the rest is for the page."""
    if record.get("subtype") == "compact_boundary":
        return "boundary"
    is_command = record.get("subtype") == "local_command" and bool(record.get("content"))
    return "user" if is_command else "link"


def _queued_prompt(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    """What a person typed while the model worked reaches it as an attachment."""
    attachment = object_at(record, "attachment")
    prompt = attachment.get("prompt")
    if attachment.get("type") == "queued_command" and isinstance(prompt, (str, list)) and prompt:
        return "user", prompt
    return "link", None


def _label(record: Mapping[str, object]) -> str:
    """What kind of record is ignored, e.g. `system/turn_duration`."""
    detail = text_at(record, "subtype") or text_at(object_at(record, "attachment"), "type")
    if record.get("type") == "assistant":
        detail = "synthetic"
    kind = text_at(record, "type") or "untyped"
    return f"{kind}/{detail}" if detail else kind


_Timed: TypeAlias = tuple[Message, datetime | None]


@dataclass(slots=True, kw_only=True)
class _Answer:
    """An answer while its lines and the results of its calls come in."""

    lines: list[Entry] = field(default_factory=list)
    results: list[_Timed] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether a call has no result yet."""
        return sum(len(line.blocks("tool_use")) for line in self.lines) > len(self.results)


@dataclass(slots=True, kw_only=True)
class _Compaction:
    """A compaction while its summary, the record after it, is awaited."""

    boundary: Entry | None
    summary: str | None = None


@dataclass(slots=True, kw_only=True)
class Assembly:
    """What the entries of one conversation come to."""

    messages: list[Message] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    usage: list[RecordedUsage] = field(default_factory=list)

    def add(self, message: Message, time: datetime | None) -> None:
        """Append a message."""
        self.messages.append(message)
        self.times.append(time)


_Step: TypeAlias = _Answer | _Compaction | _Timed


def assemble(entries: Iterable[Entry]) -> Assembly:
    """The messages of `entries`, with the compactions and usage that lie between them."""
    assembly = Assembly()
    for step in _steps(entries):
        match step:
            case _Answer():
                _add_answer(assembly, step)
            case _Compaction():
                assembly.compactions.append(_compaction(step, len(assembly.messages)))
            case (message, time):
                assembly.add(message, time)
    return assembly


def _steps(entries: Iterable[Entry]) -> list[_Step]:
    order = _Order()
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
    return order.steps


@dataclass(slots=True, kw_only=True)
class _Order:
    """The steps so far, and which answer a line or a result belongs to."""

    steps: list[_Step] = field(default_factory=list)
    by_message: dict[str, _Answer] = field(default_factory=dict)
    by_call: dict[str, _Answer] = field(default_factory=dict)

    def join_answer(self, entry: Entry) -> None:
        """Add a line to the answer whose id it carries; without an id it is one of its own."""
        answer = self.by_message.get(entry.message_id or "")
        if answer is None:
            answer = _Answer()
            self.steps.append(answer)
        if entry.message_id:
            self.by_message[entry.message_id] = answer
        answer.lines.append(entry)
        self.by_call.update(dict.fromkeys(entry.call_ids, answer))

    def join_user(self, entry: Entry) -> None:
        """Add the results in a record to the answers that asked for them, then its words."""
        for block in result_blocks(entry.content):
            result = (tool_message(block), entry.recorded_at)
            asked = self._asking(text_at(block, "tool_use_id"))
            if asked is None:
                self.steps.append(result)
            else:
                asked.results.append(result)
        said = user_message(entry.content, is_meta=entry.is_meta)
        if said is not None:
            self.steps.append((said, entry.recorded_at))

    def join_summary(self, entry: Entry) -> None:
        """Complete the compaction whose boundary was just before, or note one without."""
        last = self.steps[-1] if self.steps else None
        if not isinstance(last, _Compaction) or last.summary is not None:
            last = _Compaction(boundary=None)
            self.steps.append(last)
        last.summary = content_text(entry.content)

    def _asking(self, call_id: str | None) -> _Answer | None:
        """The latest answer that made this call; without an id the latest that still waits."""
        if call_id is not None:
            return self.by_call.get(call_id)
        answers = (step for step in reversed(self.steps) if isinstance(step, _Answer))
        return next((answer for answer in answers if answer.waits), None)


def _add_answer(assembly: Assembly, answer: _Answer) -> None:
    blocks: list[JsonValue] = []
    for line in answer.lines:
        blocks += line.content if isinstance(line.content, list) else [line.content]
    message = assistant_message(blocks)
    if message is not None:
        assembly.add(message, answer.lines[0].recorded_at)
    after = max(len(assembly.messages) - 1, 0)
    usage = _usage(answer.lines, after)
    if usage is not None:
        assembly.usage.append(usage)
    for result, time in answer.results:
        assembly.add(result, time)


def _compaction(step: _Compaction, at: int) -> RecordedCompaction:
    record = step.boundary.record if step.boundary else {}
    about = object_at(record, "compactMetadata")
    return RecordedCompaction(
        at=at,
        summary=step.summary or "",
        before_tokens=count_at(about, "preTokens"),
        trigger=text_at(about, "trigger"),
        recorded_at=step.boundary.recorded_at if step.boundary else None,
    )


def _usage(lines: list[Entry], after: int) -> RecordedUsage | None:
    """The usage of one answer: its last line's, as output grows from line to line."""
    last = next((line for line in reversed(lines) if _reported(line)), None)
    if last is None:
        return None
    reported = _reported(last)
    message = object_at(last.record, "message")
    return RecordedUsage(
        call_id=last.message_id or text_at(last.record, "requestId", "uuid") or "",
        after=after,
        input_tokens=count_at(reported, "input_tokens") or 0,
        cache_read_tokens=count_at(reported, "cache_read_input_tokens") or 0,
        cache_write_tokens=count_at(reported, "cache_creation_input_tokens") or 0,
        output_tokens=count_at(reported, "output_tokens") or 0,
        model=text_at(message, "model"),
        recorded_at=last.recorded_at,
    )


def _reported(line: Entry) -> dict[str, object]:
    return dict(object_at(object_at(line.record, "message"), "usage"))
