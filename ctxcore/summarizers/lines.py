"""Writes and reads an account made of quotes: what a user said, and what was said and done for it.

    user: Set the pool to 40.
    - ran set_config (key=POOL_SIZE, value=40): ok: True, change_id: CHG-7
    - The pool has 40 connections now.

Each user message starts a topic; what belongs to none of those shown stands behind a blank line. As
points every line is numbered, dated where the date is known, and names its speaker. `parse_lines`
reads back what `render_lines` writes, and what earlier versions wrote, so that the sentences of a
summary can compete again instead of being wrapped into the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ctxcore.messages.values import Role
from ctxcore.text.languages import Language
from ctxcore.text.sentences import GAP, Span, split_sentences

_CHINESE_LABELS: dict[Role, str] = {
    "user": "用户",
    "assistant": "助手",
    "tool": "工具",
    "system": "系统",
}
_ROLES: dict[str, Role] = {
    label: role for role, chinese in _CHINESE_LABELS.items() for label in (role, chinese)
}
_SPOKEN = re.compile(rf"({'|'.join(_ROLES)})(?: ([^\s:：]{{1,64}}))?(?:: |：)")
_NAME = re.compile(r"[^\s:：]{1,64}")
_TOOL_NAME = re.compile(r"[^\s:：()（）]{1,64}")
_NUMBER = re.compile(r"\d{1,5}\. +(?=\S)")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d) (?=.*\w)")
_BULLET = "- "
_RAN: Mapping[Language, str] = {"en": "ran ", "zh": "调用 "}
_DONE = re.compile(
    rf"(?:{'|'.join(_RAN.values())})(?P<name>{_TOOL_NAME.pattern})"
    r"(?: \((?P<asked>.*?)\)|（(?P<zh>.*?)）)?(?:(?:: |：)(?P<told>.*))?$"
)
_BETWEEN_CALLS: Mapping[Language, str] = {"en": "; ", "zh": "；"}
_CALLS = re.compile("; |；")

LEFT_OUT = Span(GAP, " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What may be quoted of one message, of one tool call, or of one line of a summary so far."""

    spans: tuple[Span, ...]
    """Its sentences in order, of a tool call those of its output; `LEFT_OUT` stands where an
    earlier summary left something out."""
    role: Role | None = None
    """`system` for developers too; None for a line of a summary written as prose."""
    name: str | None = None
    """The name of the tool or the speaker."""
    date: str | None = None
    """The date of the message, e.g. `2026-01-15`; None where it is not known or not shown."""
    asked: str = ""
    """The arguments of a tool call; quoted wherever anything of it is."""
    topic: int = 0
    """Lines of one topic follow each other; the first is what a user said, if that is known."""

    def label(self, language: Language, number: int | None = None) -> str:
        """What stands before a quote: `user: `, `- `, `- 调用 `, `1. 2026-01-15 user: `."""
        point = "" if number is None else f"{number}. "
        date = f"{self.date} " if self.date else ""
        start = _BULLET if self.is_bullet and number is None else f"{point}{date}"
        if self.role == "tool":
            return start + _RAN[language]
        if self.role is None or start == _BULLET:
            return start
        name = f" {self.name}" if self.name and _NAME.fullmatch(self.name) else ""
        if language == "zh":
            return f"{start}{_CHINESE_LABELS[self.role]}{name}："
        return f"{start}{self.role}{name}: "

    def call(self, language: Language) -> str:
        """The tool call that the line tells of: `read_file (src/app.py)`; empty for other lines."""
        if self.role != "tool":
            return ""
        is_name = self.name and _TOOL_NAME.fullmatch(self.name)
        default = _CHINESE_LABELS["tool"] if language == "zh" else "tool"
        name = self.name if self.name and is_name else default
        if not self.asked:
            return name
        return f"{name}（{self.asked}）" if language == "zh" else f"{name} ({self.asked})"

    def quote(self, language: Language, places: Sequence[int]) -> str:
        """The call with the spans at these ascending places; the spans alone of other lines."""
        call = self.call(language)
        if not (call and places):
            return call or join_spans(self.spans, places)
        return call + ("：" if language == "zh" else ": ") + join_spans(self.spans, places)

    @property
    def is_bullet(self) -> bool:
        """Whether it stands under what a user said."""
        is_named = self.role == "assistant" and self.name is not None
        return self.role in ("assistant", "tool") and not (self.date or is_named)


def parse_lines(summary: str, *, as_points: bool = False) -> list[Line]:
    """The lines of a summary; a line without a speaker is taken as it stands.

    The number of a point comes off, its date is kept. `as_points` says that the lines are points:
    without it a number is one only before a date or a speaker, since prose has numbered lists.
    """
    lines: list[Line] = []
    topic = 0
    for text in summary.splitlines():
        found = _parse_line(text, as_points)
        topic += not found or found[0].role == "user"
        lines += [replace(line, topic=topic) for line in found]
    return lines


def _parse_line(text: str, as_points: bool) -> list[Line]:
    """The line that `text` is; of calls told as one, one each; none where it says nothing."""
    number = _NUMBER.match(text)
    at = number.end() if number else 0
    date = _DATE.match(text, at)
    at = date.end() if date else at
    day = date[1] if date else None
    if done := _parse_done(text, at, is_dated=as_points or bool(date)):
        return [replace(line, date=day) for line in done]
    spoken = _SPOKEN.match(text, at)
    if number and not (date or spoken or as_points):
        at = 0
    is_bullet = not at and not spoken and text.startswith(_BULLET)
    spans = _parse_spans(text[spoken.end() if spoken else at + is_bullet * len(_BULLET) :])
    if not spans:
        return []
    role: Role | None = _ROLES[spoken[1]] if spoken else "assistant" if is_bullet else None
    return [Line(spans=spans, role=role, name=spoken[2] if spoken else None, date=day)]


def _parse_done(text: str, at: int, *, is_dated: bool) -> Iterable[Line]:
    """The tool calls that `text` tells of from `at` on; none if it tells something else."""
    if not at and text.startswith(_BULLET):
        at, is_dated = len(_BULLET), True
    done = _DONE.match(text, at) if is_dated else None
    if done is None:
        return ()
    spans = _parse_spans(done["told"] or "")
    asked = done["asked"] or done["zh"] or ""
    calls = [asked] if spans else [call for call in _CALLS.split(asked) if call.strip()]
    lines = (Line(spans=spans, role="tool", name=done["name"], asked=call) for call in calls)
    return tuple(line for line in lines if line.spans or line.asked)


def _parse_spans(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    for part in text.split(f" {GAP} "):
        spans += [LEFT_OUT, *split_sentences(part)] if spans else split_sentences(part)
    return tuple(spans)


Chosen = tuple[Line, Sequence[int]]
"""A line and the ascending places of those of its spans that are quoted."""


def gathered(chosen: Sequence[Chosen], *, as_points: bool) -> list[int]:
    """The order in which to quote: calls of one tool without outputs stand together in a topic."""
    first: dict[tuple[str | None, int], int] = {}
    order = [
        (first.setdefault((line.name, line.topic), at) if _is_bare((line, places)) else at, at)
        for at, (line, places) in enumerate(chosen)
    ]
    return [at for _, at in (order if as_points else sorted(order))]


def quotes_of(
    chosen: Sequence[Chosen], language: Language, *, as_points: bool = False
) -> Iterator[tuple[str, str, str]]:
    """For each line, what stands before its quote, the quote, and what stands behind it.

    Calls of one tool without outputs that follow each other are told as one.
    """
    goes_on = False
    for at, (line, places) in enumerate(chosen):
        follower = chosen[at + 1] if at + 1 < len(chosen) and not as_points else None
        before = _BETWEEN_CALLS[language]
        quote = line.asked if goes_on else line.quote(language, places)
        if not goes_on:
            label = line.label(language, at + 1 if as_points else None)
            if label == _BULLET and quote.startswith(_BULLET):  # an item of a list
                label = ""
            before = _break(chosen[at - 1][0] if at else None, line, as_points) + label
        closing = "）" if language == "zh" else ")"
        if follower and _are_one((line, places), follower):
            yield before, quote if goes_on else quote.removesuffix(closing), ""
            goes_on = True
        else:
            yield before, quote, closing if goes_on else ""
            goes_on = False


def _are_one(one: Chosen, other: Chosen) -> bool:
    is_same = (one[0].name, one[0].topic) == (other[0].name, other[0].topic)
    return is_same and _is_bare(one) and _is_bare(other)


def _is_bare(one: Chosen) -> bool:
    """Whether it tells of a call without its output."""
    line, places = one
    return bool(line.asked) and line.is_bullet and not places


def _break(before: Line | None, line: Line, as_points: bool) -> str:
    """What separates a line from the one `before` it: a blank line where a topic begins."""
    if before is None:
        return ""
    if as_points or not (line.is_bullet or (line.role == "user" and before.is_bullet)):
        return "\n"
    return "\n" if line.topic == before.topic else "\n\n"


def join_spans(spans: Sequence[Span], places: Sequence[int]) -> str:
    """The spans at `places`, a ` … ` where something between two of them is left out."""
    text = spans[places[0]].text
    for before, at in pairwise(places):
        glue = spans[at].glue if at == before + 1 else f" {GAP} "
        text += glue + spans[at].text
    return text
