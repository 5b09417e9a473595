"""Reads the messages of a summary request into lines that may be quoted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from ctxcore.messages.values import Message, Role, ToolCall
from ctxcore.summarizers.lines import Line
from ctxcore.summarizers.outputs import call_text, code_spans, fenced_pieces, output_spans
from ctxcore.text.sentences import Span, split_sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A line that may be quoted, and its origin."""

    line: Line
    code: frozenset[int] = frozenset()
    """The places of those of its spans that are code."""
    is_quoted: bool = False
    """Whether an earlier summary quoted it; its weak sentences are gone already."""
    has_calls: bool = False
    """Whether tool calls of its message follow it."""
    message: Message | None = None
    """What is quoted, where notes stand for its sentences."""
    notes: str = ""
    tokens: int = 0
    """The size of the message's text; known with notes."""
    places: tuple[int, ...] = ()
    """The messages of the request that it quotes; none for a line of the summary so far."""

    @property
    def is_output(self) -> bool:
        """Whether it tells of a tool call and its output."""
        return self.line.role == "tool"

    def read(self, text: str | None = None) -> Source:
        """The same with its sentences, read from its message, whose `text` may be given."""
        if self.message is None or self.line.spans:
            return self
        spans = tuple(split_sentences(self.message.text if text is None else text))
        return replace(self, line=replace(self.line, spans=spans), notes="")


def read_sources(
    messages: Sequence[Message],
    dates: Sequence[datetime | None] = (),
    noted: Sequence[tuple[str, int]] = (),
    *,
    topic: int = 0,
) -> Iterator[Source]:
    """What may be quoted of each message: what it says, and its tool calls with their outputs.

    A line carries its date where `dates`, one a message, knows it. `noted` has the notes of each
    message, empty where there are none, and the size of its text. Each user message begins a topic;
    what is said before the first belongs to `topic`.
    """
    is_noted = [at < len(noted) and bool(noted[at][0]) for at in range(len(messages))]
    results = _results(messages, is_noted)
    told: set[int] = set()
    for at, message in enumerate(messages):
        time = dates[at] if at < len(dates) else None
        date = time.date().isoformat() if time else None
        topic += message.role == "user"
        if is_noted[at]:
            notes, tokens = noted[at]
            line = _unread_line(message.role, date, topic)
            yield Source(line=line, message=message, notes=notes, tokens=tokens, places=(at,))
        elif message.is_tool_result:
            if at not in told:
                yield from _done(None, message, date, topic, (at,))
        else:
            yield from _said(message, date, topic, at)
            for call in message.calls:
                answer = _next_result(results.get(call.id), at)
                told.update(() if answer is None else (answer,))
                result = None if answer is None else messages[answer]
                places = (at,) if answer is None else (at, answer)
                yield from _done(call, result, date, topic, places)


@lru_cache(maxsize=64)  # neighbours share it
def _unread_line(role: Role, date: str | None, topic: int) -> Line:
    return Line(spans=(), role=role, date=date, topic=topic)


def _results(messages: Sequence[Message], is_noted: Sequence[bool]) -> dict[str, deque[int]]:
    """The places of tool results, by the call that they answer."""
    found: dict[str, deque[int]] = {}
    for at, message in enumerate(messages):
        if not is_noted[at] and message.is_tool_result and message.answers:
            found.setdefault(message.answers, deque()).append(at)
    return found


def _next_result(places: deque[int] | None, after: int) -> int | None:
    """Takes the first of the places behind `after`; ids of calls may be used again."""
    while places and places[0] <= after:
        places.popleft()
    return places.popleft() if places else None


def _said(message: Message, date: str | None, topic: int, at: int) -> Iterator[Source]:
    """What a message says, and the telling lines of its code."""
    spans, code = list[Span](), set[int]()
    for is_code, piece in fenced_pieces(message.text):
        found = code_spans(piece) if is_code else split_sentences(piece)
        code.update(range(len(spans), len(spans) + len(found) * is_code))
        spans += found
    if not spans:
        return
    role: Role = "system" if message.is_system else message.role
    name = None if _names_itself(message) else message.name
    line = Line(spans=tuple(spans), role=role, name=name, date=date, topic=topic)
    yield Source(line=line, code=frozenset(code), has_calls=bool(message.calls), places=(at,))


def _names_itself(message: Message) -> bool:
    """Whether the text of a message begins with the name of who speaks."""
    name = message.name or ""
    return message.text.startswith((name, name.replace("_", " ")))


def _done(
    call: ToolCall | None,
    result: Message | None,
    date: str | None,
    topic: int,
    places: tuple[int, ...],
) -> Iterator[Source]:
    """A tool call with its output, of which either may be missing."""
    asked = call_text(call) if call else ""
    spans = tuple(output_spans(result.text)) if result else ()
    if asked or spans:
        name = call.name if call else result.name if result else None
        line = Line(spans=spans, role="tool", name=name, date=date, asked=asked, topic=topic)
        yield Source(line=line, places=places)
