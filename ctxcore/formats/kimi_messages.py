"""Reads messages, contents and counts as Kimi's programs write them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at
from ctxcore.formats.values import RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Message, Reasoning


def message_of(raw: Mapping[str, JsonValue]) -> Message:
    """A message with its calls; of Kimi's parts, thinking is the one OpenAI has not.

    Raises:
        MessageError: it is not what the format allows.
    """
    content = raw.get("content")
    parts = content if isinstance(content, list) else []
    said = [part for part in parts if type_of(part) != "think"]
    calls = raw.get("toolCalls") or raw.get("tool_calls")
    given: JsonObject = {
        "role": raw.get("role"),
        "content": said if isinstance(content, list) else content,
        "tool_call_id": raw.get("toolCallId") or raw.get("tool_call_id"),
    }
    if isinstance(calls, list) and calls:
        given["tool_calls"] = [_call(call) for call in calls]
    message = parse_message({key: value for key, value in given.items() if value is not None})
    if message.role != "assistant":
        return message
    thoughts = [text_at(part, "think") for part in parts if isinstance(part, dict)]
    thinking = tuple(Reasoning(text=text) for text in thoughts if text)
    return Message(role="assistant", content=(*thinking, *message.content), calls=message.calls)


def add_content(
    builder: TranscriptBuilder, part: JsonValue, *, key: str, time: datetime | None
) -> None:
    """Adds a part of an answer.

    Raises:
        MessageError: it is not what the format allows.
    """
    message = message_of({"role": "assistant", "content": [part]})
    builder.answer(message.content, key=key, time=time)


def usage_of(
    counts: Mapping[str, object], *, call_id: str, model: str | None, time: datetime | None
) -> RecordedUsage:
    """What the provider counted for a call."""

    def count(camel: str, snake: str) -> int:
        return count_at(counts, camel) or count_at(counts, snake) or 0

    return RecordedUsage(
        call_id=call_id,
        after=0,
        input_tokens=count("inputOther", "input_other"),
        cache_read_tokens=count("inputCacheRead", "input_cache_read"),
        cache_write_tokens=count("inputCacheCreation", "input_cache_creation"),
        output_tokens=count("output", "output"),
        model=model,
        recorded_at=time,
    )


def _call(call: JsonValue) -> JsonValue:
    """A call in OpenAI's form; newer versions have no `function` in it."""
    if not isinstance(call, dict):
        return call
    function = object_at(call, "function") or call
    arguments = function.get("arguments")
    inner: JsonObject = {
        "name": text_at(function, "name") or "unknown",
        "arguments": arguments if isinstance(arguments, (str, dict)) else "{}",
    }
    return {"id": text_at(call, "id") or "", "type": "function", "function": inner}
