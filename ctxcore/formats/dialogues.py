"""Reads data sets with a conversation a record, whose turns have a speaker and a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import id_at, text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.text_calls import calls_in, is_results, read_answer, results_in
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Part
from ctxcore.reasons.storage_problems import FileProblem

_Kind = Literal["user", "assistant", "system", "developer", "call", "result"]
SPEAKERS: Final[Mapping[str, _Kind]] = {
    **dict.fromkeys(("human", "user", "User", "USER", "prompter", "Human"), "user"),
    **dict.fromkeys(("gpt", "assistant", "model", "bot", "ASSISTANT", "Assistant"), "assistant"),
    **dict.fromkeys(("chatgpt", "bing", "bard", "claude"), "assistant"),
    **dict.fromkeys(("system", "System", "SYSTEM"), "system"),
    "developer": "developer",
    **dict.fromkeys(("function_call", "tool_call", "function-call", "tool-call"), "call"),
    **dict.fromkeys(("observation", "tool", "function", "ipython"), "result"),
    **dict.fromkeys(("tool_response", "function_response", "tool-response"), "result"),
}
"""What data sets call those who speak, and what each is here."""
_SPEAKER_KEYS: Final = ("from", "role", "speaker")
_TEXT_KEYS: Final = ("value", "content", "text")
_ID_KEYS: Final = ("id", "conversation_id", "conversation_hash", "prompt_id", "question_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a record says about its conversation."""

    id: str | None = None
    titles: tuple[str | None, ...] = ()
    raw_tools: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: JsonObject) -> Named:
        """The id, title and tools under the keys that most data sets have them."""
        tools = raw_tools(*(record.get(key) for key in ("tools", "functions")))
        titles = (text_at(record, "title"),)
        return cls(id=id_at(record, *_ID_KEYS), titles=titles, raw_tools=tools)


Add = Callable[[JsonObject, TranscriptBuilder, "int | None"], "Named | None"]
"""Tells a builder what a record says; None if the record is of another layout."""


def _alone(record: JsonObject) -> list[JsonObject]:
    return [record]


def dialogue_reader(
    name: str, add: Add, split: Callable[[JsonObject], Sequence[JsonObject]] = _alone
) -> Callable[[Records], Iterator[Transcript | Problem]]:
    """Reads the conversations of each record with `add`; `split` makes a record of each."""

    def read(records: Records) -> Iterator[Transcript | Problem]:
        for record in records:
            for value in _objects(record.value):
                parts = split(value) if isinstance(value, dict) else []
                for part in parts:
                    yield _dialogue(part, record.line, name, records.name, add)
                if not parts:
                    yield Problem(line=record.line, reason=FileProblem.NO_DIALOGUE())

    return read


def _dialogue(
    record: JsonObject, line: int | None, name: str, path: str, add: Add
) -> Transcript | Problem:
    builder = TranscriptBuilder(format=name, path=path)
    try:
        named = add(record, builder, line)
        if named is not None and builder.has_messages:
            return builder.build(id=named.id, titles=named.titles, raw_tools=named.raw_tools)
    except MessageError as error:
        return Problem(line=line, reason=error.reason)
    return Problem(line=line, reason=FileProblem.NO_DIALOGUE())


def _objects(value: JsonValue) -> Iterator[JsonValue]:
    """A record, or each of a list of them on one line."""
    if isinstance(value, list):
        yield from value
    else:
        yield value


def head_objects(records: Records) -> list[JsonObject]:
    """The objects among the first records."""
    found = (value for one in records.values for value in _objects(one))
    return [value for value in found if isinstance(value, dict)]


def is_turn(value: JsonValue) -> bool:
    """Whether a value is a speaker and what was said."""
    if not isinstance(value, dict):
        return False
    return text_at(value, *_SPEAKER_KEYS) is not None and any(key in value for key in _TEXT_KEYS)


def add_turns(builder: TranscriptBuilder, turns: Sequence[JsonValue], line: int | None) -> None:
    """Tells `builder` each turn; one that cannot be read is a problem."""
    for turn in turns:
        if not is_turn(turn) or not isinstance(turn, dict):
            builder.problem(FileProblem.NO_TURN(), line=line)
            continue
        speaker = text_at(turn, *_SPEAKER_KEYS) or ""
        text = next((turn[key] for key in _TEXT_KEYS if turn.get(key) is not None), "")
        if speaker not in SPEAKERS:
            builder.problem(FileProblem.SPEAKER(name=speaker), line=line)
            continue
        add_turn(builder, SPEAKERS[speaker], text, turn, line)


def add_turn(
    builder: TranscriptBuilder,
    kind: _Kind,
    said: JsonValue,
    turn: JsonObject,
    line: int | None = None,
) -> None:
    """Tells `builder` one turn; `turn` may have a time, an id of a call, and a tool's name."""
    time = time_at(turn, "timestamp", "created_at")
    text = said if isinstance(said, str) else to_ordered(said)
    call_id, name = text_at(turn, "tool_call_id"), text_at(turn, "name")
    if kind == "result" or (kind == "user" and is_results(text)):
        for result in results_in(text):
            builder.result(
                result.text, call_id=call_id, name=result.name or name, time=time, line=line
            )
    elif kind == "call" and (calls := calls_in(text)):
        for call in calls:
            builder.call(call.name, call.arguments, call_id=None, time=time, line=line)
    elif kind in ("assistant", "call"):
        if parts := _parts(said):
            builder.answer(parts, time=time)
        else:
            add_answer(builder, text, line=line)
    elif kind in ("user", "system", "developer"):
        builder.say(kind, _parts(said) or text, time=time)


def _parts(said: JsonValue) -> tuple[Part, ...]:
    """What was said as parts, e.g. with an image; none if it is a text."""
    if not isinstance(said, list) or not all(map(type_of, said)):
        return ()
    return parse_message({"role": "user", "content": said}).content


def add_answer(builder: TranscriptBuilder, text: str, *, line: int | None = None) -> None:
    """Tells `builder` what a model wrote, with its thinking and the calls in it."""
    answer = read_answer(text)
    builder.think(answer.thinking)
    if answer.text.strip():
        builder.answer(answer.text)
    elif not answer.calls and not answer.thinking:
        builder.ignore("blank assistant")
    for call in answer.calls:
        builder.call(call.name, call.arguments, call_id=None, line=line)
