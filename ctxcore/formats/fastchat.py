"""Reads FastChat's logs and the data sets of Chatbot Arena.

A log repeats the state of a conversation after each answer; only the last one is read. A battle of
two models is two conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

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
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_NAME = "fastchat"


def _is_fastchat(records: Records) -> bool:
    return any(map(_conversations, head_objects(records)))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    values = (record.value for record in records)
    states = (state for value in values if isinstance(value, dict) for state in _states(value))
    shown = Counter(text_at(state, "conv_id") for state in states)
    left = Counter(shown)
    for found in dialogue_reader(_NAME, _add, _conversations)(records):
        if isinstance(found, Transcript) and found.id in shown:
            left[found.id] -= 1
            if left[found.id]:
                continue
            earlier = shown[found.id] - 1
            ignored = Counter(dict(found.ignored)) + Counter({"earlier state": earlier})
            found = replace(found, ignored=tuple(sorted(ignored.items())))
        yield found


def _conversations(record: JsonObject) -> list[JsonObject]:
    """The conversations of a record: a battle has two, a vote as many as there are models."""
    if states := _states(record):
        return states
    if _is_turns(record.get("conversation_a")) and "conversation_b" in record:
        own_id = id_at(record, "question_id", "id") or ""
        return [
            {
                "id": f"{own_id}-{side}".removeprefix("-"),
                "model": record.get(f"model_{side}"),
                "conversation": record[f"conversation_{side}"],
            }
            for side in ("a", "b")
        ]
    return [record] if _is_turns(record.get("conversation")) else []


def _states(record: JsonObject) -> list[JsonObject]:
    listed = record.get("states")
    states = [record.get("state"), *(listed if isinstance(listed, list) else [])]
    return [state for state in states if isinstance(state, dict) and _is_state(state)]


def _is_state(record: JsonObject) -> bool:
    return isinstance(record.get("roles"), list) and isinstance(record.get("messages"), list)


def _is_turns(value: JsonValue) -> bool:
    return isinstance(value, list) and any(map(is_turn, value))


def _add(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    turns = record.get("conversation")
    builder.model = text_at(record, "model", "model_name")
    if _is_state(record):
        _add_state(record, builder, line)
        return Named(id=text_at(record, "conv_id"))
    if not isinstance(turns, list):
        return None
    add_turns(builder, turns, line)
    return Named.of(record)


def _add_state(state: JsonObject, builder: TranscriptBuilder, line: int | None) -> None:
    """Tells `builder` the pairs of a state; the model's role is the second of its roles."""
    if system := text_at(state, "system_message", "system"):
        builder.say("system", system)
    roles, messages = state["roles"], state["messages"]
    assert isinstance(roles, list)  # it is a state
    assert isinstance(messages, list)
    for pair in messages:
        if not isinstance(pair, list) or len(pair) != 2 or pair[0] not in roles:
            builder.problem(FileProblem.NO_TURN(), line=line)
            continue
        said = pair[1][0] if isinstance(pair[1], list) and pair[1] else pair[1]
        text = said if isinstance(said, str) else ""
        if pair[0] == roles[0]:
            builder.say("user", text)
        else:
            add_answer(builder, text, line=line)


FASTCHAT = Format(name=_NAME, label=FormatCode.FASTCHAT(), matches=_is_fastchat, read=_read)
