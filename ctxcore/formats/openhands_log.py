"""Reads OpenHands' logs of model calls: the request with its response and what was counted.

A model without tool calls writes them as text; such a log has both forms, and calls are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import object_at, objects_in, text_at, time_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.reading import read_list
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_ASKED: Final = ("messages", "input")  # of chat completions; of the Responses API
_OTHER_FORMS: Final = ("fncall_messages", "raw_messages")
_ANSWERS: Final = ("response", "fncall_response", "raw_response")
_ABOUT_CALL: Final = ("cost", "latency_sec", "timestamp", "context_window")


def _is_log(records: Records) -> bool:
    return any(map(_is_logged_call, records.values))


def _is_logged_call(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("kwargs"), dict):
        return False
    has_messages = any(isinstance(value.get(key), list) for key in _ASKED)
    is_over = isinstance(value.get("response"), dict) or "error" in value
    return has_messages and is_over and any(key in value for key in _ABOUT_CALL)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    for record in records:
        value = record.value
        if isinstance(value, dict) and _is_logged_call(value):
            found = _conversation(value, record.line, records.name)
            yield from or_problems(found, line=record.line)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())


def _conversation(log: JsonObject, line: int | None, name: str) -> Transcript:
    builder = TranscriptBuilder(format="openhands-log", path=name)
    asked = _with_calls([log.get(key) for key in (*_ASKED, *_OTHER_FORMS)])
    answers = [_answer(object_at(log, key)) for key in _ANSWERS]
    answered = _with_calls([*answers])
    if instructions := text_at(log, "instructions"):
        builder.say("system", instructions)

    def refuse(at: int, error: MessageError) -> None:
        builder.problem(error.reason, line=line)

    if isinstance(log.get("error"), dict):
        builder.ignore("error")
    read = read_list([*asked, *answered], refuse=refuse)
    time = time_at(log, "timestamp")
    for at in range(len(read.messages)):
        is_new = read.places_of(at)[-1] >= len(asked)
        builder.add(read.messages[at], key=str(at), time=time if is_new else None, line=line)
        if is_new:
            _add_usage(builder, log, str(at))
    tools = log.get("tools") or object_at(log, "kwargs").get("tools")
    found = raw_tools([*tools] if isinstance(tools, list) else None)
    return builder.build(id=text_at(object_at(log, "response"), "id"), raw_tools=found)


def _with_calls(forms: Sequence[JsonValue]) -> list[JsonObject]:
    """The first form of the same messages that has calls; else the first."""
    lists = [found for form in forms if (found := objects_in(form))]
    return next((one for one in lists if any(map(_calls, one))), lists[0] if lists else [])


def _calls(message: JsonObject) -> bool:
    return bool(message.get("tool_calls")) or message.get("type") == "function_call"


def _answer(response: Mapping[str, object]) -> list[JsonValue]:
    """The message in a response, or its items."""
    output, choices = response.get("output"), response.get("choices")
    if isinstance(output, list):
        return output
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return [message] if isinstance(message, dict) else []


def _add_usage(builder: TranscriptBuilder, log: JsonObject, key: str) -> None:
    response = object_at(log, "response")
    builder.model = text_at(response, "model")
    usage = openai_usage(
        object_at(response, "usage"),
        call_id=text_at(response, "id") or "",
        model=builder.model,
        recorded_at=time_at(log, "timestamp"),
    )
    if usage.total_input_tokens or usage.output_tokens:
        builder.usage(usage, key=key)


OPENHANDS_LOG = Format(
    name="openhands-log",
    label=FormatCode.OPENHANDS_LOG(),
    matches=_is_log,
    read=_read,
)
