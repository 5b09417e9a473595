"""Splits the messages of a summary request into units that may be quoted, and scores them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import cast

from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import JsonValue, Message, Role, ToolCall
from ctxcore.salience.ranking import NO_WISHES, Group, Salience, Wishes, score_groups
from ctxcore.salience.traits import noted_text
from ctxcore.salience.units import Unit
from ctxcore.summarizers.lines import Line, join_spans
from ctxcore.summarizers.notes import WHOLE_BYTES, noted_stretches, stretches
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, Span, split_sentences
from ctxcore.tokens.families import TokenCounter

# Chosen: about the characters of a token, so that the tokens of labels and gaps hold in units too.
CHARS_PER_UNIT: Mapping[Language, float] = {"en": 4.0, "zh": 1.5}
# Chosen: bounds on what may be quoted of machine output and code.
TELLING_LINES = 100  # of one tool output; a log has thousands
TELLING_CODE_LINES = 8  # of one code block: what it is, seldom how
OUTPUT_LINE_CHARS = 200
OUTPUT_CHARS_READ = 100_000  # from each end of a tool output
SHORT_OUTPUT_CHARS = 160  # a tool output this short is quoted whole
ARGUMENT_CHARS = 80  # of one argument of a tool call: a path or an id, not a file's content
CUE_SALIENCE = 0.1  # of each sign that a line tells an outcome; chosen: a literal has 1

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_FAILURES = "error|exception|fail|traceback|denied|not found|错误|失败|异常"
_OUTCOMES = "warn|passed|success|total|result|created|deleted|version|成功|结果|共计"
_CUE_WORDS = ((_FAILURES.split("|"), 4), (_OUTCOMES.split("|"), 2))
_CUES = (
    *((re.compile("|".join(words), re.I), value) for words, value in _CUE_WORDS),
    (re.compile(r"https?://|[\w.-]+/[\w.-]+|\b\w+\.\w{1,4}:\d+|\b[0-9a-f]{7,40}\b"), 1),
    (re.compile(r"\d"), 1),
)
_CODE_CUES = (
    (re.compile(r"^\s*(?:def|class|func|function|export|CREATE TABLE|\$ )", re.I), 3),
    *_CUES,
)

MOST_OF_ROOM = 2  # bytes per unit of room; chosen: at half the room single sentences compete
MIDDLE_NUMBER = 10  # of a point; chosen: as long as most numbers
GAP_TOKENS = 2  # the mark of something left out
ROLE_FACTOR: dict[Role | None, float] = {"user": 1.05}
QUOTED_FACTOR = 1.2  # of an earlier quote; chosen: it won against more than is summarized now
LEAST_OUTPUT = 0.001  # a line without a literal comes last, where there is room


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The limits of a summary as one number of `units`.

    Where tokens alone limit it, a unit is a token. Else the size of a text is the larger of its
    shares of both limits.
    """

    counter: TokenCounter
    units: int
    max_tokens: int
    max_chars: int | None

    @classmethod
    def of(cls, request: SummaryRequest, counter: TokenCounter) -> Room:
        """The room of a request: its limits, or the length it asks for where that is shorter."""
        named = [chars for chars in (request.asked_chars, request.max_chars) if chars is not None]
        tokens, chars = max(0, request.max_tokens), max(0, min(named)) if named else None
        if chars is None:
            return cls(counter=counter, units=tokens, max_tokens=tokens, max_chars=None)
        units = min(tokens, int(chars / CHARS_PER_UNIT[request.language]))
        return cls(counter=counter, units=units, max_tokens=tokens, max_chars=chars)

    def size(self, text: str) -> int:
        """The units that `text` takes."""
        return self.size_of(self.counter.count(text), len(text))

    def size_of(self, tokens: int, chars: int) -> int:
        """The units that a text of so many tokens and characters takes."""
        if self.max_chars is None:
            return tokens
        of_tokens = -(-tokens * self.units // max(1, self.max_tokens))
        return max(of_tokens, -(-chars * self.units // max(1, self.max_chars)))

    @property
    def whole_bytes(self) -> int:
        """Up to which size a message is quoted whole, or not at all."""
        return min(WHOLE_BYTES, self.units * MOST_OF_ROOM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A line that may be quoted, and its origin."""

    line: Line
    is_quoted: bool = False
    """Whether an earlier summary quoted it; its weak sentences are gone already."""
    is_output: bool = False
    """Whether it is machine output or code."""
    message: Message | None = None
    """What is quoted, where notes stand for its sentences."""
    notes: str = ""
    tokens: int = 0
    """The size of the message's text; known with notes."""
    places: tuple[int, ...] = ()
    """The messages of the request that it quotes; none for a line of the summary so far."""

    def read(self, text: str | None = None) -> Source:
        """The same with its sentences, read from its message, whose `text` may be given."""
        if self.message is None or self.line.spans:
            return self
        spans = tuple(split_sentences(self.message.text if text is None else text))
        return replace(self, line=replace(self.line, spans=spans), notes="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """The units of one source; `places` are the sentences of its line that each unit quotes."""

    group: Group
    places: tuple[Sequence[int], ...]
    """Of a unit of noted text that is all of its message, none: they are not counted."""
    noted_rules: tuple[int, ...] | None = None
    """The units in which a user lays down a standing instruction; None: their texts tell."""
    saliences: tuple[Salience, ...] = ()

    @property
    def rules(self) -> Iterator[Unit]:
        """The units in which a user lays down a standing instruction."""
        units = self.group.units
        if self.noted_rules is not None:
            return map(units.__getitem__, self.noted_rules)
        return filter(_is_rule, units)


def read_sources(
    messages: Sequence[Message],
    dates: Sequence[datetime | None] = (),
    noted: Sequence[tuple[str, int]] = (),
) -> Iterator[Source]:
    """What may be quoted of each message: its prose, and its machine output or code.

    A line carries its date where `dates`, one a message, knows it. `noted` has the notes of each
    message, empty where there are none, and the size of its text.
    """
    tool_names: dict[str, str] = {}
    for at, message in enumerate(messages):
        time = dates[at] if at < len(dates) else None
        date = time.date().isoformat() if time else None
        if at < len(noted) and noted[at][0]:
            notes, tokens = noted[at]
            line = _unread_line(message.role, date)
            yield Source(line=line, message=message, notes=notes, tokens=tokens, places=(at,))
            continue
        tool_names.update((call.id, call.name) for call in message.calls)
        name = message.name
        if message.is_tool_result:
            name = name or tool_names.get(message.answers or "")
        elif name and message.text.startswith(name):
            name = None
        role: Role = "system" if message.is_system else message.role
        for is_output, spans in enumerate(_quotable_spans(message)):
            if spans:
                line = Line(spans=tuple(spans), role=role, name=name, date=date)
                yield Source(line=line, is_output=bool(is_output), places=(at,))


@lru_cache(maxsize=64)  # neighbours share it
def _unread_line(role: Role, date: str | None) -> Line:
    return Line(spans=(), role=role, date=date)


def _quotable_spans(message: Message) -> tuple[list[Span], list[Span]]:
    """The sentences of the prose in `message`, and the telling lines of output, code and calls."""
    if message.is_tool_result:
        return [], _output_spans(message.text)
    prose: list[Span] = []
    code: list[Span] = []
    for at, piece in enumerate(_FENCE.split(message.text)):
        if at % 2 == 0:
            prose += split_sentences(piece)
        else:
            code += _pick_lines(piece.splitlines(), _CODE_CUES, TELLING_CODE_LINES)
    return prose, code + [span for call in message.calls if (span := _call_span(call))]


def _output_spans(output: str) -> list[Span]:
    """The few lines of a tool output that tell its outcome and name something."""
    if len(output) <= SHORT_OUTPUT_CHARS and "\n" not in output.strip():
        return split_sentences(output)
    records = _json_records(output)
    if records is None:
        if len(output) > 2 * OUTPUT_CHARS_READ:
            output = output[:OUTPUT_CHARS_READ] + "\n" + output[-OUTPUT_CHARS_READ:]
        records = output.splitlines()
    return _pick_lines(records, _CUES, TELLING_LINES)


def _pick_lines(
    lines: Sequence[str], cues: Sequence[tuple[re.Pattern[str], int]], most: int
) -> list[Span]:
    """The `most` different lines with the best cues, in order."""
    shown = dict.fromkeys(" ".join(line[:OUTPUT_LINE_CHARS].split()) for line in lines)
    texts = [text for text in shown if text]
    if len(texts) > most:
        scores = [sum(value for cue, value in cues if cue.search(text)) for text in texts]
        best = sorted(range(len(texts)), key=lambda at: (-scores[at], at))[:most]
        texts = [texts[at] for at in sorted(best)]
    return [Span(text, "; ") for text in texts]


def _json_records(output: str) -> list[str] | None:
    """`key: value, …` of each object and list of plain values; None if it is not JSON."""
    if output.lstrip()[:1] not in ("{", "["):
        return None
    try:
        waiting = [cast("JsonValue", json.loads(output))]
    except (ValueError, RecursionError):
        return None
    records: list[str] = []
    while waiting:
        value = waiting.pop()
        items: list[tuple[str, JsonValue]] = []
        if isinstance(value, dict):
            items = [(f"{key}: ", item) for key, item in value.items()]
        elif isinstance(value, list):
            items = [("", item) for item in value]
        else:
            records.append(str(value))
            continue
        plain = [f"{key}{item}" for key, item in items if not isinstance(item, (dict, list))]
        records.append(", ".join(plain))
        waiting += [item for _, item in reversed(items) if isinstance(item, (dict, list))]
    return records


def _call_span(call: ToolCall) -> Span | None:
    """`name key=value …` of a tool call, long values left out."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(arguments, dict):
        return None
    pairs = [
        f"{k}={value}" for k, value in arguments.items() if 0 < len(str(value)) <= ARGUMENT_CHARS
    ]
    words = " ".join(" ".join([call.name, *pairs]).split())[:MAX_SENTENCE_CHARS]
    return Span(words, "; ") if pairs else None


def make_quotables(
    sources: Sequence[Source],
    room: Room,
    language: Language,
    *,
    as_points: bool,
    wishes: Wishes = NO_WISHES,
) -> list[Quotable]:
    """The units of each source, with their salience, higher for what people have `wishes` for."""
    label_sizes: dict[str, int] = {}
    quotables = []
    for at, source in enumerate(sources):
        label = source.line.label(language, MIDDLE_NUMBER if as_points else None)
        if label not in label_sizes:
            label_sizes[label] = room.size(f"{label}\n")
        quotable = _noted_quotable if source.notes else _quotable
        quotables.append(quotable(at, source, room, label_tokens=label_sizes[label]))
    scores = score_groups([quotable.group for quotable in quotables], wishes=wishes)
    return [
        Quotable(
            group=quotable.group,
            places=quotable.places,
            noted_rules=quotable.noted_rules,
            saliences=tuple(_adjusted(source, quotable.group.units, saliences)),
        )
        for source, quotable, saliences in zip(sources, quotables, scores, strict=True)
    ]


def _is_rule(unit: Unit) -> bool:
    """Whether a user lays down a standing instruction in it."""
    return unit.kind == "talk" and lays_down_rule(unit.text, unit.role)


def _quotable(at: int, source: Source, room: Room, *, label_tokens: int) -> Quotable:
    line = source.line
    runs = stretches(line.spans, room.whole_bytes, is_output=source.is_output)
    places = tuple(map(tuple, runs))
    texts = [join_spans(line.spans, run) for run in places]
    units = tuple(
        Unit(
            seq=at,
            place=place,
            text=text,
            role=line.role or "user",
            kind="output" if source.is_output else "talk",
            tokens=room.size(text),
        )
        for place, text in enumerate(texts)
    )
    return Quotable(group=_group(units, label_tokens), places=places)


def _noted_quotable(at: int, source: Source, room: Room, *, label_tokens: int) -> Quotable:
    """The quotable of a source whose notes stand for its sentences."""
    units, places, start = list[Unit](), list[Sequence[int]](), 0
    rules: tuple[int, ...] = ()
    for place, note in enumerate(noted_stretches(source.notes)):
        noted = noted_text(note)
        tokens = room.size_of(noted.size or source.tokens, noted.chars)
        role = source.line.role or "user"
        units.append(Unit(seq=at, place=place, text="", role=role, tokens=tokens, note=note))
        if noted.lays_down and role != "assistant":
            rules = (*rules, place)
        places.append(range(start, start + noted.sentences))
        start += noted.sentences
    group = _group(units, label_tokens)
    return Quotable(group=group, places=tuple(places), noted_rules=rules)


def _group(units: Sequence[Unit], label_tokens: int) -> Group:
    return Group(
        units=tuple(units),
        loose=_all_places(len(units)),
        tokens=max(1, label_tokens - GAP_TOKENS),  # the first of a line follows no gap
        gap_tokens=GAP_TOKENS,
    )


@lru_cache(maxsize=64)  # most lines have one to three units
def _all_places(count: int) -> frozenset[int]:
    return frozenset(range(count))


def _adjusted(
    source: Source, units: Sequence[Unit], saliences: Sequence[Salience]
) -> Iterator[Salience]:
    """The saliences, raised for what was quoted before and for lines that tell an outcome."""
    factor = ROLE_FACTOR.get(source.line.role, 1.0) * (QUOTED_FACTOR if source.is_quoted else 1)
    if factor == 1.0 and not source.is_output:
        yield from saliences
        return
    for unit, salience in zip(units, saliences, strict=True):
        cues = LEAST_OUTPUT + _cue_salience(unit.text) if source.is_output else 0.0
        talk = cues + salience.talk  # of an output, what people want kept
        literals = tuple((literal, value * factor) for literal, value in salience.literals)
        yield Salience(talk=talk * factor, literals=literals)


def _cue_salience(line: str) -> float:
    """What the words of a line of machine output add for telling an outcome."""
    lower = line.lower()
    return CUE_SALIENCE * sum(
        value for words, value in _CUE_WORDS if any(map(lower.__contains__, words))
    )
