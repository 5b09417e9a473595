"""Owns the offline summarizer: it quotes the sentences that say the most per token.

No model, no data files, no randomness: the same request gives the same bytes in every process.
The summary so far is read back sentence by sentence and competes again, so a summary of a summary
neither nests nor grows. It quotes, so of all forms it only knows one: as `dated_points` its lines
are numbered and dated. It cannot write third person or layers; there the lines are as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcore.messages.values import Role
from ctxcore.summarizers.candidates import Candidate, Source, make_candidates
from ctxcore.summarizers.checks import cut_at_sentence
from ctxcore.summarizers.lines import Line, parse_lines, render_lines
from ctxcore.summarizers.protocol import Language, SummaryRequest
from ctxcore.summarizers.room import Room
from ctxcore.summarizers.selection import LABEL_TOKENS, POINT_LABEL_TOKENS, Selection
from ctxcore.summarizers.sources import source_lines
from ctxcore.tokens.counter import TokenCounter

OUTPUT_SHARE = 0.25  # of the budget that tool outputs and code may take while there is talk left
STANDING_SHARE = 0.2  # people forgive a lost detail sooner than a broken rule
STANDING = 1.2  # of what an earlier fold chose: it won against more than what is folded now
ROLE_FACTOR: dict[Role | None, float] = {"user": 1.05, "tool": 0.7}


class ExtractiveSummarizer:
    """Quotes sentences by information density, cues and novelty, in their original order."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    @property
    def name(self) -> str:
        return "extractive"

    def summarize(self, request: SummaryRequest) -> str:
        """The best quotes within the request's limits, about as many as it asks for.

        Empty only where there is nothing to say. A length in characters that is asked for is
        exceeded only where not even one sentence is that short.
        """
        room = Room.of(request, self._counter)
        as_points = request.form == "dated_points"
        sources = _sources(request, as_points)
        candidates, weights = make_candidates(sources)
        draft = _Draft(
            lines=[source.line for source in sources],
            candidates=candidates,
            language=request.language,
            as_points=as_points,
        )
        label_tokens = POINT_LABEL_TOKENS if as_points else LABEL_TOKENS
        output_units = _output_units(candidates, room)
        selection = Selection(candidates, weights, room.size, label_tokens=label_tokens)
        first = int(room.units * STANDING_SHARE)
        selection.fill_standing(first)
        selection.fill(room.units - first, output_tokens=output_units)
        # Sizes of parts do not add up to the size of the whole: what that left free is filled.
        spare = room.units - room.size(draft.quote(selection.chosen))
        if spare > 0:
            selection.fill(spare, output_tokens=int(spare * OUTPUT_SHARE))
        return _fitting(draft, selection.chosen, room) or self._best_piece(draft, weights, request)

    def _best_piece(
        self, draft: _Draft, weights: Mapping[str, float], request: SummaryRequest
    ) -> str:
        """The beginning of the sentences worth most, where none fit whole."""
        if not draft.candidates:
            return ""
        best = max(
            draft.candidates,
            key=lambda one: (one.factor * sum(weights[t] for t in one.terms), -one.source),
        )
        label = draft.label(best.source)
        spoken = self._cut(label + best.text, request)
        return spoken if len(spoken) > len(label) else self._cut(best.text, request)

    def _cut(self, text: str, request: SummaryRequest) -> str:
        return cut_at_sentence(text, request.max_tokens, self._counter, max_chars=request.max_chars)


def _output_units(candidates: Sequence[Candidate], room: Room) -> int:
    """What machine output may take: its share, or all that the talk leaves free."""
    share = int(room.units * OUTPUT_SHARE)
    talk_units = 0
    for candidate in candidates:
        if not candidate.is_output:
            talk_units += room.size(candidate.text)
            if room.units - talk_units <= share:
                return share
    return room.units - talk_units


def _fitting(draft: _Draft, chosen: Sequence[int], room: Room) -> str:
    """The chosen as a text, without those chosen last where that is too long."""
    kept = list(chosen)
    while kept:
        text = draft.quote(kept)
        over = room.size(text) - room.units
        if over <= 0:
            return text
        while kept and over > 0:
            over -= max(1, room.size(draft.candidates[kept.pop()].text))
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What may be quoted in one request, and in whose words it is introduced."""

    lines: Sequence[Line]
    candidates: Sequence[Candidate]
    language: Language
    as_points: bool

    def label(self, source: int) -> str:
        """What a summary of that source's line alone starts with."""
        return self.lines[source].label(self.language, 1 if self.as_points else None)

    def quote(self, chosen: Sequence[int]) -> str:
        """The chosen candidates as lines, in their original order."""
        places: dict[int, list[int]] = {}
        for at in chosen:
            places.setdefault(self.candidates[at].source, []).extend(self.candidates[at].places)
        quoted = [(self.lines[at], sorted(places[at])) for at in sorted(places)]
        return render_lines(quoted, language=self.language, as_points=self.as_points)


def _sources(request: SummaryRequest, as_points: bool) -> list[Source]:
    previous = [
        _source(line, is_output=line.speaker.role == "tool", is_quoted=True)
        for line in parse_lines(request.previous, as_points=as_points)
    ]
    folded = [
        _source(line, is_output=is_output, is_quoted=False)
        for line, is_output in source_lines(request.messages, request.dates if as_points else ())
    ]
    return previous + folded


def _source(line: Line, *, is_output: bool, is_quoted: bool) -> Source:
    factor = ROLE_FACTOR.get(line.speaker.role, 1.0) * (STANDING if is_quoted else 1.0)
    return Source(line=line, factor=factor, is_quoted=is_quoted, is_output=is_output)
