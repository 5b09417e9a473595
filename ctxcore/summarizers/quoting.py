"""Owns the room of a summary where characters limit it beside tokens: both as one number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import JsonValue, Message, Role, ToolCall
from ctxcore.salience.ranking import Group, Worth, score_groups
from ctxcore.salience.units import WHOLE_TOKENS, Unit
from ctxcore.summarizers.lines import LEFT_OUT, Line, Speaker, join_spans
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, Span, split_sentences
from ctxcore.tokens.families import TokenCounter

# A unit is to be about a token, so that what a label or a gap costs holds in units too.
CHARS_PER_UNIT: Mapping[Language, float] = {"en": 4.0, "zh": 1.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much a text takes of a summary's room; it fits where that is at most `units`.

    Where tokens alone limit it, a unit is a token. Else a text takes the larger of its shares of
    both limits.
    """

    counter: TokenCounter
    units: int
    max_tokens: int
    max_chars: int | None

    @classmethod
    def of(cls, request: SummaryRequest, counter: TokenCounter) -> Room:
        """The room that the request asks to fill: within its limits, and no longer than asked."""
        named = [chars for chars in (request.asked_chars, request.max_chars) if chars is not None]
        tokens, chars = max(0, request.max_tokens), max(0, min(named)) if named else None
        if chars is None:
            return cls(counter=counter, units=tokens, max_tokens=tokens, max_chars=None)
        units = min(tokens, int(chars / CHARS_PER_UNIT[request.language]))
        return cls(counter=counter, units=units, max_tokens=tokens, max_chars=chars)

    def size(self, text: str) -> int:
        """What `text` takes of `units`."""
        tokens = self.counter.count(text)
        if self.max_chars is None:
            return tokens
        of_tokens = -(-tokens * self.units // max(1, self.max_tokens))
        return max(of_tokens, -(-len(text) * self.units // max(1, self.max_chars)))


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


STRETCH_BYTES = 280  # about two lines of talk: what is kept or left together
WHOLE_BYTES = WHOLE_TOKENS * 4  # a message up to this is quoted whole, or not at all
MOST_OF_ROOM = 2  # bytes per token of room, so half of it: in little room single sentences compete
MIDDLE_NUMBER = 10  # of a point, as long as most
GAP_TOKENS = 2  # the mark of something left out
ROLE_FACTOR: dict[Role | None, float] = {"user": 1.05}
STANDING = 1.2  # of what an earlier fold chose: it won against more than what is folded now
LEAST_OUTPUT = 0.001  # a line without a literal comes last, where there is room


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A line that may be quoted, and where it comes from."""

    line: Line
    is_quoted: bool = False
    """Whether an earlier fold chose its sentences; its weak ones are gone already."""
    is_output: bool = False
    """Whether it is machine output or code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """One source taken apart; `places` are the sentences of its line that each unit quotes."""

    group: Group
    places: tuple[tuple[int, ...], ...]
    worths: tuple[Worth, ...] = ()


def take_apart(
    sources: Sequence[Source], room: Room, language: Language, *, as_points: bool
) -> list[Quotable]:
    """Each source with its units and what they are worth."""
    sizes: dict[str, int] = {}
    made = []
    for at, source in enumerate(sources):
        label = source.line.label(language, MIDDLE_NUMBER if as_points else None)
        if label not in sizes:
            sizes[label] = room.size(f"{label}\n")
        made.append(_quotable(at, source, room, label_tokens=sizes[label]))
    scored = score_groups([one.group for one in made])
    return [
        replace(one, worths=tuple(_standing(source, one.group.units, worths)))
        for source, one, worths in zip(sources, made, scored, strict=True)
    ]


def is_rule(unit: Unit) -> bool:
    """Whether a user lays down in it what holds from then on."""
    return unit.kind == "talk" and lays_down_rule(unit.text, unit.role)


def _quotable(at: int, source: Source, room: Room, *, label_tokens: int) -> Quotable:
    line = source.line
    whole_bytes = min(WHOLE_BYTES, room.units * MOST_OF_ROOM)
    places = tuple(tuple(run) for run in _stretches(source, whole_bytes))
    texts = [join_spans(line.spans, run) for run in places]
    units = tuple(
        Unit(
            seq=at,
            place=place,
            text=text,
            role=line.speaker.role or "user",
            kind="output" if source.is_output else "talk",
            tokens=room.size(text),
        )
        for place, text in enumerate(texts)
    )
    group = Group(
        units=units,
        loose=frozenset(range(len(units))),
        tokens=max(1, label_tokens - GAP_TOKENS),  # the first of a line follows no gap
        gap_tokens=GAP_TOKENS,
    )
    return Quotable(group=group, places=places)


def _standing(source: Source, units: Sequence[Unit], worths: Sequence[Worth]) -> Iterator[Worth]:
    """The worths, more for what was chosen before and for lines that tell how it went."""
    factor = ROLE_FACTOR.get(source.line.speaker.role, 1.0) * (STANDING if source.is_quoted else 1)
    for unit, worth in zip(units, worths, strict=True):
        told = LEAST_OUTPUT + cue_worth(unit.text) if source.is_output else worth.talk
        literals = tuple((literal, value * factor) for literal, value in worth.literals)
        yield Worth(talk=told * factor, literals=literals)


def _stretches(source: Source, whole_bytes: int) -> Iterator[list[int]]:
    """Runs of neighbouring places that are quoted together, never across what was left out."""
    spans = source.line.spans
    sizes = [len(span.text.encode("utf-8", "replace")) for span in spans]
    most = whole_bytes if sum(sizes) <= whole_bytes else min(STRETCH_BYTES, whole_bytes)
    run: list[int] = []
    for place, span in enumerate(spans):
        is_full = sum(sizes[p] for p in run) + sizes[place] > most or source.is_output
        if run and (is_full or span == LEFT_OUT):
            yield run
            run = []
        if span != LEFT_OUT:
            run.append(place)
    if run:
        yield run
