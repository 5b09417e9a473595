"""Owns the offline summarizer: it quotes the sentences that say the most per token.

No model, no data files, no randomness: the same request gives the same bytes in every process.
The summary so far is read back sentence by sentence and competes again, so a summary of a summary
neither nests nor grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcore.messages.values import Role
from ctxcore.summarizers.candidates import Candidate, Source, make_candidates
from ctxcore.summarizers.checks import cut_at_sentence
from ctxcore.summarizers.lines import Line, parse_lines, render_lines
from ctxcore.summarizers.protocol import Language, SummaryRequest
from ctxcore.summarizers.selection import Selection
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
        """The best quotes within `max_tokens`; empty only where there is nothing to say."""
        sources = _sources(request)
        candidates, weights = make_candidates(sources)
        draft = _Draft(
            lines=[source.line for source in sources],
            candidates=candidates,
            language=request.language,
        )
        output_tokens = self._output_tokens(candidates, request.max_tokens)
        selection = Selection(candidates, weights, self._counter.count)
        first = int(request.max_tokens * STANDING_SHARE)
        selection.fill_standing(first)
        selection.fill(request.max_tokens - first, output_tokens=output_tokens)
        # Counts of parts do not add up to the count of the whole: what that left free is filled.
        spare = request.max_tokens - self._counter.count(draft.quote(selection.chosen))
        if spare > 0:
            selection.fill(spare, output_tokens=int(spare * OUTPUT_SHARE))
        return self._fitting(draft, selection.chosen, request.max_tokens) or self._best_piece(
            draft, weights, request.max_tokens
        )

    def _output_tokens(self, candidates: Sequence[Candidate], max_tokens: int) -> int:
        """What machine output may take: its share, or all that the talk leaves free."""
        share = int(max_tokens * OUTPUT_SHARE)
        talk_tokens = 0
        for candidate in candidates:
            if not candidate.is_output:
                talk_tokens += self._counter.count(candidate.text)
                if max_tokens - talk_tokens <= share:
                    return share
        return max_tokens - talk_tokens

    def _fitting(self, draft: _Draft, chosen: Sequence[int], max_tokens: int) -> str:
        """The chosen as a text, without those chosen last where that is too long."""
        kept = list(chosen)
        while kept:
            text = draft.quote(kept)
            over = self._counter.count(text) - max_tokens
            if over <= 0:
                return text
            while kept and over > 0:
                over -= max(1, self._counter.count(draft.candidates[kept.pop()].text))
        return ""

    def _best_piece(self, draft: _Draft, weights: Mapping[str, float], max_tokens: int) -> str:
        """The beginning of the sentences worth most, where none fit whole."""
        if not draft.candidates:
            return ""
        best = max(
            draft.candidates,
            key=lambda one: (one.factor * sum(weights[t] for t in one.terms), -one.source),
        )
        label = draft.lines[best.source].speaker.label(draft.language)
        spoken = cut_at_sentence(label + best.text, max_tokens, self._counter)
        if len(spoken) > len(label):
            return spoken
        return cut_at_sentence(best.text, max_tokens, self._counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What may be quoted in one request, and in whose words it is introduced."""

    lines: Sequence[Line]
    candidates: Sequence[Candidate]
    language: Language

    def quote(self, chosen: Sequence[int]) -> str:
        """The chosen candidates as lines, in their original order."""
        places: dict[int, list[int]] = {}
        for at in chosen:
            places.setdefault(self.candidates[at].source, []).extend(self.candidates[at].places)
        quoted = [(self.lines[at], sorted(places[at])) for at in sorted(places)]
        return render_lines(quoted, language=self.language)


def _sources(request: SummaryRequest) -> list[Source]:
    previous = [
        _source(line, is_output=line.speaker.role == "tool", is_quoted=True)
        for line in parse_lines(request.previous)
    ]
    folded = [
        _source(line, is_output=is_output, is_quoted=False)
        for line, is_output in source_lines(request.messages)
    ]
    return previous + folded


def _source(line: Line, *, is_output: bool, is_quoted: bool) -> Source:
    factor = ROLE_FACTOR.get(line.speaker.role, 1.0) * (STANDING if is_quoted else 1.0)
    return Source(line=line, factor=factor, is_quoted=is_quoted, is_output=is_output)
