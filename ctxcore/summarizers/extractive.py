"""The offline summarizer: it quotes the sentences with the most salience per token.

It uses no model, no data files and no randomness: the same request gives the same bytes in every
process. The summary so far is read back sentence by sentence and competes again, so a summary of a
summary neither nests nor grows. Of the forms of summaries it knows `dated_points`, with numbered
and dated lines; for all others it gives plain lines, since it cannot write third person or layers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcore.messages.lazy import load_all, texts_of
from ctxcore.salience.ranking import Group, Ranking, Step, Wishes, is_prose
from ctxcore.salience.units import WHOLE_BYTES, Unit
from ctxcore.summarizers.checks import cut_at_sentence
from ctxcore.summarizers.lines import LEFT_OUT, Line, gathered, parse_lines, quotes_of
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.quoting import Quotable, Room, make_quotables
from ctxcore.summarizers.sources import Source, read_sources
from ctxcore.text.languages import Language
from ctxcore.text.sentences import MAX_SENTENCE_CHARS
from ctxcore.tokens.families import TokenCounter

RULES_SHARE = 0.2  # of the room; chosen: people forgive a lost detail sooner than a broken rule
PROSE_SHARE = 0.25  # of the room, filled first; chosen: outputs hold more literals per token
FILLS = 3  # chosen: calls that are told as one take far less than each alone
LEAST_SPARE = 4  # tokens; chosen: fewer hold no sentence
MOST_MISSES = 200  # in a row that do not fit; chosen: the room is as good as full then


@dataclass(frozen=True, slots=True)
class Quoted:
    """A summary made of quotes, and where they come from."""

    text: str = ""
    places: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    """Start and end of each quote in the text, in order, and which of `SummaryRequest.messages` it
    quotes; none where it comes from the summary so far."""

    def until(self, end: int) -> Quoted:
        """Its first `end` characters."""
        places = ((first, min(last, end), quoted) for first, last, quoted in self.places)
        return Quoted(self.text[:end], tuple(place for place in places if place[0] < place[1]))


class ExtractiveSummarizer:
    """Quotes the most salient sentences in their original order."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    @property
    def name(self) -> str:
        return "extractive"

    def summarize(self, request: SummaryRequest) -> str:
        """The text of `quote`."""
        return self.quote(request).text

    def quote(self, request: SummaryRequest) -> Quoted:
        """The best quotes within the limits of the request, about as many as it asks for.

        Empty only where there is nothing to quote. The length in characters that the request asks
        for is exceeded only where not even one sentence is that short.
        """
        room = Room.of(request, self._counter)
        as_points = request.form == "dated_points"
        sources = _sources(request, room, as_points)
        draft = _Draft(
            sources=sources,
            quotables=make_quotables(
                sources,
                room,
                request.language,
                as_points=as_points,
                wishes=Wishes(request.focus, request.instructions),
            ),
            language=request.language,
            as_points=as_points,
        )
        draft.fill_rules(int(room.units * RULES_SHARE))
        draft.fill_shares(room.units)
        # The sizes of parts do not add up to the size of the whole: the rest is filled too.
        most = room.units
        for _ in range(FILLS):
            spare = room.units - room.size(draft.quote().text)
            if spare <= LEAST_SPARE or not draft.chosen:
                break
            most += spare
            draft.fill_shares(most)
        fitting = _fitting(draft, room)
        return fitting if fitting.text else self._best_piece(draft, request)

    def _best_piece(self, draft: _Draft, request: SummaryRequest) -> Quoted:
        """The beginning of the best step, where nothing fits whole."""
        step = draft.best_step()
        if step is None:
            return Quoted()
        whole = draft.alone(step)
        start = whole.places[0][0]
        cut = self._cut(whole.text, request)
        if len(cut) > start:
            return whole.until(len(cut))
        quote = whole.text[start:]
        cut = self._cut(quote, request)
        places = ((0, len(cut), whole.places[0][2]),) if cut else ()
        return Quoted(cut, places)

    def _cut(self, text: str, request: SummaryRequest) -> str:
        return cut_at_sentence(text, request.max_tokens, self._counter, max_chars=request.max_chars)


def _fitting(draft: _Draft, room: Room) -> Quoted:
    """The chosen quotes, without those chosen last where they are too long."""
    while draft.chosen:
        quoted = draft.quote()
        over = room.size(quoted.text) - room.units
        if over <= 0:
            return quoted
        while draft.chosen and over > 0:
            over -= max(1, draft.drop_last())
    return Quoted()


def _fixed(group: Group) -> Iterator[int]:
    """The units that are quoted wherever anything of the group is."""
    return (place for place in range(len(group.units)) if place not in group.loose)


@dataclass(slots=True)
class _Draft:
    """What may be quoted for one request, and what is chosen so far."""

    sources: list[Source]
    """Those of which something is chosen are read."""
    quotables: Sequence[Quotable]
    language: Language
    as_points: bool
    ranking: Ranking = field(init=False)
    chosen: list[tuple[int, int]] = field(default_factory=list)
    """Sources and their units, in the order they were chosen."""
    tokens: int = 0
    """Their tokens, roughly."""

    def __post_init__(self) -> None:
        self.ranking = self._ranking()

    def _ranking(self) -> Ranking:
        groups = [quotable.group for quotable in self.quotables]
        return Ranking(groups, [quotable.saliences for quotable in self.quotables])

    def best_step(self) -> Step | None:
        """What is best to quote where nothing is chosen; None where there is nothing to quote."""
        return next(self._ranking().steps(), None)

    def fill(self, most_tokens: int, counts: Callable[[Unit], bool] | None = None) -> None:
        """Chooses within `most_tokens` in all; with `counts`, only such units have salience."""
        misses = 0
        for step in self.ranking.steps(counts):
            wanted = self._with_leans(step)
            cost = self._cost(wanted)
            request = self._request(step)
            if request and self.tokens + cost + self._cost([request]) <= most_tokens:
                wanted.insert(0, request)
                cost = self._cost(wanted)
            if self.tokens + cost > most_tokens:
                misses += 1
                if misses >= MOST_MISSES:
                    return
                continue
            misses = 0
            self.tokens += cost
            for one in wanted:
                self._take(one)

    def _with_leans(self, step: Step) -> list[Step]:
        """What is to be chosen for a step: what its units lean on first, and none of it twice."""
        quotable = self.quotables[step.group]
        taken = self.ranking.chosen
        leans: dict[int, set[int]] = {}
        for unit in (*_fixed(quotable.group), *step.loose):
            lean = quotable.leans.get(unit)
            while lean is not None and lean[1] not in (taken[lean[0]] or ()):
                leans.setdefault(lean[0], set()).add(lean[1])
                lean = self.quotables[lean[0]].leans.get(lean[1])
        loose = leans.pop(step.group, set()) | set(step.loose)
        steps = [Step(group=at, loose=tuple(sorted(leans[at]))) for at in sorted(leans)]
        left = loose - (taken[step.group] or set())
        if left or taken[step.group] is None:
            steps.append(Step(group=step.group, loose=tuple(sorted(left))))
        return steps

    def _request(self, step: Step) -> Step | None:
        """What the user said that the step was done for, unless anything of that is chosen."""
        request = self.quotables[step.group].request
        if request is None or self.ranking.chosen[request[0]] is not None:
            return None
        return Step(group=request[0], loose=(request[1],))

    def _cost(self, steps: Sequence[Step]) -> int:
        """The tokens that steps add, roughly."""
        cost = 0
        for step in steps:
            group = self.quotables[step.group].group
            cost += sum(group.units[unit].tokens + group.gap_tokens for unit in step.loose)
            if self.ranking.chosen[step.group] is None:
                cost += self.quotables[step.group].own_tokens
        return cost

    def _take(self, step: Step) -> None:
        opens = self.ranking.chosen[step.group] is None
        fixed = _fixed(self.quotables[step.group].group) if opens else ()
        self.ranking.take(step)
        self.chosen += [(step.group, unit) for unit in (*fixed, *step.loose)]

    def fill_rules(self, most_tokens: int) -> None:
        """Chooses among the standing instructions."""
        rules = {unit.key for quotable in self.quotables for unit in quotable.rules}
        if rules:
            self.fill(most_tokens, lambda unit: unit.key in rules)

    def fill_shares(self, most_tokens: int) -> None:
        """Chooses within `most_tokens` in all, prose up to its share first."""
        if not all(map(is_prose, self._units())):
            self.fill(int(most_tokens * PROSE_SHARE), is_prose)
        self.fill(most_tokens)

    def _units(self) -> Iterator[Unit]:
        return (unit for quotable in self.quotables for unit in quotable.group.units)

    def drop_last(self) -> int:
        """Takes back what was chosen last; returns its tokens."""
        source, unit = self.chosen.pop()
        return self.quotables[source].group.units[unit].tokens

    def alone(self, step: Step) -> Quoted:
        """The summary that quotes the best of a step alone."""
        fixed = tuple(_fixed(self.quotables[step.group].group))
        return self._quoted({step.group: (*fixed, *step.loose)[:1]})

    def quote(self) -> Quoted:
        """The chosen quotes as an account, in their original order."""
        chosen: dict[int, list[int]] = {}
        for source, unit in self.chosen:
            chosen.setdefault(source, []).append(unit)
        return self._quoted(chosen)

    def _quoted(self, chosen: Mapping[int, Sequence[int]]) -> Quoted:
        order = sorted(chosen)
        lines = [
            (line, sorted({at for unit in chosen[one] for at in self._places(one, unit, line)}))
            for one, line in zip(order, self._read(order), strict=True)
        ]
        told = gathered(lines, as_points=self.as_points)
        quotes = quotes_of([lines[at] for at in told], self.language, as_points=self.as_points)
        texts, places, end = list[str](), list[tuple[int, int, tuple[int, ...]]](), 0
        for at, (before, quote, behind) in zip(told, quotes, strict=True):
            start = end + len(before)
            texts += (before, quote, behind)
            places.append((start, start + len(quote), self.sources[order[at]].places))
            end = start + len(quote) + len(behind)
        return Quoted("".join(texts), tuple(places))

    def _read(self, sources: Sequence[int]) -> list[Line]:
        """The lines of sources, with their sentences."""
        unread = [at for at in sources if self.sources[at].notes]
        load_all([message for at in unread if (message := self.sources[at].message)])
        for at in unread:
            self.sources[at] = self.sources[at].read()
        return [self.sources[at].line for at in sources]

    def _places(self, source: int, unit: int, line: Line) -> Sequence[int]:
        """The sentences of a line that one unit quotes."""
        places = self.quotables[source].places[unit]
        return range(len(line.spans)) if places is None else places


def _sources(request: SummaryRequest, room: Room, as_points: bool) -> list[Source]:
    """What may be quoted: the lines of the summary so far, then the messages."""
    sources = [
        Source(line=line, is_quoted=True)
        for line in parse_lines(request.previous, as_points=as_points)
    ]
    topic = sources[-1].line.topic + 1 if sources else 0
    noted = request.noted if room.whole_bytes == WHOLE_BYTES else ()
    dates = request.dates if as_points else ()
    sources += read_sources(request.messages, dates, noted, topic=topic)
    return list(Outdated.of(request).left_out(sources)) if request.outdated else sources


_BEGIN_CHARS = (8, 28)  # chosen: of a sentence, to tell it from others, and from one speaker's
_ENDS = re.compile("[.!?;。！？；]")
_WORDLESS = re.compile(  # a sentence of signs alone
    r"(?:^|[.!?;][^\w\s]*\s+|[。！？；][^\w\s。！？；]*\s*(?=[^\w\s。！？；]))\W*(?:$|[.!?;。！？；])"
)
_BEGUN = re.compile(r"(?:^|[.!?;。！？；]\W*)(?=([^.!?;。！？；]+[.!?;。！？；]?))")
"""A sentence up to the first sign that may end it, without signs before its first word."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """Sentences that were taken back and must not be quoted, none over a line."""

    sentences: Sequence[str]
    text: str
    """All of them."""
    begins: frozenset[str]
    """The pieces of the text that are as long as the beginnings of sentences."""
    by_word: Mapping[str, Sequence[str]]
    """The sentences by a word in their middle; by none where they have no middle."""

    @classmethod
    def of(cls, request: SummaryRequest) -> Outdated:
        """Those of a request."""
        sentences = list(dict.fromkeys(request.outdated))
        text, by_word = "\n".join(sentences), dict[str, list[str]]()
        for sentence in sentences:
            middle = max(sentence.split()[1:-1], key=len, default="")
            by_word.setdefault(middle, []).append(sentence)
        pieces = (text[at : at + size] for size in _BEGIN_CHARS for at in range(len(text)))
        return cls(sentences, text, frozenset(pieces), by_word)

    def left_out(self, sources: Sequence[Source]) -> Iterator[Source]:
        """The sources with a mark in place of each of these sentences; none that is all marks."""
        noted = [source.message for source in sources if source.notes and source.message]
        texts = texts_of(noted)
        for source in sources:
            text = next(texts) if source.notes else None
            has_any = text is None or self._has_any(text)
            if text is not None and not has_any and not self._may_be_in(text):
                yield source
                continue
            if source.line.asked and self._has_any(source.line.asked):
                continue
            read = source.read(text)
            current = self._without(read, has_any=has_any)
            if current is read:
                yield source
            elif current.line.spans or current.line.asked:
                yield current

    def _may_be_in(self, line: str) -> bool:
        """Whether a line may have a sentence that is a part of one of these."""
        if len(line) > MAX_SENTENCE_CHARS and any(
            len(part) > MAX_SENTENCE_CHARS for part in _ENDS.split(line)
        ):
            return True
        if _WORDLESS.search(line):
            return True
        return any(
            all(len(begun) < size or begun[:size] in self.begins for size in _BEGIN_CHARS)
            and begun in self.text
            for begun in _BEGUN.findall(line)
        )

    def _has_any(self, text: str) -> bool:
        """Whether any of the sentences is in `text`."""
        near = self.by_word.keys() & text.split()
        if "" in self.by_word:
            near.add("")
        return any(one in text for word in near for one in self.by_word[word])

    def _without(self, source: Source, *, has_any: bool) -> Source:
        """The source without them; `has_any` tells whether it may have one in a sentence of its."""
        kept = tuple(
            LEFT_OUT if span.text in self.text or (has_any and self._has_any(span.text)) else span
            for span in source.line.spans
        )
        if kept == source.line.spans:
            return source
        is_empty = all(span == LEFT_OUT for span in kept)
        return replace(source, line=replace(source.line, spans=() if is_empty else kept))
