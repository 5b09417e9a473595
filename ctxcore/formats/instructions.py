"""Reads data sets of instructions and of plain texts in turn: Alpaca, Glaive and UltraChat."""

from __future__ import annotations

import re
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.dialogues import Named, add_answer, dialogue_reader, head_objects
from ctxcore.formats.fields import id_at, text_at
from ctxcore.formats.records import Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FormatCode

_ANSWERS: Final = ("output", "response", "chosen")
_GLAIVE_TURN: Final = re.compile(
    r"(?:^|\n)\s*(SYSTEM|USER|ASSISTANT|FUNCTION RESPONSE):[ ]?", re.MULTILINE
)
_GLAIVE_TOOL: Final = re.compile(r"^\{.*?^\}", re.DOTALL | re.MULTILINE)


def _is_alpaca(records: Records) -> bool:
    return any(map(_is_instruction, head_objects(records)))


def _is_instruction(record: JsonObject) -> bool:
    is_asked = isinstance(record.get("instruction"), str) and "messages" not in record
    return is_asked and any(isinstance(record.get(key), str) for key in _ANSWERS)


def _add_alpaca(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    if not _is_instruction(record):
        return None
    if system := text_at(record, "system", "system_prompt"):
        builder.say("system", system)
    history = record.get("history")
    for pair in history if isinstance(history, list) else []:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, str) for p in pair):
            builder.say("user", str(pair[0]))
            add_answer(builder, str(pair[1]), line=line)
        else:
            builder.ignore("history entry")
    asked = (text_at(record, key) for key in ("instruction", "input", "context"))
    builder.say("user", "\n\n".join(text for text in asked if text))
    add_answer(builder, text_at(record, *_ANSWERS) or "", line=line)
    if record.get("rejected"):
        builder.ignore("rejected answer")
    return Named.of(record)


def _is_glaive(records: Records) -> bool:
    return any(map(_is_glaive_record, head_objects(records)))


def _is_glaive_record(record: JsonObject) -> bool:
    text = _glaive_text(record)
    speakers = set(_GLAIVE_TURN.findall(text))
    return {"USER", "ASSISTANT"} <= speakers


def _glaive_text(record: JsonObject) -> str:
    """The dialogue as one text: `chat` with its `system`, or `sample` in the first version."""
    chat = record.get("chat", record.get("sample"))
    system = record.get("system")
    head = system if isinstance(system, str) else ""
    return f"{head}\n{chat}" if isinstance(chat, str) else ""


def _add_glaive(record: JsonObject, builder: TranscriptBuilder, line: int | None) -> Named | None:
    if not _is_glaive_record(record):
        return None
    head, *turns = _GLAIVE_TURN.split(_glaive_text(record))
    builder.say("system", head.strip())
    tools: tuple[str, ...] = ()
    for speaker, said in zip(turns[::2], turns[1::2], strict=True):
        text = said.replace("<|endoftext|>", "").strip()
        match speaker:
            case "SYSTEM":
                tools = raw_tools(*_GLAIVE_TOOL.findall(text))
                builder.say("system", text)
            case "USER":
                builder.say("user", text)
            case "ASSISTANT":
                add_answer(builder, text, line=line)
            case _:
                builder.result(text, line=line)
    return Named(id=id_at(record, "id"), raw_tools=tools)


def _is_ultrachat(records: Records) -> bool:
    return any(map(_texts_in_turn, head_objects(records)))


def _texts_in_turn(record: JsonObject) -> list[JsonValue]:
    data = record.get("data")
    is_texts = isinstance(data, list) and all(isinstance(text, str) for text in data)
    return data if is_texts and isinstance(data, list) and len(data) > 1 else []


def _add_ultrachat(
    record: JsonObject, builder: TranscriptBuilder, line: int | None
) -> Named | None:
    texts = _texts_in_turn(record)
    for at, text in enumerate(texts):
        if at % 2:
            add_answer(builder, str(text), line=line)
        else:
            builder.say("user", str(text))
    return Named.of(record) if texts else None


ALPACA = Format(
    name="alpaca",
    label=FormatCode.ALPACA(),
    matches=_is_alpaca,
    read=dialogue_reader("alpaca", _add_alpaca),
)
GLAIVE = Format(
    name="glaive",
    label=FormatCode.GLAIVE(),
    matches=_is_glaive,
    read=dialogue_reader("glaive", _add_glaive),
)
ULTRACHAT = Format(
    name="ultrachat",
    label=FormatCode.ULTRACHAT(),
    matches=_is_ultrachat,
    read=dialogue_reader("ultrachat", _add_ultrachat),
)
