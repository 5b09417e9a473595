"""Reads ShareGPT data sets, and chat messages whose tool calls are tags in their text.

ShareGPT has `conversations` of `from` and `value`; calls are turns of their own (`function_call`,
`observation`) or tags, as in the data sets of Hermes.
"""

from __future__ import annotations

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.dialogues import (
    Named,
    add_turns,
    dialogue_reader,
    head_objects,
    is_turn,
)
from ctxcore.formats.fields import text_at
from ctxcore.formats.records import Records
from ctxcore.formats.text_calls import has_calls
from ctxcore.formats.values import Format
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FormatCode

_LISTS = ("conversations", "conversation", "items")
_ANSWERS = ("assistant", "gpt", "model")


def _turns(record: JsonObject, *keys: str) -> list[JsonValue]:
    """The first of these lists that holds turns."""
    lists = (inner for key in keys if isinstance(inner := record.get(key), list))
    return next((inner for inner in lists if any(map(is_turn, inner))), [])


def _is_sharegpt(records: Records) -> bool:
    turns = (one for value in head_objects(records) for one in _turns(value, *_LISTS))
    return any(isinstance(turn, dict) and "from" in turn for turn in turns) or any(
        _turns(value, "conversations") for value in head_objects(records)
    )


def _add_sharegpt(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    turns = _turns(record, *_LISTS)
    if not turns:
        return None
    _add_all(record, turns, builder, line)
    chosen, rejected = record.get("chosen"), record.get("rejected")
    if is_turn(chosen):  # preference data: the turns end with a prompt
        add_turns(builder, [chosen], line)
        if rejected:
            builder.ignore("rejected answer")
    return Named.of(record)


def _add_all(
    record: JsonObject, turns: list[JsonValue], builder: TranscriptBuilder, line: int | None
) -> None:
    if system := text_at(record, "system", "system_prompt"):
        builder.say("system", system)
    builder.model = text_at(record, "model")
    add_turns(builder, turns, line)


def _is_tagged(records: Records) -> bool:
    return any(map(_has_tagged_calls, head_objects(records)))


def _has_tagged_calls(record: JsonObject) -> bool:
    """Whether answers hold calls as tags, and none beside the text."""
    turns = [turn for turn in _turns(record, "messages") if isinstance(turn, dict)]
    if any(turn.get("tool_calls") for turn in turns):
        return False
    answers = (turn for turn in turns if turn.get("role") in _ANSWERS)
    return any(has_calls(answer.get("content")) for answer in answers)


def _add_tagged(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    turns = _turns(record, "messages")
    if not turns:
        return None
    _add_all(record, turns, builder, line)
    return Named.of(record)


SHAREGPT = Format(
    name="sharegpt",
    label=FormatCode.SHAREGPT(),
    matches=_is_sharegpt,
    read=dialogue_reader("sharegpt", _add_sharegpt),
)
TAGGED_CALLS = Format(
    name="tagged-calls",
    label=FormatCode.TAGGED_CALLS(),
    matches=_is_tagged,
    read=dialogue_reader("tagged-calls", _add_tagged),
)
