"""Owns what may be quoted, taken apart into units of worth: a group for each line, in order.

Talk is quoted in stretches of neighbouring sentences, since single ones lose what they refer to;
machine output and code line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import Role
from ctxcore.summarizers.lines import LEFT_OUT, Line, join_spans
from ctxcore.summarizers.room import Room
from ctxcore.summarizers.sources import cue_worth
from ctxcore.text.languages import Language
from ctxcore.worth.ranking import Group, score_groups
from ctxcore.worth.scoring import Worth
from ctxcore.worth.units import WHOLE_TOKENS, Unit

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
