"""Reads the trajectories of mini-swe-agent: messages of chat completions, or of the Responses API.

Each answer has the response of the provider beside it, with what was counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.openai_chat import OpenAIChat
from ctxcore.messages.shapes.responses import Responses
from ctxcore.messages.shapes.values import Codec
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_PACKAGE: Final = "minisweagent"
_LAYOUT: Final = "mini-swe-agent"  # how `trajectory_format` begins
_FINISH: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""What the agent is told to print when it is done, by version."""
_COMMAND: Final = ("```mswea_bash_command", "<returncode>")


def _is_mini(records: Records) -> bool:
    return _is_list_of_messages(records) or any(map(_is_trajectory, records.values))


def _is_trajectory(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    info = object_at(value, "info")
    config = object_at(info, "config")
    kinds = [text_at(config, key) or "" for key in ("agent_type", "model_type")]
    return (
        (text_at(value, "trajectory_format") or "").startswith(_LAYOUT)
        or "mini_version" in info
        or any(kind.startswith(_PACKAGE) for kind in kinds)
    )


def _is_list_of_messages(records: Records) -> bool:
    """Whether a list of messages is one of the agent's: its task, and commands in its own form."""
    if records.layout != "list":
        return False
    texts = [text_at(one, "content") or "" for one in records.values if isinstance(one, dict)]
    is_told = any(word in text for text in texts[:2] for word in _FINISH)
    return is_told and any(word in text for text in texts[2:] for word in _COMMAND)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    if _is_list_of_messages(records):
        messages = [record.value for record in records]
        yield from or_problems(_conversation({"messages": messages}, None, records.name))
        return
    for record in records:
        value = record.value
        if isinstance(value, dict) and _is_trajectory(value):
            found = _conversation(value, record.line, records.name)
            yield from or_problems(found, line=record.line)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())


def _conversation(trajectory: JsonObject, line: int | None, name: str) -> Transcript:
    builder = TranscriptBuilder(format="mini-swe-agent", path=name)
    config = object_at(object_at(trajectory, "info"), "config")
    builder.model = text_at(object_at(config, "model"), "model_name")
    messages = trajectory["messages"]
    for at, raw in enumerate(messages if isinstance(messages, list) else ()):
        if not isinstance(raw, dict):
            builder.problem(FileProblem.NEITHER(), line=line)
        elif raw.get("role") == "exit":  # how the run ended; never sent to the model
            builder.ignore("exit")
        else:
            _add(builder, raw, at, line)
    return builder.build(id=text_at(trajectory, "instance_id"))


def _add(builder: TranscriptBuilder, raw: JsonObject, at: int, line: int | None) -> None:
    extra = object_at(raw, "extra")
    key, time = str(at), time_at(extra, "timestamp")
    try:
        messages = _messages(raw, at)
    except MessageError as error:
        builder.problem(error.reason, line=line)
        return
    for message in messages:
        builder.add(message, key=key, time=time, line=line)
    response = raw if raw.get("object") == "response" else object_at(extra, "response")
    model = text_at(response, "model")
    usage = openai_usage(
        object_at(response, "usage"),
        call_id=text_at(response, "id") or "",
        model=model,
        recorded_at=time,
    )
    has_answer = any(message.role == "assistant" for message in messages)
    if has_answer and (usage.total_input_tokens or usage.output_tokens):
        builder.usage(usage, key=key)


def _messages(raw: JsonObject, at: int) -> tuple[Message, ...]:
    """The messages of one entry: a chat message, a response, or one of its items.

    Raises:
        MessageError: it is none of these.
    """
    said: JsonObject = {key: value for key, value in raw.items() if key != "extra"}
    output, is_response = raw.get("output"), raw.get("object") == "response"
    items: list[JsonValue] = output if isinstance(output, list) and is_response else [said]
    is_item = isinstance(raw.get("type"), str) and "tool_calls" not in raw
    codec: Codec = Responses() if is_response or is_item else OpenAIChat()

    def refuse(_: int, error: MessageError) -> None:
        raise error

    return codec.to(((at, item) for item in items), refuse).messages


MINI_SWE_AGENT = Format(
    name="mini-swe-agent",
    label=FormatCode.MINI_SWE_AGENT(),
    matches=_is_mini,
    read=_read,
    suffixes=(".json", ".jsonl", ".traj"),
)
