"""Owns the offline summarizer: it quotes what is worth most per token.

No model, no data files, no randomness: the same request gives the same bytes in every process.
The summary so far is read back sentence by sentence and competes again, so a summary of a summary
neither nests nor grows. It quotes, so of all forms it only knows one: as `dated_points` its lines
are numbered and dated. It cannot write third person or layers; there the lines are as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ctxcore.salience.ranking import Ranking, is_talk
from ctxcore.salience.units import Unit
from ctxcore.summarizers.checks import cut_at_sentence
from ctxcore.summarizers.lines import LEFT_OUT, Line, parse_lines, render_lines
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.quoting import Quotable, Room, Source, is_rule, source_lines, take_apart
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

STANDING_SHARE = 0.2  # people forgive a lost detail sooner than a broken rule
TALK_SHARE = 0.25  # what is said goes first: outputs and code hold far more literals per token
LEAST_SPARE = 4  # tokens; fewer hold no sentence
MOST_MISSES = 200  # so many that do not fit in a row, and the room is as good as full


class ExtractiveSummarizer:
    """Quotes what tells most, in its original order."""

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
        draft = _Draft(
            lines=[source.line for source in sources],
            quotables=take_apart(sources, room, request.language, as_points=as_points),
            language=request.language,
            as_points=as_points,
        )
        draft.fill_rules(int(room.units * STANDING_SHARE))
        draft.fill_shares(room.units)
        # Sizes of parts do not add up to the size of the whole: what that left free is filled.
        if (spare := room.units - room.size(draft.quote())) > LEAST_SPARE:
            draft.fill_shares(room.units + spare)
        return _fitting(draft, room) or self._best_piece(draft, request)

    def _best_piece(self, draft: _Draft, request: SummaryRequest) -> str:
        """The beginning of what is worth most, where nothing fits whole."""
        step = next(draft.ranking.steps(), None)
        if step is None:
            return ""
        label = draft.label(step.group)
        unit = draft.quotables[step.group].group.units[step.loose[0]]
        spoken = self._cut(label + unit.text, request)
        return spoken if len(spoken) > len(label) else self._cut(unit.text, request)

    def _cut(self, text: str, request: SummaryRequest) -> str:
        return cut_at_sentence(text, request.max_tokens, self._counter, max_chars=request.max_chars)


def _fitting(draft: _Draft, room: Room) -> str:
    """The chosen as a text, without those chosen last where that is too long."""
    while draft.chosen:
        text = draft.quote()
        over = room.size(text) - room.units
        if over <= 0:
            return text
        while draft.chosen and over > 0:
            over -= max(1, draft.drop_last())
    return ""


@dataclass(slots=True)
class _Draft:
    """What may be quoted in one request, what is so far, and in whose words it is introduced."""

    lines: Sequence[Line]
    quotables: Sequence[Quotable]
    language: Language
    as_points: bool
    ranking: Ranking = field(init=False)
    chosen: list[tuple[int, int]] = field(default_factory=list)
    """Sources and their units, in the order they were chosen."""
    tokens: int = 0
    """What they take, more or less."""

    def __post_init__(self) -> None:
        groups = [one.group for one in self.quotables]
        self.ranking = Ranking(groups, [one.worths for one in self.quotables])

    def fill(self, most_tokens: int, counts: Callable[[Unit], bool] | None = None) -> None:
        """Chooses until all takes so much; with `counts`, only for the worth of such units."""
        misses = 0
        for step in self.ranking.steps(counts):
            group = self.quotables[step.group].group
            opens = self.ranking.chosen[step.group] is None
            cost = sum(group.units[unit].tokens + group.gap_tokens for unit in step.loose)
            cost += group.tokens if opens else 0
            if self.tokens + cost > most_tokens:
                misses += 1
                if misses >= MOST_MISSES:
                    return
                continue
            misses = 0
            self.ranking.take(step)
            self.tokens += cost
            self.chosen += [(step.group, unit) for unit in step.loose]

    def fill_rules(self, most_tokens: int) -> None:
        """Chooses of the sentences by which a user lays down what holds from then on."""
        units = (unit for one in self.quotables for unit in one.group.units)
        rules = {unit.text for unit in units if is_rule(unit)}
        if rules:
            self.fill(most_tokens, lambda unit: unit.text in rules)

    def fill_shares(self, most_tokens: int) -> None:
        """Chooses until all takes so much, talk up to its share first."""
        if any(unit.kind != "talk" for one in self.quotables for unit in one.group.units):
            self.fill(int(most_tokens * TALK_SHARE), is_talk)
        self.fill(most_tokens)

    def drop_last(self) -> int:
        """Takes back what was chosen last; what that takes."""
        source, unit = self.chosen.pop()
        return self.quotables[source].group.units[unit].tokens

    def label(self, source: int) -> str:
        """What a summary of that source's line alone starts with."""
        return self.lines[source].label(self.language, 1 if self.as_points else None)

    def quote(self) -> str:
        """The chosen as lines, in their original order."""
        places: dict[int, list[int]] = {}
        for source, unit in self.chosen:
            places.setdefault(source, []).extend(self.quotables[source].places[unit])
        quoted = [(self.lines[at], sorted(places[at])) for at in sorted(places)]
        return render_lines(quoted, language=self.language, as_points=self.as_points)


def _sources(request: SummaryRequest, as_points: bool) -> list[Source]:
    previous = [
        Source(line=line, is_output=line.speaker.role == "tool", is_quoted=True)
        for line in parse_lines(request.previous, as_points=as_points)
    ]
    folded = [
        Source(line=line, is_output=is_output)
        for line, is_output in source_lines(request.messages, request.dates if as_points else ())
    ]
    if not request.outdated:
        return previous + folded
    outdated = list(dict.fromkeys(request.outdated))
    all_outdated = "\n".join(outdated)  # no sentence goes over a line
    held = (
        _without(source, outdated) if _says_any(source, outdated, all_outdated) else source
        for source in previous + folded
    )
    return [source for source in held if source.line.spans]


def _says_any(source: Source, outdated: Sequence[str], all_outdated: str) -> bool:
    """Whether `source` may say one of `outdated`: one look at all its sentences."""
    said = "\n".join([span.text for span in source.line.spans])
    return any(map(said.__contains__, outdated)) or any(
        span.text in all_outdated for span in source.line.spans
    )


def _without(source: Source, outdated: Sequence[str]) -> Source:
    """`source` with a mark instead of each sentence that was taken back."""
    spans = [
        LEFT_OUT
        if any(sentence in span.text or span.text in sentence for sentence in outdated)
        else span
        for span in source.line.spans
    ]
    if spans == list(source.line.spans):
        return source
    said = tuple(spans) if any(span != LEFT_OUT for span in spans) else ()
    return replace(source, line=replace(source.line, spans=said))
