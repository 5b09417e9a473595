"""Renders and parses summaries made of quotes: one line per message, `speaker: sentence sentence`.

As points the lines are numbered, and dated where the date is known: `1. 2026-01-15 user: …`.
`parse_lines` reads back what `render_lines` writes, so that the sentences of a summary can compete
again instead of being wrapped into the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
_NUMBER = re.compile(r"\d{1,5}\. +(?=\S)")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d) (?=.*\w)")

LEFT_OUT = Span(GAP, " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The sentences of one message, or of one line of an earlier summary, and their speaker."""

    spans: tuple[Span, ...]
    """In order; `LEFT_OUT` stands where an earlier summary left something out."""
    role: Role | None = None
    """`system` for developers too; None for a line of a summary written as prose."""
    name: str | None = None
    """The name of the tool or the speaker."""
    date: str | None = None
    """The date of the message, e.g. `2026-01-15`; None where it is not known or not shown."""

    def label(self, language: Language, number: int | None = None) -> str:
        """What the line starts with: `user: `, `工具 read_file：`, `1. 2026-01-15 user: `."""
        point = "" if number is None else f"{number}. "
        date = f"{self.date} " if self.date else ""
        if self.role is None:
            return f"{point}{date}"
        name = f" {self.name}" if self.name and _NAME.fullmatch(self.name) else ""
        if language == "zh":
            return f"{point}{date}{_CHINESE_LABELS[self.role]}{name}："
        return f"{point}{date}{self.role}{name}: "


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
    spans: list[Span] = []
    for part in text[spoken.end() if spoken else at :].split(f" {GAP} "):
        spans += [LEFT_OUT, *split_sentences(part)] if spans else split_sentences(part)
    if not spans:
        return None
    return Line(
        spans=tuple(spans),
        role=_ROLES[spoken[1]] if spoken else None,
        name=spoken[2] if spoken else None,
        date=date[1] if date else None,
    )


def render_lines(
    chosen: Iterable[tuple[Line, Sequence[int]]], *, language: Language, as_points: bool = False
) -> str:
    """The summary that quotes, of each line, the spans at the given ascending places."""
    return "\n".join(
        label + text for label, text in labelled_lines(chosen, language, as_points=as_points)
    )


def labelled_lines(
    chosen: Iterable[tuple[Line, Sequence[int]]], language: Language, *, as_points: bool = False
) -> Iterator[tuple[str, str]]:
    """What each line of a summary starts with, and what it quotes."""
    for number, (line, places) in enumerate(chosen, start=1):
        label = line.label(language, number if as_points else None)
        yield label, join_spans(line.spans, places)


def join_spans(spans: Sequence[Span], places: Sequence[int]) -> str:
    """The spans at `places`, a ` … ` where something between two of them is left out."""
    text = spans[places[0]].text
    for before, at in pairwise(places):
        glue = spans[at].glue if at == before + 1 else f" {GAP} "
        text += glue + spans[at].text
    return text
