"""Reads the Berkeley Function-Calling Leaderboard: questions, and results with their logs.

Questions have no answers. The log of a result of several turns has the questions and the outputs
of tools; other results are the answers alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.dialogues import (
    Named,
    add_answer,
    add_turns,
    dialogue_reader,
    head_objects,
    is_turn,
)
from ctxcore.formats.fields import id_at, text_at
from ctxcore.formats.records import Records
from ctxcore.formats.text_calls import WrittenCall, python_call
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.reasons.storage_problems import FormatCode

_QUESTION_KEYS: Final = ("function", "involved_classes", "initial_config")
_RESULT_KEYS: Final = ("inference_log", "input_token_count", "latency")
_STEP: Final = "step_"


def _is_bfcl(records: Records) -> bool:
    return any(_is_question(one) or _is_result(one) for one in head_objects(records))


def _is_question(record: JsonObject) -> bool:
    return bool(_turns(record)) and any(key in record for key in _QUESTION_KEYS)


def _is_result(record: JsonObject) -> bool:
    is_answer = isinstance(record.get("result"), (str, list)) and "id" in record
    return is_answer and any(key in record for key in _RESULT_KEYS)


def _turns(record: JsonObject) -> list[list[JsonValue]]:
    """The messages of each turn; older questions are one turn."""
    question = record.get("question")
    if isinstance(question, str) and question.strip():
        return [[{"role": "user", "content": question}]]
    if not isinstance(question, list):
        return []
    if any(map(is_turn, question)):
        return [question]
    turns = [turn for turn in question if isinstance(turn, list)]
    return turns if any(is_turn(one) for turn in turns for one in turn) else []


def _add(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    if _is_question(record):
        for turn in _turns(record):
            add_turns(builder, turn, line)
    elif _is_result(record):
        _add_result(record, builder, line)
    else:
        return None
    tools = raw_tools(record.get("function"))
    return Named(id=id_at(record, "id"), raw_tools=tools)


def _add_result(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> None:
    builder.model = text_at(record, "model_name", "model")
    logged = _logged(record.get("inference_log"))
    result = record["result"]
    if not logged:
        for step in _flat(result):
            _add_step(step, [], builder, line)
        _add_usage(record, (), builder)
        return
    for at, turn in enumerate(logged):
        asked = turn.get("begin_of_turn_query")
        add_turns(builder, asked if isinstance(asked, list) else [], line)
        for nth, entries in enumerate(_steps(turn)):
            _add_step(_at(result, at, nth), entries, builder, line)
            _add_usage(record, (at, nth), builder)


def _logged(log: JsonValue) -> list[JsonObject]:
    turns = [turn for turn in log if isinstance(turn, dict)] if isinstance(log, list) else []
    return [turn for turn in turns if "begin_of_turn_query" in turn]


def _steps(turn: JsonObject) -> Iterator[list[JsonObject]]:
    for key, entries in turn.items():
        if key.startswith(_STEP) and isinstance(entries, list):
            yield [entry for entry in entries if isinstance(entry, dict)]


def _add_step(
    answer: JsonValue, entries: Sequence[JsonObject], builder: TranscriptBuilder, line: int | None
) -> None:
    """Tells `builder` an answer, and the outputs of its calls that the log has."""
    said = [entry for entry in entries if entry.get("role") == "assistant"]
    for entry in said:
        builder.think(text_at(entry, "reasoning_content") or "")
    calls = _calls(answer)
    if not calls:
        text = answer if isinstance(answer, str) else None
        texts = [text] if text else [text_at(entry, "content") or "" for entry in said]
        add_answer(builder, "\n".join(texts), line=line)
        decoded = (entry.get("model_response_decoded") for entry in entries)
        listed = [one for value in decoded if isinstance(value, list) for one in value]
        calls = [call for one in listed if (call := python_call(str(one)))]
    for call in calls:
        builder.call(call.name, call.arguments, call_id=None, line=line)
    for entry in entries:
        if entry.get("role") == "tool":
            content = entry.get("content")
            builder.result(content if isinstance(content, str) else to_ordered(content), line=line)
        elif entry.get("role") != "assistant":
            builder.ignore(text_at(entry, "role") or "untyped")


def _calls(answer: JsonValue) -> list[WrittenCall]:
    """The calls of an answer: objects with a tool's name as their key, or one of them."""
    listed = answer if isinstance(answer, list) else [answer]
    if not all(isinstance(one, dict) for one in listed):
        return []
    return [
        WrittenCall(name=name, arguments=arguments)
        for one in listed
        if isinstance(one, dict)
        for name, arguments in one.items()
    ]


def _flat(result: JsonValue) -> list[JsonValue]:
    """The answers of a result: one, or those of each step of each turn."""
    if not isinstance(result, list) or _calls(result):
        return [result]
    return [step for turn in result for step in (turn if isinstance(turn, list) else [turn])]


def _at(value: JsonValue, *path: int) -> JsonValue:
    for at in path:
        if not isinstance(value, list) or at >= len(value):
            return None
        value = value[at]
    return value


def _add_usage(record: JsonObject, path: tuple[int, ...], builder: TranscriptBuilder) -> None:
    counts = [_at(record.get(f"{side}_token_count"), *path) for side in ("input", "output")]
    given, made = (
        int(count) if isinstance(count, (int, float)) and count >= 0 else 0 for count in counts
    )
    if given or made:
        call_id = ".".join(map(str, path)) or (id_at(record, "id") or "")
        builder.usage(
            RecordedUsage(call_id=call_id, after=0, input_tokens=given, output_tokens=made)
        )


BFCL = Format(
    name="bfcl",
    label=FormatCode.BFCL(),
    matches=_is_bfcl,
    read=dialogue_reader("bfcl", _add),
)
