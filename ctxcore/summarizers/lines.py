"""Owns the form of a summary: one line per message quoted, `speaker: sentence sentence … sentence`.

As points the lines are numbered, and dated where the date is known: `1. 2026-01-15 user: …`.
What `render_lines` writes, `parse_lines` reads back, so that a summary can compete again
sentence by sentence instead of being wrapped into the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxcore.messages.values import Role
from ctxcore.text.languages import Language
from ctxcore.text.sentences import GAP, Span, split_sentences

_LABELS: dict[Language, dict[Role, str]] = {
    "en": {
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
        "system": "system",
        "developer": "system",
    },
    "zh": {
        "user": "用户",
        "assistant": "助手",
        "tool": "工具",
        "system": "系统",
        "developer": "系统",
    },
}
_ROLES: dict[str, Role] = {
    label: role
    for labels in _LABELS.values()
    for role, label in labels.items()
    if role != "developer"
}
_SPOKEN = re.compile(rf"({'|'.join(_ROLES)})(?: ([^\s:：]{{1,64}}))?(?:: |：)")
_NAME = re.compile(r"[^\s:：]{1,64}")
_NUMBER = re.compile(r"\d{1,5}\. +(?=\S)")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d) (?=.*\w)")


LEFT_OUT = Span(GAP, " ")


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said a line; no role where the line came from a summary written as prose."""

    role: Role | None
    name: str | None = None

    def label(self, language: Language) -> str:
        """What the line starts with, e.g. `tool read_file: ` or `工具 read_file：`."""
        if self.role is None:
            return ""
        name = f" {self.name}" if self.name and _NAME.fullmatch(self.name) else ""
        return f"{_LABELS[language][self.role]}{name}{'：' if language == 'zh' else ': '}"


@dataclass(frozen=True, slots=True)
class Line:
    """The sentences of one message, or of one line of the summary so far."""

    speaker: Speaker
    spans: tuple[Span, ...]
    """In order; `LEFT_OUT` stands where an earlier fold left something out."""
    date: str | None = None
    """When it was said, e.g. `2026-01-15`; None where that is not known or not shown."""

    def label(self, language: Language, number: int | None = None) -> str:
        """What it starts with, e.g. `user: `, or as a point `1. 2026-01-15 user: `."""
        point = "" if number is None else f"{number}. "
        date = f"{self.date} " if self.date else ""
        return f"{point}{date}{self.speaker.label(language)}"


def parse_lines(summary: str, *, as_points: bool = False) -> list[Line]:
    """The lines of a summary; a line without a speaker is taken as it stands.

    The number of a point comes off, its date is kept. `as_points` says that the lines are points:
    without it a number is one only before a date or a speaker, since prose has numbered lists.
    """
    return [line for text in summary.splitlines() if (line := _parse_line(text, as_points))]


def _parse_line(text: str, as_points: bool) -> Line | None:
    number = _NUMBER.match(text)
    at = number.end() if number else 0
    date = _DATE.match(text, at)
    at = date.end() if date else at
    spoken = _SPOKEN.match(text, at)
    if number and not (date or spoken or as_points):
        at = 0
    spans = _parse_spans(text[spoken.end() if spoken else at :])
    return Line(_speaker(spoken), spans, date[1] if date else None) if spans else None


def _parse_spans(said: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    for part in said.split(f" {GAP} "):
        if spans:
            spans.append(LEFT_OUT)
        spans.extend(split_sentences(part))
    return tuple(spans)


def _speaker(spoken: re.Match[str] | None) -> Speaker:
    return Speaker(_ROLES[spoken[1]], spoken[2]) if spoken else Speaker(None)


def render_lines(
    chosen: Iterable[tuple[Line, Sequence[int]]], *, language: Language, as_points: bool = False
) -> str:
    """The summary that quotes, of each line, the spans at the given ascending places."""
    return "\n".join(
        line.label(language, number if as_points else None) + join_spans(line.spans, places)
        for number, (line, places) in enumerate(chosen, start=1)
    )


def join_spans(spans: Sequence[Span], places: Sequence[int]) -> str:
    """The spans at `places`, a ` … ` where something between two of them is left out."""
    text = spans[places[0]].text
    for before, at in pairwise(places):
        glue = spans[at].glue if at == before + 1 else f" {GAP} "
        text += glue + spans[at].text
    return text
