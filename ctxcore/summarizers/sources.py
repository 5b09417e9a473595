"""Owns what of each message may be quoted: talk whole, of tool outputs and code the telling lines.

Thinking is never quoted (`Message.text` leaves it out); media stand as their labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from ctxcore.messages.values import JsonValue, Message, ToolCall
from ctxcore.summarizers.lines import Line, Speaker
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, Span, split_sentences

TELLING_LINES = 100  # of one tool output that may be quoted; a log has thousands
TELLING_CODE_LINES = 8  # of one code block: what it is, seldom how
OUTPUT_LINE_CHARS = 200
CUE_WORTH = 0.1  # of each sign that a line tells how it went, beside 1 for a literal
OUTPUT_CHARS_READ = 100_000  # from each end of a tool output
ARGUMENT_CHARS = 80  # of one argument of a tool call: a path or an id, not a file's content
SHORT_OUTPUT_CHARS = 160  # a tool output this short is telling as a whole

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_FAILS = "error|exception|fail|traceback|denied|not found|错误|失败|异常"
_GOES = "warn|passed|success|total|result|created|deleted|version|成功|结果|共计"
_TELLING = ((_FAILS.split("|"), 4), (_GOES.split("|"), 2))
_CUES = (
    *((re.compile("|".join(words), re.I), value) for words, value in _TELLING),
    (re.compile(r"https?://|[\w.-]+/[\w.-]+|\b\w+\.\w{1,4}:\d+|\b[0-9a-f]{7,40}\b"), 1),
    (re.compile(r"\d"), 1),
)
_CODE_CUES = (
    (re.compile(r"^\s*(?:def|class|func|function|export|CREATE TABLE|\$ )", re.I), 3),
    *_CUES,
)


def source_lines(
    messages: Iterable[Message], dates: Sequence[datetime | None] = ()
) -> list[tuple[Line, bool]]:
    """A line per message that has something to quote, and whether it is machine output.

    A line carries its date where `dates`, one a message, knows it.
    """
    names: dict[str, str] = {}
    lines: list[tuple[Line, bool]] = []
    for at, message in enumerate(messages):
        names.update((call.id, call.name) for call in message.calls)
        said_at = dates[at] if at < len(dates) else None
        date = said_at.date().isoformat() if said_at else None
        for line, is_output in _message_lines(message, names):
            lines.append((replace(line, date=date) if date else line, is_output))
    return lines


def _message_lines(message: Message, names: dict[str, str]) -> Iterator[tuple[Line, bool]]:
    if message.is_tool_result:
        name = message.name or names.get(message.answers or "")
        yield from _line(Speaker("tool", name), telling_spans(message.text), is_output=True)
        return
    text = message.text
    name = message.name if message.name and not text.startswith(message.name) else None
    speaker = Speaker("system" if message.is_system else message.role, name)
    talk, code = talk_spans(text)
    yield from _line(speaker, talk, is_output=False)
    calls = [span for call in message.calls if (span := _call_span(call))]
    yield from _line(speaker, [*code, *calls], is_output=True)


def _line(
    speaker: Speaker, spans: Sequence[Span], *, is_output: bool
) -> Iterator[tuple[Line, bool]]:
    if spans:
        yield Line(speaker, tuple(spans)), is_output


def talk_spans(text: str) -> tuple[list[Span], list[Span]]:
    """The sentences of the prose in `text`, and the telling lines of its code blocks."""
    talk: list[Span] = []
    code: list[Span] = []
    for at, piece in enumerate(_FENCE.split(text)):
        if at % 2 == 0:
            talk.extend(split_sentences(piece))
        else:
            code.extend(_pick_lines(piece.splitlines(), _CODE_CUES, TELLING_CODE_LINES))
    return talk, code


def telling_spans(output: str) -> list[Span]:
    """The few lines of a tool output that say how it went and name something."""
    if len(output) <= SHORT_OUTPUT_CHARS and "\n" not in output.strip():
        return split_sentences(output)
    records = _json_records(output)
    if records is None:
        if len(output) > 2 * OUTPUT_CHARS_READ:
            output = output[:OUTPUT_CHARS_READ] + "\n" + output[-OUTPUT_CHARS_READ:]
        records = output.splitlines()
    return _pick_lines(records, _CUES, TELLING_LINES)


def cue_worth(line: str) -> float:
    """What a line of machine output is worth for telling how it went, beside its literals."""
    lower = line.lower()
    return CUE_WORTH * sum(
        value for words, value in _TELLING if any(map(lower.__contains__, words))
    )


def _pick_lines(
    lines: Sequence[str], cues: Sequence[tuple[re.Pattern[str], int]], most: int
) -> list[Span]:
    shown = {" ".join(line[:OUTPUT_LINE_CHARS].split()): None for line in lines}
    shown.pop("", None)
    texts = list(shown)
    if len(texts) > most:
        worth = [sum(value for cue, value in cues if cue.search(text)) for text in texts]
        best = sorted(range(len(texts)), key=lambda at: (-worth[at], at))[:most]
        texts = [texts[at] for at in sorted(best)]
    return [Span(text, "; ") for text in texts]


def _json_records(output: str) -> list[str] | None:
    """`key: value, …` of every object and list of plain values; None if it is not JSON."""
    if output.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = cast("JsonValue", json.loads(output))
    except (ValueError, RecursionError):
        return None
    return list(_records(value))


def _records(value: JsonValue) -> Iterator[str]:
    waiting: list[JsonValue] = [value]
    while waiting:
        match waiting.pop():
            case dict() as mapping:
                plain = [f"{key}: {item}" for key, item in mapping.items() if _is_plain(item)]
                yield ", ".join(plain)
                waiting.extend(reversed([i for i in mapping.values() if not _is_plain(i)]))
            case list() as items:
                yield ", ".join(str(item) for item in items if _is_plain(item))
                waiting.extend(reversed([item for item in items if not _is_plain(item)]))
            case item:
                yield str(item)


def _is_plain(value: JsonValue) -> bool:
    return not isinstance(value, (dict, list))


def _call_span(call: ToolCall) -> Span | None:
    """`name key=value …` of a tool call, long values left out."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return None
    pairs = [f"{key}={value}" for key, value in arguments.items() if _fits(str(value))]
    words = " ".join(" ".join([call.name, *pairs]).split())[:MAX_SENTENCE_CHARS]
    return Span(words, "; ") if pairs else None


def _fits(value: str) -> bool:
    return 0 < len(value) <= ARGUMENT_CHARS
