"""Reads sessions of Hermes: a file for each, transcripts of its gateway, and what it exports.

Its messages are OpenAI's with more fields; the tokens it keeps are those of a whole session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.openai import parse_message
from ctxcore.messages.shapes.anthropic import openai_tool
from ctxcore.messages.values import Message, Reasoning
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_META: Final = "session_meta"
_OWN: Final = ("platform", "session_start", "last_updated")


def _is_hermes(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    return any(_is_session(value) or value.get("role") == _META for value in values)


def _is_session(value: JsonObject) -> bool:
    """Whether this is a session with its messages, as it is kept or exported."""
    if not isinstance(value.get("messages"), list):
        return False
    own = [key for key in _OWN if key in value]
    is_kept = isinstance(value.get("session_id"), str) and len(own) >= 2
    is_exported = isinstance(value.get("source"), str) and "started_at" in value
    return is_kept or (is_exported and isinstance(value.get("id"), str))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    loose: list[tuple[JsonValue, int | None]] = []
    for record in records:
        value = record.value
        if isinstance(value, dict) and _is_session(value):
            yield from _conversation(records.name, value, _messages(value, record.line))
        else:
            loose.append((value, record.line))
    if loose:
        heads = (value for value, _ in loose if isinstance(value, dict))
        about = next((value for value in heads if value.get("role") == _META), {})
        yield from _conversation(records.name, about, loose)


def _messages(value: JsonObject, line: int | None) -> list[tuple[JsonValue, int | None]]:
    messages = value["messages"]
    return [(message, line) for message in messages] if isinstance(messages, list) else []


def _conversation(
    name: str, about: JsonObject, messages: Iterable[tuple[JsonValue, int | None]]
) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="hermes", path=name)
    if (system := text_at(about, "system_prompt")) is not None:
        builder.say("system", system)
    for nth, (raw, line) in enumerate(messages):
        _read_message(builder, raw, key=str(nth), line=line)
    builder.model = builder.model or text_at(about, "model")
    tools = about.get("tools")
    transcript = builder.build(
        id=text_at(about, "session_id", "id"),
        titles=[text_at(about, "title", "display_name")],
        raw_tools=_raw_tools(tools if isinstance(tools, list) else []),
        parent_id=text_at(about, "parent_session_id"),
    )
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _read_message(
    builder: TranscriptBuilder, raw: JsonValue, *, key: str, line: int | None
) -> None:
    if not isinstance(raw, dict):
        builder.problem(FileProblem.NO_RECORD(), line=line)
    elif raw.get("role") == _META:
        builder.ignore(_META)
    else:
        try:
            message = _message(raw)
        except MessageError as error:
            builder.problem(error.reason, line=line)
            return
        builder.add(message, key=key, time=time_at(raw, "timestamp"), line=line)
        builder.model = text_at(raw, "model") or builder.model


def _message(raw: JsonObject) -> Message:
    """A message in OpenAI's form.

    Raises:
        MessageError: it is not what the format allows.
    """
    given: JsonObject = {"role": raw.get("role"), "content": raw.get("content")}
    calls = raw.get("tool_calls")
    if isinstance(calls, list) and calls:
        given["tool_calls"] = [_call(call) for call in calls]
    if (answers := text_at(raw, "tool_call_id")) is not None:
        given["tool_call_id"] = answers
    if (name := text_at(raw, "tool_name", "name")) is not None and raw.get("role") == "tool":
        given["name"] = name
    message = parse_message(given)
    thinking = text_at(raw, "reasoning_content", "reasoning")
    if message.role != "assistant" or thinking is None:
        return message
    parts = (Reasoning(text=thinking), *message.content)
    return Message(role="assistant", content=parts, calls=message.calls)


def _call(call: JsonValue) -> JsonValue:
    """A call without the fields that other providers' ids are in."""
    if not isinstance(call, dict):
        return call
    function = object_at(call, "function")
    arguments = function.get("arguments")
    inner: JsonObject = {
        "name": text_at(function, "name") or "unknown",
        "arguments": arguments if isinstance(arguments, (str, dict)) else "{}",
    }
    return {"id": text_at(call, "id", "call_id") or "", "type": "function", "function": inner}


def _raw_tools(tools: Iterable[JsonValue]) -> tuple[str, ...]:
    return tuple(to_ordered(_tool(tool)) for tool in tools if isinstance(tool, dict))


def _tool(tool: JsonObject) -> JsonObject:
    """A tool in OpenAI's form; some versions write it in two forms at once."""
    function: Mapping[str, object] = object_at(tool, "function")
    if "parameters" not in function and "input_schema" in tool:
        return openai_tool({key: tool[key] for key in tool if key not in ("function", "type")})
    return tool


HERMES = Format(
    name="hermes",
    label=FormatCode.HERMES(),
    matches=_is_hermes,
    read=_read,
)
