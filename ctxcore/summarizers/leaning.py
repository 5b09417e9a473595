"""Finds what means little alone: an answer without its question, a word of thanks, torn code.

It goes by what a quote has of its own, not by what it is about: how much its words say, whether it
names anything exactly, and what stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.salience.traits import is_question, noted_literals, noted_terms, noted_text
from ctxcore.salience.units import Unit
from ctxcore.summarizers.outputs import is_torn
from ctxcore.summarizers.sources import Source
from ctxcore.text.identifiers import exact_strings, is_bare_number
from ctxcore.text.words import content_of, terms_of, words_of

Place = tuple[int, int]
"""A source, and one of its units."""

LEAST = 1.0  # a word that names something; chosen: what has less is thanks, assent or a sign
LEAST_OF_OUTPUT = 2.0  # chosen: one word of a line of code or of a table is no finding
SHORT = 2.0  # chosen: an answer of fewer words needs its question, a plan its steps
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
REQUEST_SHARE = 0.06  # of the room; chosen: of some fifteen topics each
MANY_TERMS = 5  # say enough, whatever they are
LONG_CHARS = 120  # chosen: a longer unit says more than that


@dataclass(frozen=True, slots=True)
class Unsaid:
    """The units that say nothing, and those that need another one to say something."""

    empty: frozenset[Place]
    leans: Mapping[int, Mapping[int, Place]]
    """For each source, by its units, what they are quoted with."""
    requests: Mapping[int, Place]
    """For each source about work with tools, what the user said that it was for."""


def find_unsaid(
    sources: Sequence[Source], units: Sequence[Sequence[Unit]], *, room_tokens: int
) -> Unsaid:
    """What says nothing, and what leans on what, among the `units` of each source."""
    empty = frozenset(
        (at, place)
        for at, source in enumerate(sources)
        for place, unit in enumerate(units[at])
        if _is_empty(source, unit, len(units[at]))
    )
    if len(empty) == sum(map(len, units)):  # better than no summary
        empty = frozenset()
    leans = {at: found for at in range(len(sources)) if (found := dict(_leans(at, sources, units)))}
    return Unsaid(empty, leans, _requests(sources, units, empty, room_tokens * REQUEST_SHARE))


def find_reports(sources: Sequence[Source]) -> frozenset[int]:
    """The last thing that the assistant says of each topic with tool calls."""
    worked = {source.line.topic for source in sources if source.is_output}
    last = {
        source.line.topic: at
        for at, source in enumerate(sources)
        if source.line.role == "assistant" and source.line.topic in worked and not source.has_calls
    }
    return frozenset(last.values())


def _requests(
    sources: Sequence[Source],
    units: Sequence[Sequence[Unit]],
    empty: Collection[Place],
    most_tokens: float,
) -> dict[int, Place]:
    """For each source about work with tools, what the user said first of its topic."""
    worked = {source.line.topic for source in sources if source.is_output}
    asked = dict[int, Place]()
    found = dict[int, Place]()
    for at, source in enumerate(sources):
        topic = source.line.topic
        if topic not in worked:
            continue
        if source.line.role == "user":
            said = (one for one in units[at] if (at, one.place) not in empty)
            if (first := next(said, None)) and first.tokens <= most_tokens:
                asked.setdefault(topic, (at, first.place))
        elif topic in asked:
            found[at] = asked[topic]
    return found


def _is_empty(source: Source, unit: Unit, count: int) -> bool:
    """Whether a unit, one of `count`, says nothing even beside its neighbours."""
    if unit.chars > LONG_CHARS or source.line.role is None:
        return False
    content = _content(unit)
    if unit.kind == "output":
        is_call = unit.place == 0 and bool(source.line.asked)
        is_one_of_many = count - bool(source.line.asked) > 1
        if is_call or not is_one_of_many:
            return False
        is_little = content < LEAST_OF_OUTPUT and not any(map(str.isdigit, unit.text))
        return is_little or (is_torn(unit.text) and not source.is_quoted)
    if source.has_calls and unit.place == 0:  # it announces what the calls tell
        return (content <= SHORT or unit.text[-1:] in (":", "：")) and not _names_exactly(unit)
    return content < LEAST


def _leans(
    at: int, sources: Sequence[Source], units: Sequence[Sequence[Unit]]
) -> Iterator[tuple[int, Place]]:
    """Each unit of a source that needs another one, and that one."""
    before: int | None = None
    for unit in units[at]:
        if unit.kind == "talk":
            before = unit.place
        elif before is not None:  # code, and the sentence that says what it is
            yield unit.place, (at, before)
    if not at or not units[at] or not units[at - 1]:
        return
    first, asked = units[at][0], units[at - 1][-1]
    is_next = sources[at].line.role != sources[at - 1].line.role
    are_said = first.kind == asked.kind == "talk"
    is_short = first.chars <= LONG_CHARS
    if is_next and are_said and is_short and _asks(asked) and _content(first) <= SHORT:
        yield 0, (at - 1, asked.place)


def _content(unit: Unit) -> float:
    """How much the words of a unit say, about."""
    if unit.note:
        terms: Sequence[str] = noted_terms(unit.note)[0]
    else:
        text = _TAG.sub(" ", unit.text) if "</" in unit.text else unit.text
        terms = terms_of(words_of(text))
    return float(len(terms)) if len(terms) >= MANY_TERMS else content_of(terms)


def _names_exactly(unit: Unit) -> bool:
    literals = noted_literals(unit.note) if unit.note else exact_strings(unit.text)
    return any(not is_bare_number(literal) for literal in literals)


def _asks(unit: Unit) -> bool:
    return bool(noted_text(unit.note).asks) if unit.note else is_question(unit.text)
