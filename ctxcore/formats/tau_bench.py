"""Reads tau-bench: results with their trajectories, simulations of tau2-bench, and examples.

Examples are dialogues as text, in which only the results of tools are left of the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.dialogues import Named, dialogue_reader, head_objects, is_turn
from ctxcore.formats.fields import id_at, object_at, text_at, time_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.records import Records
from ctxcore.formats.values import Format
from ctxcore.json_types import JsonObject
from ctxcore.reasons.storage_problems import FileProblem, FormatCode, RepairCode

_NAME: Final = "tau-bench"
_SPOKEN: Final = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)
_NO_TEXT: Final = "None"  # what the examples say where a model only called a tool
_LOST_TOOL: Final = "unknown"


def _is_tau_bench(records: Records) -> bool:
    return any(map(_runs, head_objects(records)))


def _runs(record: JsonObject) -> list[JsonObject]:
    """The conversations of a record: one, or all simulations of a file of tau2-bench."""
    simulations = record.get("simulations")
    if isinstance(simulations, list):
        found = [one for one in simulations if isinstance(one, dict)]
        return [one for one in found if "task_id" in one and isinstance(one.get("messages"), list)]
    played = record.get("traj")
    is_result = isinstance(played, list) and any(map(is_turn, played))
    return [record] if is_result or isinstance(record.get("messages_display"), str) else []


def _add(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named:
    shown = record.get("messages_display")
    if isinstance(shown, str):
        _add_shown(shown, builder, line)
        return Named()
    key = "traj" if "traj" in record else "messages"
    messages = record[key]
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            _add_message(message, builder, line)
        else:
            builder.problem(FileProblem.NO_TURN(), line=line)
    return Named(id=_id(record))


def _id(record: JsonObject) -> str | None:
    task, trial = id_at(record, "task_id"), id_at(record, "trial")
    named = f"task-{task}-trial-{trial}" if task and trial else f"task-{task}" if task else None
    return named if "traj" in record else id_at(record, "id") or named


def _add_message(message: JsonObject, builder: TranscriptBuilder, line: int | None) -> None:
    role, text = message.get("role"), _text(message)
    time = time_at(message, "timestamp")
    is_users = message.get("requestor") == "user"
    inner = message.get("tool_messages")
    if isinstance(inner, list):  # results of parallel calls
        for one in inner:
            if isinstance(one, dict):
                _add_message({"role": "tool", **one}, builder, line)
    elif role == "tool" and is_users:
        builder.ignore("result of a call by the user")
    elif role == "tool":
        call_id = text_at(message, "tool_call_id", "id")
        builder.result(text, call_id=call_id, name=text_at(message, "name"), time=time, line=line)
    elif role == "assistant":
        _add_answer(message, builder, line)
    elif role == "user":
        if text.strip():
            builder.say("user", text, time=time)
        for _ in _calls(message):
            builder.ignore("call by the user")
    elif role == "system":
        builder.say("system", text, time=time)
    else:
        builder.problem(FileProblem.SPEAKER(name=str(role)), line=line)


def _add_answer(message: JsonObject, builder: TranscriptBuilder, line: int | None) -> None:
    time = time_at(message, "timestamp")
    builder.think(text_at(message, "reasoning_content") or "", time=time)
    text, calls = _text(message), _calls(message)
    if text.strip():
        builder.answer(text, time=time)
    elif not calls:
        builder.ignore("blank assistant")
        return
    for call in calls:
        inner = call.get("function")
        function = inner if isinstance(inner, dict) else call
        builder.call(
            text_at(function, "name") or _LOST_TOOL,
            function.get("arguments"),
            call_id=text_at(call, "id"),
            time=time,
            line=line,
        )
    if usage := object_at(message, "usage"):
        builder.usage(
            openai_usage(usage, call_id=str(message.get("turn_idx", "")), recorded_at=time)
        )


def _calls(message: JsonObject) -> Sequence[JsonObject]:
    listed = message.get("tool_calls")
    calls = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    legacy = message.get("function_call")
    return [*calls, *([legacy] if isinstance(legacy, dict) else [])]


def _text(message: JsonObject) -> str:
    """The text of a message, also of one that has it in parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _add_shown(shown: str, builder: TranscriptBuilder, line: int | None) -> None:
    """Tells `builder` a dialogue that is text; a call is made up for each result."""
    lost = 0
    for speaker, text in _spoken(shown):
        if speaker == "tool":
            lost += 1
            builder.call(_LOST_TOOL, None, call_id=f"call_{lost}", line=line)
            builder.result(text, call_id=f"call_{lost}", line=line)
            builder.repair(RepairCode.NO_CALLS_SHOWN(), line=line)
        elif speaker == "assistant":
            if text != _NO_TEXT:
                builder.answer(text)
        else:
            builder.say("user" if speaker == "user" else "system", text)


def _spoken(shown: str) -> Iterator[tuple[str, str]]:
    _, *turns = _SPOKEN.split(shown)
    for speaker, text in zip(turns[::2], turns[1::2], strict=True):
        yield speaker, text.strip()


TAU_BENCH = Format(
    name=_NAME,
    label=FormatCode.TAU_BENCH(),
    matches=_is_tau_bench,
    read=dialogue_reader(_NAME, _add, _runs),
)
