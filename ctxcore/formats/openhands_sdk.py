"""Reads the events of the OpenHands SDK: a folder with a file for each, or a list of them.

What was counted for each call stands in the state beside the folder of events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from ctxcore.formats.branches import Link, active_branch
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.event_folders import (
    Event,
    event_number,
    events_beside,
    is_beside_events,
    is_later,
    object_in,
)
from ctxcore.formats.fields import id_at, object_at, text_at, time_at
from ctxcore.formats.openhands import image_part, token_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Message, Part, Text
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_FILE: Final = re.compile(r"event-(\d{5,})-[0-9a-fA-F-]{8,}\.json")
_LISTS: Final = ("events", "items", "history")
_KINDS: Final = frozenset({"Condensation", "CondensationRequest", "UserRejectObservation"})
_SOURCES: Final = ("agent", "user", "environment", "hook")
_ROOT: Final = "__root__"
_OUTPUT_KEYS: Final = ("content", "output", "message", "text", "error", "prompt")
"""Where observations keep their text, by tool and version."""


def _is_sdk(records: Records) -> bool:
    return any(_is_event(value) or _events_in(value) is not None for value in records.values)


def _is_event(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(kind := value.get("kind"), str):
        return False
    is_kind = kind in _KINDS or kind.endswith("Event")
    return is_kind and "id" in value and value.get("source") in _SOURCES


def _events_in(value: JsonValue) -> list[JsonValue] | None:
    lists = [value] if isinstance(value, list) else []
    if isinstance(value, dict):
        lists = [inner for key in _LISTS if isinstance(inner := value.get(key), list)]
    return next((events for events in lists if any(map(_is_event, events))), None)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    loose: list[Event] = []
    is_list = records.layout == "list" and any(map(_is_event, records.values))
    for record in records:
        events = None if is_list else _events_in(record.value)
        if is_list or _is_event(record.value):
            loose.append((record.value, record.line))
        elif events is not None:
            about = record.value if isinstance(record.value, dict) else {}
            reading = _Reading(records.name, about)
            reading.add_all([(event, record.line) for event in events])
            yield from or_problems(reading.built(None), line=record.line)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
    if loose:
        yield from or_problems(_of_events(records, loose))


def _of_events(records: Records, events: list[Event]) -> Transcript:
    """The conversation of events that stand alone, with those of the files beside."""
    path = records.path
    if path is None or event_number(path, _FILE) is None or records.layout != "object":
        reading = _Reading(records.name, {})
        reading.add_all(events)
        return reading.built(None)
    folder = path.parent.parent
    reading = _Reading(records.name, object_in(folder / "base_state.json"))
    reading.add_all(list(events_beside(path, _FILE, reading.builder)))
    return reading.built(folder.name)


class _Reading:
    """Adds the events of the active branch in order; `state` is that of the conversation."""

    def __init__(self, name: str, state: JsonObject) -> None:
        self.builder = TranscriptBuilder(format="openhands-sdk", path=name)
        llm = object_at(object_at(state, "agent"), "llm") or object_at(
            object_at(state, "metadata"), "llm"
        )
        self.builder.model = text_at(llm, "model")
        self._state = state
        self._usages = _usages(state)
        self._tools: JsonValue = None
        self._answers: set[str] = set()
        """The answers whose thought was added."""

    def add_all(self, events: list[Event]) -> None:
        """Adds the events that are in the active branch; others are counted."""
        found: list[tuple[JsonObject, int | None]] = []
        for event, line in events:
            if isinstance(event, dict) and _is_event(event):
                found.append((event, line))
            else:
                self.builder.problem(FileProblem.NO_RECORD(), line=line)
        branch = set(active_branch([_link(event) for event, _ in found], self._leaf(found)))
        for at, (event, line) in enumerate(found):
            if at in branch:
                self._add(event, line)
            else:
                self.builder.ignore("left branch")

    def built(self, own_id: str | None) -> Transcript:
        """The conversation."""
        own_id = id_at(self._state, "id", "instance_id") or own_id
        titles = [text_at(self._state, "title")]
        return self.builder.build(id=own_id, titles=titles, raw_tools=raw_tools(self._tools))

    def _leaf(self, events: list[tuple[JsonObject, int | None]]) -> int | None:
        leaf = text_at(self._state, "leaf_event_id")
        places = [at for at, (event, _) in enumerate(events) if leaf and event.get("id") == leaf]
        return places[-1] if places else len(events) - 1 if events else None

    def _add(self, event: JsonObject, line: int | None) -> None:
        time = time_at(event, "timestamp")
        match event["kind"]:
            case "SystemPromptEvent":
                tools = event.get("tools")
                self._tools = [*filter(_is_definition, tools)] if isinstance(tools, list) else None
                prompts = (object_at(event, key) for key in ("system_prompt", "dynamic_context"))
                said = [Text(text=text) for one in prompts if (text := text_at(one, "text"))]
                self.builder.say("system", said, time=time)
            case "MessageEvent":
                self._add_message(event, line, time)
            case "ActionEvent":
                self._add_action(event, line, time)
            case "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent":
                call_id, name = id_at(event, "tool_call_id"), text_at(event, "tool_name")
                output = _output(event)
                self.builder.result(output, call_id=call_id, name=name, time=time, line=line)
            case "ACPToolCallEvent":
                self._add_foreign_call(event, line, time)
            case "Condensation" | "CondensationSummaryEvent":
                summary = text_at(event, "summary") or ""
                compaction = RecordedCompaction(at=0, summary=summary, recorded_at=time)
                self.builder.compaction(compaction)
            case kind:
                self.builder.ignore(str(kind))

    def _add_message(self, event: JsonObject, line: int | None, time: datetime | None) -> None:
        said = object_at(event, "llm_message")
        role = text_at(said, "role") or "user"
        content = [*_parts(said.get("content")), *_parts(event.get("extended_content"))]
        if role not in ("assistant", "tool"):
            self.builder.say("system" if role == "system" else "user", content, time=time)
            return
        key = f"event-{event['id']}"
        message = _thinking(said)
        listed = said.get("tool_calls")
        for call in listed if isinstance(listed, list) else ():
            if isinstance(call, dict):
                self._add_call(call, key, line, time)
        self.builder.answer([*message.content, *content], key=key, time=time)
        self._add_usage(text_at(event, "llm_response_id"), key)

    def _add_action(self, event: JsonObject, line: int | None, time: datetime | None) -> None:
        response_id = text_at(event, "llm_response_id")
        key = response_id or f"event-{event['id']}"
        if key not in self._answers:
            self._answers.add(key)
            thought = [*_thinking(event).content, *_parts(event.get("thought"))]
            self.builder.answer(thought, key=key, time=time)
        name, call_id = text_at(event, "tool_name"), id_at(event, "tool_call_id")
        own: JsonObject = {"id": call_id, "name": name, "arguments": event.get("action")}
        call = event.get("tool_call")
        self._add_call({**own, **call} if isinstance(call, dict) else own, key, line, time)
        self._add_usage(response_id, key)

    def _add_call(
        self, call: JsonObject, key: str, line: int | None, time: datetime | None
    ) -> None:
        function = object_at(call, "function") or call
        name, arguments = text_at(function, "name") or "unknown", function.get("arguments")
        given: JsonValue = arguments if isinstance(arguments, (str, dict)) else None
        call_id = id_at(call, "id")
        self.builder.call(name, given, call_id=call_id, key=key, time=time, line=line)

    def _add_foreign_call(self, event: JsonObject, line: int | None, time: datetime | None) -> None:
        """A call of another agent's tool, which has an event each time its state changes."""
        if text_at(event, "status") not in ("completed", "failed"):
            self.builder.ignore("ACPToolCallEvent")
            return
        name, call_id = text_at(event, "title", "tool_kind") or "tool", id_at(event, "tool_call_id")
        call: JsonObject = {"id": call_id, "name": name, "arguments": event.get("raw_input")}
        self._add_call(call, f"event-{event['id']}", line, time)
        output = event.get("raw_output") or event.get("content")
        text = output if isinstance(output, str) else to_ordered(output)
        self.builder.result(text, call_id=call_id, name=name, time=time, line=line)

    def _add_usage(self, response_id: str | None, key: str) -> None:
        counts = self._usages.get(response_id)
        usage = token_usage(counts) if counts is not None else None
        if usage is not None:
            self.builder.model = usage.model or self.builder.model
            self.builder.usage(usage, key=key)


def _usages(state: JsonObject) -> dict[str | None, JsonObject]:
    """What was counted, by the id of the response."""
    stats = object_at(state, "stats")
    metrics = object_at(stats, "usage_to_metrics") or object_at(stats, "service_to_metrics")
    holders = [*metrics.values(), state.get("metrics")]  # of a state; of a benchmark
    listed = [one.get("token_usages") for one in holders if isinstance(one, dict)]
    counts = [one for usages in listed if isinstance(usages, list) for one in usages]
    return {id_at(one, "response_id"): one for one in counts if isinstance(one, dict)}


def _link(event: JsonObject) -> Link:
    parent = text_at(event, "parent_id")
    own_id = id_at(event, "id")
    return Link(ids=(own_id,) if own_id else (), parent=parent, is_root=parent == _ROOT)


def _is_definition(tool: JsonValue) -> bool:
    """Whether a tool is defined by name; the SDK's own tools are listed by their classes."""
    return isinstance(tool, dict) and ("function" in tool or "name" in tool)


def _thinking(about: Mapping[str, object]) -> Message:
    """The thinking of an answer, as an answer of its own."""
    keys = ("reasoning_content", "thinking_blocks")
    thinking = {key: about[key] for key in keys if about.get(key)}
    item = object_at(about, "responses_reasoning_item")
    lists = [item.get(key) for key in ("summary", "content")]
    texts = [
        text for one in lists if isinstance(one, list) for text in one if isinstance(text, str)
    ]
    if texts and not thinking:
        thinking["reasoning_content"] = "\n".join(texts)
    return parse_message({"role": "assistant", **thinking})


def _output(event: JsonObject) -> list[Part]:
    """What answers a call: what was observed, an error, or why it was rejected."""
    if (reason := text_at(event, "rejection_reason", "error")) is not None:
        return [Text(text=reason)]
    observation = object_at(event, "observation")
    found = next((observation[key] for key in _OUTPUT_KEYS if observation.get(key)), None)
    said = _parts(found) or [Text(text=to_ordered(cast("JsonObject", observation)))]
    return [*said, *_parts(event.get("extended_content"))]


def _parts(content: object) -> list[Part]:
    """A text, or the texts and images of a list."""
    if isinstance(content, str):
        return [Text(text=content)] if content.strip() else []
    parts: list[Part] = []
    for one in content if isinstance(content, list) else ():
        if not isinstance(one, dict):
            continue
        if (text := text_at(one, "text")) is not None:
            parts.append(Text(text=text))
        urls = one.get("image_urls")
        images = urls if isinstance(urls, list) else ()
        parts += [image_part(url) for url in images if isinstance(url, str)]
    return parts


def _is_part(path: Path) -> bool:
    is_state = path.name == "base_state.json" and is_beside_events(path)
    return is_state or is_later(path, _FILE)


OPENHANDS_SDK = Format(
    name="openhands-sdk",
    label=FormatCode.OPENHANDS_SDK(),
    matches=_is_sdk,
    read=_read,
    is_part=_is_part,
)
