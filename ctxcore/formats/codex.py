"""Reads rollouts of Codex: Responses items, each wrapped in a record with its time.

Events repeat what the items hold, so they are messages only where a file has no items that are.
Turns that were rolled back are left out. The first rollouts have no wrapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias, cast

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, is_prompt, object_at, text_at, time_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_WRAPPED: Final = frozenset(
    {
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
        *("world_state", "inter_agent_communication"),
    }
)
_USER: Final = "user_message"
_SPOKEN: Final = ("agent_message", "turn.completed")
_OWN_KEYS: Final = ("internal_chat_message_metadata_passthrough", "metadata")  # Codex's own notes
_NO_MESSAGES: Final = frozenset({"ghost_snapshot", "compaction", "context_compaction", "other"})

_Kind: TypeAlias = Literal["item", "event", "usage", "compaction", "rollback", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A record that bears on the conversation; `raw` is its payload."""

    kind: _Kind
    raw: JsonObject
    line: int | None
    time: datetime | None

    @property
    def role(self) -> str:
        """Who said it, of an item that is a message; empty for all others."""
        is_message = self.kind == "item" and type_of(self.raw) == "message"
        return (text_at(self.raw, "role") or "") if is_message else ""

    @property
    def text(self) -> str:
        """The text of a message."""
        parts = self.raw.get("content")
        texts = (
            (text_at(part, "text") for part in parts or () if isinstance(part, dict))
            if (isinstance(parts, list))
            else (text_at(self.raw, "content"),)
        )
        return "\n".join(text for text in texts if text)


@dataclass(slots=True, kw_only=True)
class _Log:
    """The records of a rollout: those of the conversation, and what is said about it."""

    builder: TranscriptBuilder
    meta: JsonObject = field(default_factory=dict)
    entries: list[_Entry] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Reads the next record."""
        value, line = record.value, record.line
        if not isinstance(value, dict):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        kind, payload, time = text_at(value, "type"), value.get("payload"), _time(value)
        if isinstance(payload, dict) and kind:
            self._add_payload(kind, payload, line, time)
        elif kind in _WRAPPED:
            self.builder.problem(FileProblem.NO_CONTENT(kind=kind), line=line)
        elif _is_bare_item(value):
            self._keep("item", value, line, time)
        elif _is_bare_head(value):
            self.meta = self.meta or value
        elif "record_type" in value:
            self.builder.ignore(str(value["record_type"]))
        else:
            self.builder.problem(FileProblem.NO_RECORD(), line=line)

    def _add_payload(
        self, kind: str, payload: JsonObject, line: int | None, time: datetime | None
    ) -> None:
        match kind:
            case "session_meta":  # a fork begins with its own, then copies its parent's
                self.meta = self.meta or payload
            case "turn_context":
                self._keep("model", payload, line, time)
            case "response_item":
                self._keep("item", payload, line, time)
            case "compacted":
                self._keep("compaction", payload, line, time)
            case "event_msg":
                self._add_event(payload, line, time)
            case "inter_agent_communication":
                self._keep("item", {**payload, "type": "agent_message"}, line, time)
            case _:
                self.builder.ignore(kind)

    def _add_event(self, payload: JsonObject, line: int | None, time: datetime | None) -> None:
        kind = type_of(payload)
        if kind == "token_count":
            self._keep("usage", payload, line, time)
        elif kind == "thread_rolled_back":
            self._keep("rollback", payload, line, time)
        elif kind == "thread_settings_applied":
            self._keep("model", dict(_object(payload, "thread_settings")), line, time)
        elif kind == "thread_name_updated":
            self.names += filter(None, [text_at(payload, "thread_name")])
        elif (kind == _USER or kind in _SPOKEN) and text_at(payload, "message"):
            if kind == _USER:
                self.prompts.append(str(payload["message"]))
            self._keep("event", payload, line, time)
        else:
            self.builder.ignore(f"event_msg/{kind}")

    def _keep(self, kind: _Kind, raw: JsonObject, line: int | None, time: datetime | None) -> None:
        self.entries.append(_Entry(kind=kind, raw=raw, line=line, time=time))


class _Reader:
    """Builds the conversation from the entries of a rollout, in order."""

    def __init__(self, builder: TranscriptBuilder, *, usage_first: bool) -> None:
        self._builder = builder
        self._usage_first = usage_first
        """Whether usage is recorded before the answer it is of, as older versions do."""
        self._answer = 1
        self._answered = self._claimed = 0
        """The last answer, and the last one whose usage is known; 0 for none."""
        self._pending: RecordedUsage | None = None
        self._total: Mapping[str, object] = {}
        self._calls = 0
        self._context_tokens: int | None = None
        self._model: str | None = None

    def read(self, entry: _Entry) -> None:
        """Adds what an entry says."""
        match entry.kind:
            case "item":
                self._read_item(entry)
            case "event":
                self._read_event(entry)
            case "usage":
                self._read_usage(entry)
            case "compaction":
                self._answer += 1
                self._builder.compaction(_compaction(entry, self._context_tokens))
            case "model":
                self._model = text_at(entry.raw, "model") or self._model

    def _read_item(self, entry: _Entry) -> None:
        kind = type_of(entry.raw)
        if kind in _NO_MESSAGES:
            self._builder.ignore(kind)
            return

        def refuse(_: int, error: MessageError) -> None:
            self._builder.problem(error.reason, line=entry.line)

        for message in Responses().to([(0, _responses_item(entry.raw))], refuse).messages:
            if kind == "reasoning" and not message.reasoning.strip():
                self._builder.ignore("reasoning without text")
            else:
                self._add(replace(message, name=_tool_name(entry.raw, message)), entry)

    def _read_event(self, entry: _Entry) -> None:
        text = str(entry.raw["message"])
        self._answer += 1
        if type_of(entry.raw) == _USER:
            self._builder.say("user", text, time=entry.time)
        else:
            self._builder.answer(text, key=str(self._answer), time=entry.time)

    def _add(self, message: Message, entry: _Entry) -> None:
        is_answer = message.role == "assistant"
        if not is_answer and (not self._usage_first or not message.is_tool_result):
            self._answer += 1
        key = str(self._answer)
        self._builder.add(message, key=key, time=entry.time, line=entry.line)
        if not is_answer:
            return
        self._answered = self._answer
        self._builder.model = self._model or self._builder.model
        if self._pending is not None:
            self._builder.usage(self._pending, key=key)
            self._pending = None

    def _read_usage(self, entry: _Entry) -> None:
        """Usage is repeated with new rate limits; after a compaction it is an estimate."""
        info = object_at(entry.raw, "info")
        last, total = object_at(info, "last_token_usage"), object_at(info, "total_token_usage")
        usage = self._usage(last, entry)
        if (total and total == self._total) or not usage.total_input_tokens:
            return
        self._total = total
        self._context_tokens = count_at(last, "total_tokens")
        self._calls += 1
        if self._usage_first:
            self._pending = usage
        elif self._answered != self._claimed:
            self._builder.usage(usage, key=str(self._answered))
            self._claimed = self._answered
        self._answer += 1

    def _usage(self, last: Mapping[str, object], entry: _Entry) -> RecordedUsage:
        read = count_at(last, "cached_input_tokens") or 0
        written = count_at(last, "cache_write_input_tokens") or 0
        return RecordedUsage(
            call_id=f"call-{self._calls + 1}",
            after=0,
            input_tokens=max((count_at(last, "input_tokens") or 0) - read - written, 0),
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=count_at(last, "output_tokens") or 0,
            model=self._model,
            recorded_at=entry.time,
        )


def _is_codex(records: Records) -> bool:
    values = records.values
    return any(map(_is_wrapped, values)) or _is_bare(values)


def _is_wrapped(value: JsonValue) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") in _WRAPPED
        and isinstance(value.get("payload"), dict)
    )


def _is_bare(values: Sequence[JsonValue]) -> bool:
    """Whether this is a file of the first versions: a head and bare items."""
    first = values[0] if values else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("session"), dict) and isinstance(first.get("items"), list):
        return _is_bare_head(cast("JsonObject", first["session"]))
    followed = values[1:2]
    return _is_bare_head(first) and all(
        isinstance(value, dict) and (_is_bare_item(value) or "record_type" in value)
        for value in followed
    )


def _is_bare_head(value: JsonObject) -> bool:
    has_names = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return has_names and "type" not in value and bool({"instructions", "git"} & value.keys())


def _is_bare_item(value: JsonObject) -> bool:
    return bool(type_of(value)) and Responses().detect(value) == "own"


def _read(records: Records) -> Iterator[Transcript | Problem]:
    log = _Log(builder=TranscriptBuilder(format="codex", path=records.name))
    for record in _records(records):
        log.add(record)
    entries = _entries(log)
    reader = _Reader(log.builder, usage_first=_is_usage_first(entries))
    base = text_at(object_at(log.meta, "base_instructions"), "text")
    if base and entries:
        log.builder.say("system", base, time=_time(log.meta))
    for entry in entries:
        reader.read(entry)
    transcript = log.builder.build(
        id=text_at(log.meta, "id", "session_id"),
        titles=[*reversed(log.names), *filter(is_prompt, log.prompts)],
        raw_tools=tuple(_raw_tools(log.meta.get("dynamic_tools"))),
        parent_id=_parent_id(log.meta),
    )
    if any(message.role != "system" for message in transcript.messages):
        yield transcript
    else:
        yield from transcript.problems


def _records(records: Records) -> Iterator[Record]:
    """The records; the first version wrote one object with the head and all items."""
    for record in records:
        value = record.value
        items = value.get("items") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(items, list) and "session" in value:
            yield Record(value=value["session"])
            yield from (Record(value=item) for item in items)
        else:
            yield record


def _entries(log: _Log) -> list[_Entry]:
    """The entries of the conversation, without those that repeat others or were rolled back."""
    has_items = any(entry.role in ("user", "assistant") for entry in log.entries)
    kept: list[_Entry] = []
    for entry in log.entries:
        if entry.kind == "event" and has_items:
            log.builder.ignore(f"event_msg/{type_of(entry.raw)}")
        elif entry.kind == "rollback":
            start = _start_of_turns(kept, count_at(entry.raw, "num_turns") or 0)
            for _ in filter(_is_said, kept[start:]):
                log.builder.ignore("left branch")
            del kept[start:]
        else:
            if entry.kind == "compaction" and (at := _summary_place(kept, entry)) is not None:
                log.builder.ignore("summary")
                del kept[at]
            kept.append(entry)
    return kept


def _is_said(entry: _Entry) -> bool:
    return entry.kind in ("item", "event")


def _start_of_turns(entries: Sequence[_Entry], turns: int) -> int:
    """Where the last `turns` turns begin, each with what a user wrote."""
    starts = [at for at, entry in enumerate(entries) if _starts_turn(entry)]
    if not turns or not starts:
        return len(entries)
    return starts[-min(turns, len(starts))]


def _starts_turn(entry: _Entry) -> bool:
    if entry.kind == "event":
        return type_of(entry.raw) == _USER
    return entry.role == "user" and is_prompt(entry.text)


def _summary_place(entries: Sequence[_Entry], compaction: _Entry) -> int | None:
    """Where the answer is that became the summary of a compaction; None if there is none."""
    at = next((at for at in range(len(entries) - 1, -1, -1) if _is_said(entries[at])), None)
    if at is None or entries[at].role != "assistant":
        return None
    summary, text = text_at(compaction.raw, "message") or "", entries[at].text.strip()
    return at if text and summary.strip().endswith(text) else None


def _compaction(entry: _Entry, before_tokens: int | None) -> RecordedCompaction:
    return RecordedCompaction(
        at=0,
        summary=text_at(entry.raw, "message") or "",
        before_tokens=before_tokens,
        recorded_at=entry.time,
    )


def _is_usage_first(entries: Sequence[_Entry]) -> bool:
    """Whether the first usage stands before the first answer."""
    for entry in entries:
        if entry.kind == "usage" and object_at(entry.raw, "info"):
            return True
        if entry.kind == "item" and _is_answer(entry):
            return False
    return False


def _is_answer(entry: _Entry) -> bool:
    kind = type_of(entry.raw)
    return entry.role == "assistant" or kind == "reasoning" or kind.endswith("_call")


def _responses_item(raw: JsonObject) -> JsonObject:
    """An item as the Responses API has it, of whatever version it is."""
    raw = {key: value for key, value in raw.items() if key not in _OWN_KEYS}
    if isinstance(parts := raw.get("content"), list):
        raw["content"] = [part for part in parts if not _is_lost_image(part)]
    match type_of(raw):
        case "agent_message":  # of another agent
            return {"type": "message", "role": "user", "content": raw.get("content")}
        case "tool_call":
            call_id, arguments = raw.get("call_id", raw.get("id")), raw.get("arguments")
            name = _tool_name(raw, None)
            called: JsonObject = {"call_id": call_id, "name": name, "arguments": arguments}
            return {"type": "function_call", **called}
        case "tool_result":
            answered: JsonObject = {"call_id": raw.get("call_id") or ""}
            output = raw.get("output", raw.get("result"))
            return {"type": "function_call_output", **answered, "output": output}
        case "tool_search_output":
            found = to_ordered(raw.get("tools"))
            call_id = raw.get("call_id") or ""
            return {"type": "function_call_output", "call_id": call_id, "output": found}
        case "function_call_output" | "custom_tool_call_output":
            return {**raw, "output": _output(raw.get("output"))}
    return raw


def _is_lost_image(part: JsonValue) -> bool:
    """Whether a part says no more than that there was an image."""
    if not isinstance(part, dict) or type_of(part) != "input_image":
        return False
    return text_at(part, "image_url", "file_id") is None


def _output(output: JsonValue) -> JsonValue:
    """The text or parts of an output, which some versions wrap in an object."""
    if not isinstance(output, dict):
        return output
    content = output.get("content")
    if content is not None and output.keys() <= {"content", "success"}:
        return content
    return [output] if type_of(output) else output


def _tool_name(raw: JsonObject, message: Message | None) -> str | None:
    """The tool of a call or result; of a message the name it has."""
    if message is not None and not message.is_tool_result:
        return message.name
    return text_at(raw, "name", "tool_name") or text_at(object_at(raw, "function"), "name")


def _parent_id(meta: JsonObject) -> str | None:
    """The session that started this one as a sub-agent."""
    spawned = object_at(object_at(object_at(meta, "source"), "subagent"), "thread_spawn")
    return text_at(meta, "parent_thread_id") or text_at(spawned, "parent_thread_id")


def _raw_tools(tools: JsonValue) -> Iterator[str]:
    """The definitions of tools that a client added, those of name spaces each by itself."""
    groups: Iterable[JsonValue] = tools if isinstance(tools, list) else [tools]
    for tool in groups:
        if not isinstance(tool, dict):
            continue
        if isinstance(tool.get("tools"), list):
            yield from _raw_tools(tool["tools"])
        elif name := text_at(tool, "name"):
            function: JsonObject = {
                "name": name,
                "description": text_at(tool, "description") or "",
                "parameters": tool.get("inputSchema", tool.get("input_schema")) or {},
            }
            yield to_ordered({"type": "function", "function": function})


def _object(record: JsonObject, key: str) -> JsonObject:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _time(record: Mapping[str, object]) -> datetime | None:
    return time_at(record, "timestamp")


CODEX = Format(
    name="codex",
    label=FormatCode.CODEX(),
    matches=_is_codex,
    read=_read,
)
