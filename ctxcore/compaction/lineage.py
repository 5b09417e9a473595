"""Finds the messages that each sentence of a summary comes from.

A sentence is matched by its telling words, names, numbers and dates, in all their forms, with the
messages that were summarized and with the sentences of the summary before, whose messages it takes
over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from ctxcore.assembly.records import Lineage, seqs_in, to_runs
from ctxcore.compaction.loss_report import message_text
from ctxcore.messages.values import Message, text_message
from ctxcore.recalling.requests import terms_in
from ctxcore.recalling.word_places import WordPlaces
from ctxcore.summarizers.extractive import Quoted
from ctxcore.summarizers.prompts import SECTIONS, Section
from ctxcore.summarizers.support import joined
from ctxcore.text.sentences import sentence_places
from ctxcore.text.words import PRIOR_UNITS

MOST_SOURCES: Final = 6  # texts that a sentence is traced to; chosen: more say nothing
MOST_SEQS: Final = 24  # messages of a sentence; chosen: a record does not grow with generations
LEAST_GAIN: Final = 0.15  # of a sentence's weight that each text adds; chosen
LEAST_SAME: Final = 0.8  # of a sentence's weight in a text that says the same; chosen
MOST_SAME: Final = 20  # of such texts that are looked at; chosen: more only repeat it
NEAR: Final = 2  # messages on each side that a statement goes on in; chosen
_MOST_PLACES: Final = 300  # of a word that are looked at, the newest

_MARK = re.compile(r"[\s>*•#_`-]*(?:\(?\d{1,3}[.)、]\s*)?")
_REPORTED = re.compile(r"\b(?:the )?(?:user|assistant)(?:['’]s)?\b|用户|助手", re.IGNORECASE)
"""Whom a summary speaks of, whatever the words of the conversation are."""
_SECTION_OF: Mapping[str, Section] = {
    heading.lower(): section
    for headings in SECTIONS.values()
    for section, heading in headings.items()
}
_HEADING = re.compile(
    rf"\**(?P<name>{'|'.join(map(re.escape, _SECTION_OF))})\**\s*[:：]\**\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a summary may come from, with the messages it stands for."""

    text: str
    seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """What a sentence has in common with its sources."""

    sources: tuple[int, ...] = ()
    """The texts that say it, the best first."""
    share: float = 1.0
    """How much of its telling words some stretch of the source has; 1 where it has none."""
    near: frozenset[int] = frozenset()
    """The texts that share a telling word with it."""
    whole: tuple[int, ...] = ()
    """The texts that each say nearly all of it, the newest first."""
    words: int = 0
    """How many words it was searched by."""
    is_known: bool = False
    """Whether it stands word for word in the summary before."""


class SummarySources:
    """The texts that a summary was made from: messages first, in order, then `others`."""

    def __init__(self, messages: Sequence[Message], seqs: Sequence[int], others: Iterable[Text]):
        self.messages = messages
        self._as_joined: dict[int, str] = {}
        self._matches: dict[str, Match] = {}
        self.others = [other for other in others if other.text.strip()]
        self._seqs = [*((seq,) for seq in seqs), *(other.seqs for other in self.others)]

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        seqs: Sequence[int],
        *,
        previous: str = "",
        lineage: Lineage = (),
        others: Iterable[Text] = (),
    ) -> SummarySources:
        """The sources of a summary of `messages`, whose sequence numbers are `seqs`.

        `previous` is the summary before, each sentence with its messages; `others` is what else it
        may say, the original request for one.
        """
        return cls(messages, seqs, [*previous_sentences(previous, lineage), *others])

    @cached_property
    def texts(self) -> list[Message]:
        """All of them as messages."""
        return [*self.messages, *(text_message("assistant", one.text) for one in self.others)]

    @cached_property
    def _words(self) -> WordPlaces:
        return WordPlaces(self.texts)

    @cached_property
    def _known(self) -> Mapping[str, int]:
        """The `others` by what they say."""
        first = len(self.messages)
        return {joined(bare(one.text)): first + at for at, one in enumerate(self.others)}

    def _joined(self, at: int) -> str:
        """What a text says, as sentences are compared."""
        if at not in self._as_joined:
            self._as_joined[at] = joined(message_text(self.texts[at]))
        return self._as_joined[at]

    def seqs(self, match: Match) -> tuple[int, ...]:
        """The messages behind a match, ascending; those of the best texts where they are many."""
        found = dict.fromkeys(seq for at in match.sources for seq in self._seqs[at])
        return tuple(sorted(islice(found, MOST_SEQS)))

    def match(self, sentence: str) -> Match:
        """Where `sentence`, without its mark and heading, comes from."""
        if sentence not in self._matches:
            self._matches[sentence] = self._match(sentence)
        return self._matches[sentence]

    def _match(self, sentence: str) -> Match:
        known = self._known.get(joined(sentence))
        if known is not None:
            return Match(sources=(known,), near=frozenset((known,)), is_known=True)
        terms = list(terms_in(_REPORTED.sub(" ", sentence)))
        if not terms:
            return Match()
        found = self._words.having(
            [term.forms for term in terms], before=len(self.texts) + 1, most=_MOST_PLACES
        )
        total = len(self.texts) + PRIOR_UNITS
        weights = [
            term.weight * term.proof * math.log(total / max(1, len(places)))
            for term, places in zip(terms, found, strict=True)
        ]
        having: dict[int, set[int]] = {}
        for term, places in enumerate(found):
            for place in places:
                having.setdefault(place - 1, set()).add(term)
        telling = {at for at, term in enumerate(terms) if term.proof == 1.0}
        whole = _saying_whole(having, weights)
        said = joined(sentence)
        verbatim = next((at for at in whole if said in self._joined(at)), None)
        sources = self._covering(having, weights) if verbatim is None else (verbatim,)
        return Match(
            sources=tuple(sources),
            whole=tuple(whole),
            share=max((self._share(at, having, weights) for at in having), default=0.0),
            near=frozenset(at for at, said in having.items() if said & telling),
            words=len(terms),
        )

    def _share(self, at: int, having: Mapping[int, set[int]], weights: Sequence[float]) -> float:
        """How much of a sentence's weight a text has with those around it."""
        stretch = self.around(at)
        said = set[int]().union(*(having.get(near, ()) for near in stretch))
        return sum(weights[term] for term in said) / sum(weights)

    def around(self, at: int) -> range:
        """A text with its neighbours; those that are no messages stand alone."""
        if at >= len(self.messages):
            return range(at, at + 1)
        return range(max(0, at - NEAR), min(len(self.messages), at + NEAR + 1))

    def _covering(self, having: Mapping[int, set[int]], weights: Sequence[float]) -> Iterator[int]:
        """The texts that together have most of a sentence, the best first.

        Of equal ones it is a message before a text that only stands for some, and the newest.
        """
        left, least = set[int]().union(*having.values()), LEAST_GAIN * sum(weights)
        for _ in range(MOST_SOURCES):
            gain, *_, at = max(
                (
                    sum(weights[term] for term in said & left),
                    at < len(self.messages),
                    bool(self._seqs[at]),
                    at,
                )
                for at, said in [*having.items(), (-1, set[int]())]
            )
            if gain <= 0 or gain < least:
                return
            yield at
            left -= having[at]


def _saying_whole(having: Mapping[int, set[int]], weights: Sequence[float]) -> list[int]:
    """The texts that have nearly all of a sentence, the newest first."""
    least = LEAST_SAME * sum(weights)
    found = [at for at, said in having.items() if sum(weights[term] for term in said) >= least]
    return sorted(found, reverse=True)[:MOST_SAME]


def bare(sentence: str) -> str:
    """`sentence` without the mark of a list and the heading of a section before it."""
    start = _mark_end(sentence)
    heading = _HEADING.match(sentence, start)
    return sentence[heading.end() if heading else start :].strip("*_ ")


def _mark_end(sentence: str) -> int:
    """Where a sentence starts behind the mark of a list."""
    found = _MARK.match(sentence)
    return found.end() if found else 0


def is_heading(sentence: str) -> bool:
    """Whether a sentence is a heading alone."""
    return not bare(sentence) or (
        sentence.rstrip("*_ ").endswith((":", "：")) and len(sentence) < 40
    )


def sections_in(summary: str) -> Iterator[tuple[Section | None, str]]:
    """The sentences of a summary with the section that each stands in, bare, without headings."""
    section: Section | None = None
    for start, end in sentence_places(summary):
        sentence = summary[start:end]
        heading = _HEADING.match(sentence, _mark_end(sentence))
        if heading is not None:
            section = _SECTION_OF[heading["name"].lower()]
        if not is_heading(sentence):
            yield section, bare(sentence)


def previous_sentences(summary: str, lineage: Lineage) -> Iterator[Text]:
    """The sentences of a summary, each with its messages where the lineage has them."""
    for start, end in sentence_places(summary):
        sentence = summary[start:end]
        if not is_heading(sentence):
            yield Text(sentence, tuple(_seqs_at(lineage, start, end)))


def _seqs_at(lineage: Lineage, start: int, end: int) -> Iterator[int]:
    """The messages that the characters from `start` to `end` come from."""
    for first, last, runs in lineage:
        if first < end and start < last:
            yield from seqs_in(runs)


def lineage_of(summary: str, sources: SummarySources) -> Lineage:
    """The messages of each sentence of `summary`; headings are left out."""
    return tuple(
        (start, end, to_runs(sources.seqs(sources.match(bare(summary[start:end])))))
        for start, end in sentence_places(summary)
        if not is_heading(summary[start:end])
    )


def lineage_of_quotes(
    quoted: Quoted, summary: str, seqs: Sequence[int], previous: str, lineage: Lineage
) -> Lineage:
    """The messages of each quote in `summary`, which is the beginning of what was `quoted`.

    A quote of the summary before keeps its messages: those of the lines it stood in.
    """
    cut = len(quoted.text) - len(quoted.text.lstrip())
    found = []
    for start, end, places in quoted.places:
        first, last = max(0, start - cut), min(end - cut, len(summary))
        if first < last:
            whole = quoted.text[start:end]
            of = [seqs[at] for at in places] or _seqs_of_quote(whole, previous, lineage)
            found.append((first, last, to_runs(of)))
    return tuple(found)


def _seqs_of_quote(quote: str, previous: str, lineage: Lineage) -> list[int]:
    """The messages of a quote of the summary before, of which something may be left out."""
    start = previous.find(quote)
    if start >= 0:
        return [*_seqs_at(lineage, start, start + len(quote))]
    pieces = [piece.strip(" ;") for piece in quote.split("…")]
    places = ((previous.find(piece), len(piece)) for piece in pieces if piece)
    return [seq for at, size in places if at >= 0 for seq in _seqs_at(lineage, at, at + size)]
