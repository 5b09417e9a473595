"""Reads the records of a Codex rollout: which of them are of the conversation, and in what form.

Items are put into the form of the Responses API; the first rollouts have no wrapping around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final, Literal, TypeAlias

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, is_prompt, object_at, text_at, time_at
from ctxcore.formats.records import Record
from ctxcore.formats.spool import Spool
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.shapes.responses import Responses
from ctxcore.reasons.storage_problems import FileProblem

_WRAPPED: Final = frozenset(
    {
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
        *("world_state", "inter_agent_communication"),
    }
)
USER_EVENT: Final = "user_message"
_REQUEST: Final = "## My request for Codex:"  # behind what an editor says of its open files
_SPOKEN: Final = ("agent_message", "turn.completed")
_CALLS: Final = ("tool_call",)  # besides those of the API
_RESULTS: Final = ("tool_result", "function_result")
_OWN_KEYS: Final = ("internal_chat_message_metadata_passthrough", "metadata")  # Codex's own notes

_Kind: TypeAlias = Literal["item", "event", "usage", "compaction", "rollback", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
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
        content = self.raw.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = (text_at(part, "text") for part in parts if isinstance(part, dict))
        return "\n".join(text for text in texts if text)


@dataclass(slots=True, kw_only=True)
class Log:
    """The records of a rollout: those of the conversation, and what is said about it."""

    builder: TranscriptBuilder
    meta: JsonObject = field(default_factory=dict)
    entries: Spool[Entry] = field(default_factory=Spool[Entry])
    kinds: list[_Kind] = field(default_factory=list)
    """Those of the entries."""
    has_prompts: bool = False
    """Whether an item is what a user wrote."""
    has_answers: bool = False
    names: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    _size: int = 0
    """Of the record that is read."""

    def add(self, record: Record) -> None:
        """Reads the next record."""
        value, line = record.value, record.line
        if not isinstance(value, dict):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        kind, payload, time = text_at(value, "type"), value.get("payload"), recorded_at(value)
        self._size = record.size
        if isinstance(payload, dict) and kind:
            self._add_payload(kind, payload, line, time)
        elif kind in _WRAPPED:
            self.builder.problem(FileProblem.NO_CONTENT(kind=kind), line=line)
        elif is_bare_item(value):
            self._keep("item", value, line, time)
        elif is_bare_head(value):
            self.meta = self.meta or value
        elif _is_bare_message(value):
            self._keep("model", value, line, time)
            self._keep("item", {**value, "type": "message"}, line, time)
        elif kind or "record_type" in value:
            self.builder.ignore(kind or str(value["record_type"]))
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
                summary = {"message": payload.get("message")}  # not the history that it replaces
                self._keep("compaction", summary, line, time)
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
        elif kind == "turn.completed" and isinstance(used := payload.get("usage"), dict):
            self._keep("usage", {"info": {"last_token_usage": used}}, line, time)
        elif kind == "thread_rolled_back":
            self._keep("rollback", payload, line, time)
        elif kind == "thread_settings_applied":
            self._keep("model", dict(_object(payload, "thread_settings")), line, time)
        elif kind == "thread_name_updated":
            self.names += filter(None, [text_at(payload, "thread_name")])
        elif (kind == USER_EVENT or kind in _SPOKEN) and text_at(payload, "message"):
            if kind == USER_EVENT:
                text = str(payload["message"])
                self.prompts.append(text.partition(_REQUEST)[2] or text)
            self._keep("event", payload, line, time)
        else:
            self.builder.ignore(f"event_msg/{kind}")

    def _keep(self, kind: _Kind, raw: JsonObject, line: int | None, time: datetime | None) -> None:
        entry = Entry(kind=kind, raw=raw, line=line, time=time)
        self.entries.append(entry, size=self._size)
        self.kinds.append(kind)
        self.has_answers |= entry.role == "assistant"
        self.has_prompts |= entry.role == "user" and is_prompt(entry.text)


def places_of(log: Log) -> list[int]:
    """The places of the entries of the conversation, without what repeats or was rolled back."""
    entries = log.entries
    kept: list[int] = []
    for place, kind in enumerate(log.kinds):
        if kind == "event" and _repeats_an_item(log, entries[place]):
            log.builder.ignore(f"event_msg/{type_of(entries[place].raw)}")
        elif kind == "rollback":
            turns = count_at(entries[place].raw, "num_turns") or 0
            start = _start_of_turns(entries, kept, turns)
            for _ in filter(_is_said, map(entries.__getitem__, kept[start:])):
                log.builder.ignore("left branch")
            del kept[start:]
        else:
            if kind == "compaction":
                at = _summary_at(entries, kept, entries[place])
                if at is not None:
                    log.builder.ignore("summary")
                    del kept[at]
            kept.append(place)
    return kept


def _repeats_an_item(log: Log, event: Entry) -> bool:
    return log.has_prompts if type_of(event.raw) == USER_EVENT else log.has_answers


def _is_said(entry: Entry) -> bool:
    return entry.kind in ("item", "event")


def _start_of_turns(entries: Sequence[Entry], kept: Sequence[int], turns: int) -> int:
    """Where in `kept` the last `turns` turns begin, each with what a user wrote."""
    backwards = range(len(kept) - 1, -1, -1)
    starts = (at for at in backwards if _starts_turn(entries[kept[at]]))
    return min(islice(starts, turns), default=len(kept))


def _starts_turn(entry: Entry) -> bool:
    if entry.kind == "event":
        return type_of(entry.raw) == USER_EVENT
    return entry.role == "user" and is_prompt(entry.text)


def _summary_at(entries: Sequence[Entry], kept: Sequence[int], compaction: Entry) -> int | None:
    """Where in `kept` the answer is that became the summary of a compaction, if there is one."""
    backwards = range(len(kept) - 1, -1, -1)
    at = next((at for at in backwards if _is_said(entries[kept[at]])), None)
    last = entries[kept[at]] if at is not None else None
    if last is None or last.role != "assistant":
        return None
    summary, text = text_at(compaction.raw, "message") or "", last.text.strip()
    return at if text and summary.strip().endswith(text) else None


def responses_item(raw: JsonObject) -> JsonObject:
    """An item as the Responses API has it, of whatever version it is."""
    raw = {key: value for key, value in raw.items() if key not in _OWN_KEYS}
    if isinstance(parts := raw.get("content"), list):
        raw["content"] = [part for part in parts if not _is_lost_image(part)]
    match type_of(raw):
        case "agent_message":  # of another agent
            return {"type": "message", "role": "user", "content": raw.get("content")}
        case "tool_call" | "function_call" if not text_at(raw, "name"):
            call_id, arguments = raw.get("call_id", raw.get("id")), raw.get("arguments")
            name = tool_name(raw)
            called: JsonObject = {"call_id": call_id, "name": name, "arguments": arguments}
            return {"type": "function_call", **called}
        case "tool_result" | "function_result":
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


def tool_name(raw: JsonObject) -> str | None:
    """The tool that an item calls, or whose output it is, if it says so."""
    return text_at(raw, "name", "tool_name") or text_at(object_at(raw, "function"), "name")


def is_answer(entry: Entry) -> bool:
    kind = type_of(entry.raw)
    return entry.role == "assistant" or kind == "reasoning" or kind.endswith("_call")


def is_wrapped(value: JsonValue) -> bool:
    return (
        isinstance(value, dict)
        and type_of(value) in _WRAPPED
        and isinstance(value.get("payload"), dict)
    )


def is_bare_head(value: JsonObject) -> bool:
    has_names = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return has_names and "type" not in value and bool({"instructions", "git"} & value.keys())


def is_bare_item(value: JsonObject) -> bool:
    """Whether this is an item without a record around it."""
    kind = type_of(value)
    return kind in (*_CALLS, *_RESULTS) or (bool(kind) and Responses().detect(value) == "own")


def is_bare_call(value: JsonValue) -> bool:
    """Whether this is a call as only Codex wrote it: beside messages, with a function's name."""
    if not isinstance(value, dict) or type_of(value) not in (*_CALLS, "function_call"):
        return False
    has_time = "timestamp" in value or "created_at" in value
    return has_time and isinstance(value.get("function"), dict) and "role" not in value


def _is_bare_message(value: JsonObject) -> bool:
    is_text = isinstance(value.get("content"), (str, list))
    return "type" not in value and isinstance(value.get("role"), str) and is_text


def _object(record: JsonObject, key: str) -> JsonObject:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def recorded_at(record: Mapping[str, object]) -> datetime | None:
    """When a record was written."""
    return time_at(record, "timestamp", "created_at")
