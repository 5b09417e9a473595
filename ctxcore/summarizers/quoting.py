"""Splits what may be quoted into units, and scores them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby

from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import Role
from ctxcore.salience.ranking import NO_WISHES, Group, Salience, Wishes, score_groups
from ctxcore.salience.traits import noted_text
from ctxcore.salience.units import WHOLE_BYTES, Unit, UnitKind
from ctxcore.summarizers.leaning import Place, find_reports, find_unsaid
from ctxcore.summarizers.lines import join_spans
from ctxcore.summarizers.notes import noted_stretches, stretches
from ctxcore.summarizers.outputs import cue_salience
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.sources import Source
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

# Chosen: about the characters of a token, so that the tokens of labels and gaps hold in units too.
CHARS_PER_UNIT: Mapping[Language, float] = {"en": 4.0, "zh": 1.5}
MOST_OF_ROOM = 2  # bytes per unit of room; chosen: at half the room single sentences compete
MIDDLE_NUMBER = 10  # of a point; chosen: as long as most numbers
GAP_TOKENS = 2  # the mark of something left out
ROLE_FACTOR: dict[Role | None, float] = {"user": 1.05}
QUOTED_FACTOR = 1.2  # of an earlier quote; chosen: it won against more than is summarized now
REPORT_FACTOR = 2.0  # of what the assistant says last of a topic; chosen: it tells how it ended
ALWAYS_TOKENS = 12  # of the only line of an output, which its call is told with
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


NO_LEANS: Mapping[int, Place] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotable:
    """The units of one source; `places` are the sentences of its line that each unit quotes."""

    group: Group
    places: tuple[Sequence[int] | None, ...]
    """Of a unit of noted text that is all of its message None: they are not counted."""
    noted_rules: tuple[int, ...] | None = None
    """The units in which a user lays down a standing instruction; None: their texts tell."""
    saliences: tuple[Salience, ...] = ()
    own_tokens: int = 0
    """What its label takes; the group's also has what its first unit leans on."""
    leans: Mapping[int, Place] = field(default_factory=dict)
    """For a unit that means little alone, the unit that it is quoted with."""
    request: Place | None = None
    """What the user said that it was done for."""

    @property
    def rules(self) -> Iterator[Unit]:
        """The units in which a user lays down a standing instruction."""
        units = self.group.units
        if self.noted_rules is not None:
            return map(units.__getitem__, self.noted_rules)
        return filter(_is_rule, units)


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
        label += source.line.call(language)
        if label not in label_sizes:
            label_sizes[label] = room.size(f"{label}\n")
        make = _noted_quotable if source.notes else _quotable
        quotables.append(make(at, source, room, label_tokens=label_sizes[label]))
    scores = score_groups([quotable.group for quotable in quotables], wishes=wishes)
    reports = find_reports(sources)
    said = find_unsaid(
        sources, [quotable.group.units for quotable in quotables], room_tokens=room.units
    )
    found = []
    for at, (source, quotable, saliences) in enumerate(
        zip(sources, quotables, scores, strict=True)
    ):
        raised = _adjusted(source, quotable.group.units, saliences, is_report=at in reports)
        leans = said.leans.get(at, NO_LEANS)
        found.append(
            replace(
                quotable,
                group=_leaning(quotable.group, quotables, leans),
                saliences=tuple(
                    [
                        _NONE if (at, place) in said.empty else salience
                        for place, salience in enumerate(raised)
                    ]
                ),
                own_tokens=quotable.group.tokens,
                leans=leans,
                request=said.requests.get(at),
            )
        )
    return found


_NONE = Salience(talk=0.0)


def _leaning(group: Group, quotables: Sequence[Quotable], leans: Mapping[int, Place]) -> Group:
    """The group with what its first unit leans on in its cost."""
    lean = leans.get(0)
    if lean is None:
        return group
    other = quotables[lean[0]].group
    return replace(group, tokens=group.tokens + other.tokens + other.units[lean[1]].tokens)


def _is_rule(unit: Unit) -> bool:
    """Whether a user lays down a standing instruction in it."""
    return unit.kind == "talk" and lays_down_rule(unit.text, unit.role)


def _quotable(at: int, source: Source, room: Room, *, label_tokens: int) -> Quotable:
    line = source.line
    places = tuple(_runs(source, room))
    kinds: list[UnitKind] = [
        "output" if source.is_output or run[0] in source.code else "talk" for run in places
    ]
    texts = [join_spans(line.spans, run) for run in places]
    sizes = [room.size(text) for text in texts]
    if line.asked:
        places, kinds = ((), *places), ["output", *kinds]
        texts, sizes = [f"{line.name or ''} {line.asked}", *texts], [0, *sizes]
    units = tuple(
        Unit(
            seq=2 * at
            + bool(
                line.asked and place
            ),  # many literals in an output make those of its call no less
            place=place,
            text=text,
            role=line.role or "user",
            kind=kind,
            tokens=size,
        )
        for place, (text, kind, size) in enumerate(zip(texts, kinds, sizes, strict=True))
    )
    fixed = int(bool(line.asked))
    if len(units) == fixed + 1 and source.is_output and sizes[-1] <= ALWAYS_TOKENS:
        label_tokens, fixed = label_tokens + sizes[-1], len(units)
    return Quotable(group=_group(units, label_tokens, fixed=fixed), places=places)


def _runs(source: Source, room: Room) -> Iterator[tuple[int, ...]]:
    """The places of spans that are quoted together, code and outputs line by line."""
    spans = source.line.spans
    for is_code, found in groupby(range(len(spans)), key=source.code.__contains__):
        run = list(found)
        is_output = is_code or source.is_output
        part = spans[run[0] : run[-1] + 1]
        for places in stretches(part, room.whole_bytes, is_output=is_output):
            yield tuple(run[0] + place for place in places)


def _noted_quotable(at: int, source: Source, room: Room, *, label_tokens: int) -> Quotable:
    """The quotable of a source whose notes stand for its sentences."""
    units, places, start = list[Unit](), list[Sequence[int] | None](), 0
    rules: tuple[int, ...] = ()
    for place, note in enumerate(noted_stretches(source.notes)):
        noted = noted_text(note)
        tokens = room.size_of(noted.size or source.tokens, noted.chars)
        role = source.line.role or "user"
        units.append(Unit(seq=2 * at, place=place, text="", role=role, tokens=tokens, note=note))
        if noted.lays_down and role != "assistant":
            rules = (*rules, place)
        places.append(range(start, start + noted.sentences) if noted.sentences else None)
        start += noted.sentences
    group = _group(units, label_tokens)
    return Quotable(group=group, places=tuple(places), noted_rules=rules)


def _group(units: Sequence[Unit], label_tokens: int, *, fixed: int = 0) -> Group:
    """The units of a source; the first `fixed` ones are in its label."""
    return Group(
        units=tuple(units),
        loose=_all_places(fixed, len(units)),
        tokens=max(1, label_tokens - GAP_TOKENS),  # the first of a line follows no gap
        gap_tokens=GAP_TOKENS,
    )


@lru_cache(maxsize=64)  # most lines have one to three units
def _all_places(start: int, end: int) -> frozenset[int]:
    return frozenset(range(start, end))


def _adjusted(
    source: Source, units: Sequence[Unit], saliences: Sequence[Salience], *, is_report: bool = False
) -> Iterator[Salience]:
    """The saliences, raised for what was quoted before and for lines that tell an outcome."""
    factor = ROLE_FACTOR.get(source.line.role, 1.0) * (QUOTED_FACTOR if source.is_quoted else 1)
    factor *= REPORT_FACTOR if is_report else 1
    for unit, salience in zip(units, saliences, strict=True):
        is_output = unit.kind == "output"
        if factor == 1.0 and not is_output:
            yield salience
            continue
        cues = LEAST_OUTPUT + cue_salience(unit.text) if is_output else 0.0
        talk = cues + salience.talk  # of an output, what people want kept
        literals = tuple((literal, value * factor) for literal, value in salience.literals)
        yield Salience(talk=talk * factor, literals=literals)
