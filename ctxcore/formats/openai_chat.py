"""Reads files of OpenAI chat messages: lists of messages, request bodies, and lines of either.

A malformed message is reported with its place; the rest of its conversation is still read. Requests
to Claude are read too: content blocks, system prompt and tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.formats.claude_messages import to_messages
from ctxcore.formats.fields import (
    count_at,
    file_stem,
    id_at,
    object_at,
    prompt_texts,
    text_at,
    time_at,
    title_of,
)
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, RecordedCompaction, Transcript
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.openai import parse_message
from ctxcore.messages.shapes.anthropic import has_own_blocks, openai_tool
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_LISTS = ("messages", "traj", "history")  # request bodies; tau-bench; SWE-agent
_CONTENT_KEYS = ("content", "tool_calls", "function_call", "refusal", "reasoning_content")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A value to be read as a message, and its place for a problem."""

    value: JsonValue
    line: int | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A conversation to be read; `about` is the object that holds its messages."""

    entries: tuple[_Entry, ...]
    about: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The messages of a conversation, their times, and the problems in it."""

    messages: tuple[Message, ...]
    times: tuple[datetime | None, ...]
    problems: tuple[Problem, ...]


def _read(records: Records) -> Iterator[Transcript | Problem]:
    """The conversations in `records`, and the problems outside of them."""
    for found in _find_conversations(records):
        if isinstance(found, Problem):
            yield found
            continue
        read, compactions = _without_summaries(_read_entries(found.entries), found.about)
        if read.messages:
            yield _transcript(found.about, read, compactions, records.name)
        else:
            yield from read.problems


def _find_conversations(records: Records) -> Iterator[_Found | Problem]:
    """Conversations in file order; messages that stand alone are one, the last."""
    is_one = records.layout == "list" and any(map(_is_message, records.values))
    loose: list[_Entry] = []
    for at, record in enumerate(records):
        value, line = record.value, record.line
        if is_one or _is_message(value):
            place = Place(PlaceCode.MESSAGE, at) if is_one else Place(PlaceCode.THE_MESSAGE)
            loose.append(_Entry(value=value, line=line, place=place))
        elif inside := _conversations_in(value, line):
            yield from inside
        else:
            yield Problem(line=line, reason=FileProblem.NEITHER())
    if loose:
        yield _Found(entries=tuple(loose))


def _conversations_in(value: JsonValue, line: int | None) -> list[_Found]:
    """A list of messages, an object that holds one, or a list of either."""
    if isinstance(value, dict):
        lists = (inner for key in _LISTS if isinstance(inner := value.get(key), list))
        messages = next((inner for inner in lists if any(map(_is_message, inner))), None)
        entries = _system_prompt(value, line) + _entries(messages or [], line)
        return [_Found(entries=entries, about=value)] if messages else []
    if not isinstance(value, list):
        return []
    if any(map(_is_message, value)):
        return [_Found(entries=_entries(value, line))]
    return [found for inner in value for found in _conversations_in(inner, line)]


def _entries(values: list[JsonValue], line: int | None) -> tuple[_Entry, ...]:
    return tuple(
        _Entry(value=value, line=line, place=Place(PlaceCode.MESSAGE, at))
        for at, value in enumerate(values)
    )


def _system_prompt(about: JsonObject, line: int | None) -> tuple[_Entry, ...]:
    """The system prompt under a key of its own, as in requests to Claude."""
    prompt = about.get("system")
    if not prompt or not isinstance(prompt, (str, list)):
        return ()
    message: JsonObject = {"role": "system", "content": prompt}
    return (_Entry(value=message, line=line, place=Place(PlaceCode.SYSTEM_PROMPT)),)


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and any(key in value for key in _CONTENT_KEYS)
    )


def _read_entries(entries: tuple[_Entry, ...]) -> _Read:
    messages: list[Message] = []
    times: list[datetime | None] = []
    problems = []
    for entry in entries:
        raw = cast("JsonObject", entry.value)  # parse_message refuses anything else
        try:
            is_claude = isinstance(raw, dict) and has_own_blocks(raw)
            found = to_messages(raw) if is_claude else [parse_message(raw, place=entry.place)]
        except MessageError as error:
            problems.append(Problem(line=entry.line, reason=error.reason))
            continue
        messages += found
        times += [time_at(raw, "timestamp", "created_at")] * len(found)
    return _Read(messages=tuple(messages), times=tuple(times), problems=tuple(problems))


def _without_summaries(
    read: _Read, about: Mapping[str, JsonValue]
) -> tuple[_Read, tuple[RecordedCompaction, ...]]:
    """`read` without the summaries of recorded compactions, and those compactions.

    They are listed beside the messages under `compactions`, with the place as `summary_index`.
    """
    listed = about.get("compactions") or object_at(about, "meta").get("compactions")
    raws = [raw for raw in listed if isinstance(raw, dict)] if isinstance(listed, list) else []
    places = {place: raw for raw in raws if (place := count_at(raw, "summary_index")) is not None}
    if not places or read.problems:  # a message that could not be read shifts the places
        return read, ()
    places = {at: places[at] for at in sorted(places) if at < len(read.messages)}
    compactions = tuple(
        RecordedCompaction(
            at=at - nth,
            summary=read.messages[at].text,
            before_tokens=count_at(raw, "pre_tokens"),
            trigger=text_at(raw, "trigger"),
            recorded_at=read.times[at],
        )
        for nth, (at, raw) in enumerate(places.items())
    )
    left = [at for at in range(len(read.messages)) if at not in places]
    messages = tuple(read.messages[at] for at in left)
    return replace(read, messages=messages, times=tuple(read.times[at] for at in left)), compactions


def _transcript(
    about: Mapping[str, JsonValue],
    read: _Read,
    compactions: tuple[RecordedCompaction, ...],
    name: str,
) -> Transcript:
    own_id = id_at(about, "id", "session_id", "conversation_id") or file_stem(name)
    titles = [text_at(about, "title"), *prompt_texts(read.messages)]
    return Transcript(
        id=own_id,
        title=title_of(titles, otherwise=own_id),
        format="openai",
        path=name,
        messages=read.messages,
        times=read.times,
        model=text_at(about, "model"),
        raw_tools=_raw_tools(about),
        compactions=compactions,
        problems=read.problems,
    )


def _raw_tools(about: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Tool definitions; the older `functions` in the form of `tools`."""
    tools, functions = about.get("tools"), about.get("functions")
    definitions: list[JsonValue] = list(tools) if isinstance(tools, list) else []
    if isinstance(functions, list):
        definitions += [{"type": "function", "function": function} for function in functions]
    return tuple(to_ordered(openai_tool(tool)) for tool in definitions if isinstance(tool, dict))


OPENAI_CHAT = Format(
    name="openai",
    label=FormatCode.OPENAI(),
    matches=lambda _: True,
    read=_read,
    suffixes=(".json", ".jsonl", ".ndjson", ".traj"),  # SWE-agent names its JSON files so
)
