"""Reads rollouts of Codex: Responses items, each wrapped in a record with its time.

Events repeat what the items hold, so those of a user or of the model are messages only in a file
without items of theirs.
Turns that were rolled back are left out. The first rollouts have no wrapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.codex_entries import (
    USER_EVENT,
    Entry,
    Log,
    is_answer,
    is_bare_call,
    is_bare_head,
    is_bare_item,
    is_wrapped,
    places_of,
    recorded_at,
    responses_item,
    tool_name,
)
from ctxcore.formats.fields import count_at, is_prompt, object_at, text_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import FormatCode

_NO_MESSAGES: Final = frozenset({"ghost_snapshot", "compaction", "context_compaction", "other"})


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

    def read(self, entry: Entry) -> None:
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

    def _read_item(self, entry: Entry) -> None:
        kind = type_of(entry.raw)
        if kind in _NO_MESSAGES:
            self._builder.ignore(kind)
            return

        def refuse(_: int, error: MessageError) -> None:
            self._builder.problem(error.reason, line=entry.line)

        for message in Responses().to([(0, responses_item(entry.raw))], refuse).messages:
            if kind == "reasoning" and not message.reasoning.strip():
                self._builder.ignore("reasoning without text")
            else:
                name = tool_name(entry.raw) if message.is_tool_result else message.name
                self._add(replace(message, name=name), entry)

    def _read_event(self, entry: Entry) -> None:
        text = str(entry.raw["message"])
        self._answer += 1
        if type_of(entry.raw) == USER_EVENT:
            self._builder.say("user", text, time=entry.time)
        else:
            self._builder.answer(text, key=str(self._answer), time=entry.time)

    def _add(self, message: Message, entry: Entry) -> None:
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

    def _read_usage(self, entry: Entry) -> None:
        """Usage is repeated with new rate limits; after a compaction it is an estimate."""
        info = object_at(entry.raw, "info")
        total = object_at(info, "total_token_usage")
        last = object_at(info, "last_token_usage") or _beyond(total, self._total)
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

    def _usage(self, last: Mapping[str, object], entry: Entry) -> RecordedUsage:
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
    return any(map(is_wrapped, values)) or _is_bare(values)


def _is_bare(values: Sequence[JsonValue]) -> bool:
    """Whether this is a file of the first versions: bare items, most with a head."""
    if any(map(is_bare_call, values)):
        return True
    first = values[0] if values else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("session"), dict) and isinstance(first.get("items"), list):
        return is_bare_head(cast("JsonObject", first["session"]))
    followed = values[1:2]
    return is_bare_head(first) and all(
        isinstance(value, dict) and (is_bare_item(value) or "record_type" in value)
        for value in followed
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    log = Log(builder=TranscriptBuilder(format="codex", path=records.name))
    for record in _records(records):
        log.add(record)
    places = places_of(log)
    is_usage_first = _is_usage_first(log.entries[place] for place in places)
    reader = _Reader(log.builder, usage_first=is_usage_first)
    base = text_at(object_at(log.meta, "base_instructions"), "text")
    if base and places:
        log.builder.say("system", base, time=recorded_at(log.meta))
    for place in places:
        reader.read(log.entries[place])
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


def _compaction(entry: Entry, before_tokens: int | None) -> RecordedCompaction:
    return RecordedCompaction(
        at=0,
        summary=text_at(entry.raw, "message") or "",
        before_tokens=before_tokens,
        recorded_at=entry.time,
    )


def _beyond(total: Mapping[str, object], before: Mapping[str, object]) -> Mapping[str, object]:
    """The counts of one call, of versions that only add them up."""
    counts = ((key, count_at(total, key) or 0) for key in total)
    return {key: max(count - (count_at(before, key) or 0), 0) for key, count in counts}


def _is_usage_first(entries: Iterable[Entry]) -> bool:
    """Whether the first usage stands before the first answer."""
    for entry in entries:
        info = object_at(entry.raw, "info")
        counts = (object_at(info, key) for key in ("last_token_usage", "total_token_usage"))
        if entry.kind == "usage" and any(count_at(one, "input_tokens") for one in counts):
            return True
        if entry.kind == "item" and is_answer(entry):
            return False
    return False


def _parent_id(meta: JsonObject) -> str | None:
    """The session that started this one as a sub-agent; a fork has none."""
    source = object_at(meta, "source")
    spawned = object_at(object_at(source, "subagent"), "thread_spawn")
    named = text_at(meta, "parent_thread_id") or text_at(spawned, "parent_thread_id")
    return named or (text_at(meta, "forked_from_id") if "subagent" in source else None)


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


CODEX = Format(
    name="codex",
    label=FormatCode.CODEX(),
    matches=_is_codex,
    read=_read,
)
