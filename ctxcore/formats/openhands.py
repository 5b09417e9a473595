"""Reads the events of OpenHands: a trajectory, results of its benchmarks, or a folder of events.

What an agent did without calling a tool of the model, as agents that write their commands as text
do, is a call of the action's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, cast

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
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.media import media_or_opaque
from ctxcore.messages.values import Part, Text
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, FormatCode, RepairCode

_FILE: Final = re.compile(r"(\d+)\.json")
_LISTS: Final = ("trajectory", "history", "events")
_EVENT_KEYS: Final = ("source", "timestamp", "id", "cause", "message")
_FRAME_KEYS: Final = (*_EVENT_KEYS, "action", "observation", "content")
_OLD_KEYS: Final = ("action_risk", "is_confirmed", "wait_for_response")
_QUIET_ACTIONS: Final = frozenset(
    {
        *("change_agent_state", "recall", "null", "condensation_request", "loop_recovery"),
        *("start", "stop", "pause", "resume", "initialize", "summarize"),
    }
)
_QUIET_OBSERVATIONS: Final = frozenset({"agent_state_changed", "null", "loop_detection"})
_CONDENSED: Final = ("condense", "condensed")
_KNOWLEDGE: Final = (
    *("repo_instructions", "additional_agent_instructions", "conversation_instructions"),
)
_IMAGE: Final = Place(PlaceCode.KEY, "image_urls")


def _is_openhands(records: Records) -> bool:
    return any(_is_event(value) or _events_in(value) is not None for value in records.values)


def _is_event(value: object) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    action, observation = value.get("action"), value.get("observation")
    is_action = isinstance(action, str) and isinstance(value.get("args"), dict)
    is_observation = isinstance(observation, str) and isinstance(value.get("extras"), dict)
    is_old = isinstance(action, str) and any(key in value for key in _OLD_KEYS)
    is_new = (is_action or is_observation) and any(key in value for key in _EVENT_KEYS)
    return is_new or is_old


def _events_in(value: JsonValue) -> list[JsonValue] | None:
    """The events in a list, or under a key; older benchmarks have pairs of action and result."""
    lists = [value] if isinstance(value, list) else []
    if isinstance(value, dict):
        lists = [inner for key in _LISTS if isinstance(inner := value.get(key), list)]
    for events in lists:
        flat = [
            inner for event in events for inner in (event if isinstance(event, list) else [event])
        ]
        if any(map(_is_event, flat)):
            return flat
    return None


def _read(records: Records) -> Iterator[Transcript | Problem]:
    loose: list[Event] = []
    is_list = records.layout == "list" and any(map(_is_event, records.values))
    for record in records:
        value = record.value
        events = None if is_list else _events_in(value)
        if is_list or _is_event(value):
            loose.append((value, record.line))
        elif events is not None:
            about = value if isinstance(value, dict) else {}
            reading = _Reading(records.name, about)
            reading.add_all((event, record.line) for event in events)
            yield from or_problems(reading.built(), line=record.line)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
    if loose:
        yield from or_problems(_of_events(records, loose))


def _of_events(records: Records, events: list[Event]) -> Transcript:
    """The conversation of events that stand alone, with those of the files beside."""
    path = records.path
    if path is None or event_number(path, _FILE) is None or records.layout != "object":
        reading = _Reading(records.name, {})
        reading.add_all(iter(events))
        return reading.built()
    about = object_in(path.parent.parent / "metadata.json")
    reading = _Reading(records.name, {"conversation_id": path.parent.parent.name, **about})
    reading.add_all(events_beside(path, _FILE, reading.builder))
    return reading.built()


class _Reading:
    """Adds events in order."""

    def __init__(self, name: str, about: JsonObject) -> None:
        self.builder = TranscriptBuilder(format="openhands", path=name)
        self._about = about
        config = object_at(object_at(about, "metadata"), "llm_config")
        self.builder.model = text_at(config, "model") or text_at(about, "llm_model")
        self._calls: dict[str, str] = {}
        """The id of the call that each action was, by the id of its event."""
        self._answers: set[str] = set()
        """The answers whose text was added."""
        self._counted: set[str] = set()
        self._last_call: str | None = None
        self._tools: JsonValue = None

    def add_all(self, events: Iterator[Event]) -> None:
        """Adds events with their lines."""
        for event, line in events:
            if isinstance(event, dict):
                event = self._framed(event)
            if isinstance(event, dict) and isinstance(event.get("action"), str):
                self._add_action(event, str(event["action"]), line)
            elif isinstance(event, dict) and isinstance(event.get("observation"), str):
                self._add_observation(event, str(event["observation"]), line)
            else:
                self.builder.problem(FileProblem.NO_RECORD(), line=line)

    def _framed(self, event: JsonObject) -> JsonObject:
        """An event of early versions, which had all fields beside each other, as later ones."""
        if "args" in event or "extras" in event:
            return event
        own: JsonObject = {key: event[key] for key in event if key not in _FRAME_KEYS}
        if "observation" in event:
            return {**event, "extras": own}
        is_first = not self.builder.has_messages
        source = "user" if is_first and event.get("action") == "message" else "agent"
        args: JsonObject = {**own, "content": event.get("content")}
        return {"source": source, **event, "args": args if "content" in event else own}

    def built(self) -> Transcript:
        """The conversation."""
        about = self._about
        return self.builder.build(
            id=id_at(about, "conversation_id", "instance_id", "id"),
            titles=[text_at(about, "title")],
            raw_tools=raw_tools(self._tools),
        )

    def _add_action(self, event: JsonObject, kind: str, line: int | None) -> None:
        args, time = object_at(event, "args"), time_at(event, "timestamp")
        is_users = event.get("source") == "user"
        if kind in _QUIET_ACTIONS:
            self.builder.ignore(f"action/{kind}")
        elif kind == "system":
            tools = args.get("tools")
            self._tools = [*tools] if isinstance(tools, list) else None
            self.builder.say("system", text_at(args, "content") or "", time=time)
        elif kind == "condensation":
            summary = text_at(args, "summary") or ""
            self.builder.compaction(RecordedCompaction(at=0, summary=summary, recorded_at=time))
        elif kind == "message" and not is_users:
            key = f"event-{id_at(event, 'id') or len(self._answers)}"
            self._answers.add(key)
            self.builder.answer(_content(args, "content"), key=key, time=time)
            self._add_usage(event, key)
        elif is_users and not object_at(event, "tool_call_metadata"):
            said = _content(args, "content", "command", "code", "path")
            self.builder.say("user", said or to_ordered(cast("JsonObject", args)), time=time)
        else:
            self._add_call(event, kind, line)

    def _add_call(self, event: JsonObject, kind: str, line: int | None) -> None:
        args, time = object_at(event, "args"), time_at(event, "timestamp")
        called = object_at(event, "tool_call_metadata")
        response = object_at(called, "model_response")
        event_id = id_at(event, "id")
        key = text_at(response, "id") or f"event-{event_id or len(self._answers)}"
        call_id = id_at(called, "tool_call_id") or (f"event-{event_id}" if event_id else None)
        said = _answer_of(response)
        if key not in self._answers:
            self._answers.add(key)
            self.builder.think(text_at(said, "reasoning_content") or "", key=key, time=time)
            text = text_at(said, "content") if said else text_at(args, "thought")
            self.builder.answer(text or "", key=key, time=time)
        name = text_at(called, "function_name") or kind
        given = cast("JsonValue", {key: args[key] for key in args if key != "thought"})
        listed = said.get("tool_calls")
        for call in listed if isinstance(listed, list) else ():
            if isinstance(call, dict) and id_at(call, "id") == call_id:
                function = object_at(call, "function")
                name = text_at(function, "name") or name
                given = cast("JsonValue", function.get("arguments", given))
        if call_id is None:
            call_id = f"{kind}-{len(self._answers)}"
            self.builder.repair(RepairCode.NO_ID(), line=line)
        self.builder.call(name, given, call_id=call_id, key=key, time=time, line=line)
        self._last_call = call_id
        if event_id is not None:
            self._calls[event_id] = call_id
        self._add_usage(event, key)

    def _add_observation(self, event: JsonObject, kind: str, line: int | None) -> None:
        extras, time = object_at(event, "extras"), time_at(event, "timestamp")
        called = object_at(event, "tool_call_metadata")
        cause = id_at(event, "cause")
        call_id = id_at(called, "tool_call_id") or self._calls.get(cause or "")
        if cause is None and "id" not in event:  # an early version: the result of the last action
            call_id, self._last_call = call_id or self._last_call, None
        content = text_at(event, "content") or text_at(object_at(extras, "outputs"), "content")
        if kind in _QUIET_OBSERVATIONS or (kind == "recall" and not _knowledge(extras)):
            self.builder.ignore(f"observation/{kind}")
        elif kind == "recall":
            self.builder.say("user", _knowledge(extras), time=time)
        elif kind in _CONDENSED:
            summary = content or ""
            self.builder.compaction(RecordedCompaction(at=0, summary=summary, recorded_at=time))
        elif call_id is not None:
            parts = [Text(text=content or ""), *_images(extras)]
            self.builder.result(parts, call_id=call_id, time=time, line=line)
        else:
            self.builder.say("user", [Text(text=content or ""), *_images(extras)], time=time)

    def _add_usage(self, event: JsonObject, key: str) -> None:
        """The usage in the response; else the newest that is listed beside the event."""
        response = object_at(object_at(event, "tool_call_metadata"), "model_response")
        own_id, time = text_at(response, "id"), time_at(event, "timestamp")
        usage = _usage(object_at(response, "usage"), own_id, text_at(response, "model"), time)
        listed = object_at(event, "llm_metrics").get("token_usages")
        for counts in listed if isinstance(listed, list) else ():
            call_id = text_at(counts, "response_id") if isinstance(counts, dict) else None
            if call_id is None or call_id in self._counted or not isinstance(counts, dict):
                continue
            self._counted.add(call_id)
            if usage is None and own_id in (None, call_id):
                usage = token_usage(counts, recorded_at=time)
        if usage is not None:
            self.builder.model = usage.model or self.builder.model
            self.builder.usage(usage, key=key)


def token_usage(
    counts: Mapping[str, object], *, recorded_at: datetime | None = None
) -> RecordedUsage | None:
    """Usage as OpenHands counts it; None if nothing was counted."""
    reported = {
        **counts,
        "cache_read_input_tokens": counts.get("cache_read_tokens"),
        "cache_creation_input_tokens": counts.get("cache_write_tokens"),
    }
    call_id = text_at(counts, "response_id")
    return _usage(reported, call_id, text_at(counts, "model"), recorded_at)


def _usage(
    reported: Mapping[str, object],
    call_id: str | None,
    model: str | None,
    recorded_at: datetime | None,
) -> RecordedUsage | None:
    usage = openai_usage(reported, call_id=call_id or "", model=model, recorded_at=recorded_at)
    return usage if usage.total_input_tokens or usage.output_tokens else None


def _answer_of(response: Mapping[str, object]) -> Mapping[str, object]:
    """The message in a response of a model."""
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return object_at(first, "message") if isinstance(first, dict) else {}


def _content(args: Mapping[str, object], *keys: str) -> list[Part]:
    """The first text under these keys, and the images beside it."""
    text = text_at(args, *keys)
    return [*([Text(text=text)] if text else []), *_images(args)]


def _images(about: Mapping[str, object]) -> list[Part]:
    urls = about.get("image_urls")
    images = [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []
    return [image_part(url) for url in images]


def image_part(url: str) -> Part:
    """An image as the part of a message."""
    return media_or_opaque({"type": "image_url", "image_url": {"url": url}}, _IMAGE)


def _knowledge(extras: Mapping[str, object]) -> str:
    """The instructions and knowledge that were recalled for the model."""
    knowledge = extras.get("microagent_knowledge")
    listed = knowledge if isinstance(knowledge, list) else []
    learned = [text_at(one, "content") for one in listed if isinstance(one, dict)]
    texts = [text_at(extras, key) for key in _KNOWLEDGE] + learned
    return "\n\n".join(text for text in texts if text)


def _is_part(path: Path) -> bool:
    is_cache = path.parent.name == "event_cache"
    is_about = path.name == "metadata.json" and is_beside_events(path)
    return is_cache or is_about or is_later(path, _FILE)


OPENHANDS = Format(
    name="openhands",
    label=FormatCode.OPENHANDS_EVENTS(),
    matches=_is_openhands,
    read=_read,
    is_part=_is_part,
)
