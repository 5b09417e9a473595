"""Owns what is chosen as a whole: the strong sentences of a short stretch of one message.

Single sentences lose what they refer to, whole messages drag their padding along. A candidate is
a stretch of neighbouring sentences without its weak ones; those compete alone, for what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.summarizers.cues import cue_factor, is_standing
from ctxcore.summarizers.lines import LEFT_OUT, Line, join_spans
from ctxcore.summarizers.terms import TermReader, weigh

STRETCH_BYTES = 280  # about two lines of talk: what is kept or left together
KEPT_MASS = 0.8  # of a stretch's worth that its strong sentences must hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A line that may be quoted, and where it comes from."""

    line: Line
    factor: float = 1.0
    """What its speaker and its standing multiply the worth of its sentences by."""
    is_quoted: bool = False
    """Whether an earlier fold chose its sentences; its weak ones are gone already."""
    is_output: bool = False
    """Whether it is machine output, of which only a share of the budget may be quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Sentences of one source that are quoted or left out together."""

    source: int
    places: tuple[int, ...]
    text: str
    terms: tuple[str, ...]
    factor: float
    """What its cues, its speaker and its standing multiply its worth by."""
    is_output: bool = False
    is_standing: bool = False
    """Whether it holds an instruction of the user's that goes on holding."""


def make_candidates(sources: Sequence[Source]) -> tuple[list[Candidate], dict[str, float]]:
    """All candidates in order, and the weight of every term in them."""
    reader = TermReader()
    terms = [[reader.terms_of(span.text) for span in source.line.spans] for source in sources]
    weights = weigh([term for found in spans for term in found] for spans in terms)
    candidates = [
        candidate
        for at, source in enumerate(sources)
        for candidate in _of_source(at, source, terms[at], weights)
    ]
    return candidates, weights


def _of_source(
    at: int, source: Source, terms: Sequence[tuple[str, ...]], weights: Mapping[str, float]
) -> Iterator[Candidate]:
    spans = source.line.spans
    role = source.line.speaker.role
    factors = [cue_factor(span.text, role) for span in spans]
    masses = [sum(map(weights.__getitem__, found)) for found in terms]
    for places in _stretches(source):
        worths = {place: masses[place] * factors[place] for place in places}
        strong = places if source.is_quoted else _strong(worths, source)
        for chosen in [strong, *([place] for place in places if place not in strong)]:
            yield Candidate(
                source=at,
                places=tuple(chosen),
                text=join_spans(spans, chosen),
                terms=tuple(dict.fromkeys(term for place in chosen for term in terms[place])),
                factor=source.factor * _mean_factor(chosen, factors, masses),
                is_output=source.is_output,
                is_standing=any(is_standing(spans[place].text, role) for place in chosen),
            )


def _mean_factor(places: Sequence[int], factors: Sequence[float], masses: Sequence[float]) -> float:
    mass = sum(masses[place] for place in places)
    if not mass:
        return max(factors[place] for place in places)
    return sum(factors[place] * masses[place] for place in places) / mass


def _stretches(source: Source) -> Iterator[list[int]]:
    """Runs of neighbouring places of at most `STRETCH_BYTES`, never across what was left out."""
    spans = source.line.spans
    sizes = [len(span.text.encode("utf-8", "replace")) for span in spans]
    run: list[int] = []
    for place, span in enumerate(spans):
        is_full = sum(sizes[p] for p in run) + sizes[place] > STRETCH_BYTES or source.is_output
        if run and (is_full or span == LEFT_OUT):
            yield run
            run = []
        if span != LEFT_OUT:
            run.append(place)
    if run:
        yield run


def _strong(worths: Mapping[int, float], source: Source) -> list[int]:
    """The fewest places, by worth per character, that hold `KEPT_MASS` of the worth."""
    spans = source.line.spans
    needed = KEPT_MASS * sum(worths.values())
    strong: list[int] = []
    for place in sorted(worths, key=lambda p: (-worths[p] / len(spans[p].text), p)):
        if strong and needed <= 0:
            break
        strong.append(place)
        needed -= worths[place]
    return sorted(strong)
