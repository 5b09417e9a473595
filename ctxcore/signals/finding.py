"""Finds forgetting signals in a message, by the words of what the context did not show.

The work for one message is bounded: one search, one read of the best matches, whatever the length
of the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Final

from ctxcore.assembly.history import Counted, HistoryView, repeats
from ctxcore.facts.reading import Sentence, sentences, statement_key
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import Message
from ctxcore.recalling.requests import MOST_TERMS, Term, asks
from ctxcore.recalling.searching import MOST_PLACES
from ctxcore.signals.phrases import (
    addresses,
    asked_for,
    forbids,
    is_listing,
    is_of_user,
    is_order,
    may_answer,
    names_something,
    points,
    says_so,
    without_asking,
)
from ctxcore.signals.rereading import find_rereads
from ctxcore.signals.seen import Seen
from ctxcore.signals.telling import Telling, index_words, telling_terms, told
from ctxcore.signals.values import FoundSignal, SignalKind

_MOST_CHARS: Final = 1_200  # of a user's message; chosen: people who repeat themselves are brief
_EARLIER_CHARS: Final = 4_000  # of the earlier one; chosen: what is longer is a document
_STRUCTURE: Final = tuple("[{<(|$>#")  # what programs write in a user's place
_MOST_SENTENCES: Final = 12  # of a message that are compared; chosen: a longer one is a document
_LAST_CHARS: Final = 400  # of an answer; chosen: what a user reacts to stands at its end
_MOST_SAID: Final = 2  # times that a user has said the same; chosen: more are a template
_MOST_READ: Final = 24  # of the best matches; chosen: bounds the work
# Rarities, as of `recalling.ranking`: a word that few messages have weighs about 5, a common one
# half of it, a pair of Chinese characters 2. Chosen: people say again in passing what has no number
# or name in it, as thanks and wishes; where somebody is asked for it, one word is enough.
_TOLD_RARITY: Final = 20.0
_EXACT_RARITY: Final = 10.0  # of a sentence with a number, a name or an identifier
_RULE_RARITY: Final = 5.0
_ASKED_RARITY: Final = 5.0
_NAMED_RARITY: Final = 2.0
_SAME_SHARE: Final = 0.8  # of the rarity of a sentence that one which says the same holds
_ASKED_SHARE: Final = 0.6  # of that of a question, which its answer holds


def find_in_request(view: HistoryView, seq: int, message: Message, seen: Seen) -> list[FoundSignal]:
    """The signals in a user's message; `seen` is the context that its user saw the answer of."""
    text = message.text
    if len(text) > _MOST_CHARS:
        return []
    left = says_so(text)
    if left is None and not seen.hides:
        return []
    edits = view.rule_edits()
    said = [_Said(one, seq, edits) for one in islice(sentences(text), _MOST_SENTENCES)]
    meant = _meant(view, seq, left)
    terms = chain(meant, chain.from_iterable(one.terms for one in said))
    matches = _Matches.of(view, seq, terms, seen)
    found = [_said_so(matches, meant, seq)] if left is not None else []
    if seen.hides and not found:
        found += filter(None, [_repeated(matches, said, seq), _asked(matches, said, seq)])
    return found


def find_in_reply(view: HistoryView, seq: int, message: Message, seen: Seen) -> list[FoundSignal]:
    """The signals in a model's answer; `seen` is the context that it was given."""
    if not seen.hides:
        return []
    return (
        find_rereads(view, seq, message, seen) if message.calls else _asks(view, seq, message, seen)
    )


def _asks(view: HistoryView, seq: int, message: Message, seen: Seen) -> list[FoundSignal]:
    """The signal of an answer that asks for what the user has told."""
    asked = [
        (words, telling_terms(without_asking(words)))
        for words in asked_for(message.text)
        if not points(words)
    ]
    if not any(terms for _, terms in asked):
        return []
    matches = _Matches.of(view, seq, chain.from_iterable(terms for _, terms in asked), seen)
    for words, terms in asked:
        answers = [*_answers(matches, words, matches.telling(terms))]
        if signal := matches.signal("asked_again", seq, answers):
            return [signal]
    return []


class _Said:
    """A sentence of a message that may say again what was said."""

    def __init__(self, sentence: Sentence, seq: int, edits: RuleEdits) -> None:
        self.sentence = sentence
        self._seq = seq
        self._edits = edits
        self.words = sentence.words
        self.terms = telling_terms(sentence.words)

    @cached_property
    def asks(self) -> bool:
        """Whether it asks something."""
        return asks(self.sentence.text)

    @cached_property
    def tells(self) -> bool:
        """Whether it tells something, or lays down a rule; orders for now are given again."""
        is_no_prose = self.words.startswith(_STRUCTURE) or is_listing(self.words)
        if self.asks or is_no_prose or points(self.words, at_start=True):
            return False
        return not is_order(self.words) or self.is_rule

    @cached_property
    def is_rule(self) -> bool:
        """Whether it is a standing instruction, or as people say."""
        key = statement_key(self.sentence.text) if self._edits else ""
        if self._edits.is_added(key):
            return True
        found = lays_down_rule(self.sentence.text, "user")
        return found and not self._edits.is_dismissed(self._seq, key)

    @property
    def least_rarity(self) -> float:
        """How rare its words must be, together, that saying them again is no accident."""
        if self.is_rule:
            return _RULE_RARITY
        return _EXACT_RARITY if names_something(self.sentence.text) else _TOLD_RARITY


@dataclass(frozen=True, slots=True)
class _Matches:
    """Messages that share words with one, and how rare the words are."""

    rows: Mapping[int, Counted]
    counts: Mapping[str, int]
    messages: int
    seen: Seen

    @classmethod
    def of(cls, view: HistoryView, before: int, terms: Iterable[Term], seen: Seen) -> _Matches:
        """The best matches below `before` for `terms`."""
        known = {term.forms[0]: term for term in terms}
        sought = [*islice(known.values(), 2 * MOST_TERMS)]
        forms = [term.forms for term in sought]
        places = view.having(forms, before=before, most=MOST_PLACES) if sought else []
        counts = {term.forms[0]: len(seqs) for term, seqs in zip(sought, places, strict=True)}
        messages = view.count()
        scores = Counter[int]()
        for rarity, seqs in zip(told(sought, counts, messages).rarities, places, strict=True):
            for seq in seqs:
                scores[seq] += rarity  # type: ignore[assignment]
        excluded = view.anchors().silent
        best = sorted(scores.keys() - excluded, key=lambda seq: (-scores[seq], -seq))[:_MOST_READ]
        rows = {row.seq: row for row in view.get(best) if not repeats(row)}
        return cls(rows, counts, messages, seen)

    def telling(self, terms: Sequence[Term]) -> Telling:
        """What a sentence with these terms tells."""
        return told(terms, self.counts, self.messages)

    def of_user(self) -> Iterator[Counted]:
        """The matches that a user said, the best first."""
        return (row for row in self.rows.values() if row.message.role == "user")

    def signal(
        self, kind: SignalKind, seq: int, earlier: Sequence[int], *, tells_shown: bool = False
    ) -> FoundSignal | None:
        """The signal of a message that says again what `earlier` ones said, the best first.

        None where the context showed one of them, unless `tells_shown`, and where there is none.
        """
        shown = [one for one in earlier if self.seen.shows(one)]
        if not earlier or (shown and not tells_shown):
            return None
        place = (shown or earlier)[0]
        return FoundSignal(
            seq=seq,
            kind=kind,
            earlier=tuple(sorted(earlier)),
            verdict=self.seen.verdict(place),
            is_covered=self.seen.is_covered(place),
        )


def _meant(view: HistoryView, seq: int, left: str | None) -> tuple[Term, ...]:
    """The terms of what a user says was said before; those of the answer where it names nothing."""
    if left is None:
        return ()
    own = telling_terms(left)
    if len(own) > 1 or seq == 1:
        return own
    [answer] = view.get([seq - 1])
    asked = " ".join(map(without_asking, asked_for(answer.message.text)))
    return (*own, *telling_terms(asked or answer.message.text[-_LAST_CHARS:]))


def _said_so(matches: _Matches, meant: Sequence[Term], seq: int) -> FoundSignal:
    telling = matches.telling(meant)
    shares = {row.seq: telling.shared(_words(row)) for row in matches.of_user()}
    best = max(shares.values(), default=0.0)
    sure = [one for one, shared in shares.items() if shared >= max(_NAMED_RARITY, best / 2)]
    earlier = sorted(sure, key=lambda one: -shares[one])[:3]
    signal = matches.signal("said_so", seq, earlier, tells_shown=True)
    if signal is not None:
        return signal
    verdict = None if matches.seen.hides else matches.seen.verdict(seq)
    return FoundSignal(seq=seq, kind="said_so", verdict=verdict)


def _repeated(matches: _Matches, said: Sequence[_Said], seq: int) -> FoundSignal | None:
    for one in said:
        telling = matches.telling(one.terms)
        if not one.tells or telling.rarity < one.least_rarity or not telling.names(1):
            continue
        earlier = [row.seq for row in matches.of_user() if _says_the_same(one, telling, row)]
        if len(earlier) <= _MOST_SAID and (signal := matches.signal("repeated", seq, earlier)):
            return signal
    return None


def _says_the_same(one: _Said, telling: Telling, row: Counted) -> bool:
    """Whether one or two sentences of an earlier message say what `one` does."""
    if len(row.message.text) > _EARLIER_CHARS:
        return False
    said = [*islice(sentences(row.message.text), 4 * _MOST_SENTENCES)]
    pieces = [*(one.words for one in said), *(f"{a.words} {b.words}" for a, b in pairwise(said))]
    return any(
        telling.share(words := index_words(piece)) >= _SAME_SHARE
        and not telling.lacks_literal(words)
        and forbids(piece) == forbids(one.words)
        for piece in pieces
    )


def _asked(matches: _Matches, said: Sequence[_Said], seq: int) -> FoundSignal | None:
    for one in said:
        telling = matches.telling(one.terms)
        is_same_anywhere = telling.rarity >= _EXACT_RARITY and telling.names(2)
        if not one.asks or points(one.words) or not is_same_anywhere:
            continue
        earlier = [row.seq for row in matches.of_user() if _asks_the_same(matches, telling, row)]
        if any(matches.seen.shows(place + 1) for place in earlier):
            continue  # the answer was there
        if signal := matches.signal("asked_again", seq, earlier):
            return signal
    return None


def _asks_the_same(matches: _Matches, telling: Telling, row: Counted) -> bool:
    asked = (one for one in islice(sentences(row.message.text), _MOST_SENTENCES) if asks(one.text))
    return any(_are_alike(matches, telling, one.words) for one in asked)


def _are_alike(matches: _Matches, telling: Telling, words: str) -> bool:
    other = matches.telling(telling_terms(words))
    share = telling.shared(index_words(words)) / max(telling.rarity, other.rarity)
    return share >= _SAME_SHARE and not telling.lacks_literal(index_words(words))


def _answers(matches: _Matches, asked: str, telling: Telling) -> Iterator[int]:
    """The messages of users that tell what is asked for."""
    least = _NAMED_RARITY if addresses(asked) else _ASKED_RARITY
    if telling.rarity < least or not telling.names(1):
        return
    for row in matches.of_user():
        said = islice(sentences(row.message.text), 4 * _MOST_SENTENCES)
        if any(_answers_in(asked, telling, one) for one in said):
            yield row.seq


def _answers_in(asked: str, telling: Telling, one: Sentence) -> bool:
    if not may_answer(asked, one.words) or is_order(one.words):
        return False
    if telling.share(index_words(one.words)) < _ASKED_SHARE:
        return False
    is_meant = telling.names(2) or names_something(one.text) or is_of_user(asked, one.words)
    return is_meant and bool({*telling_terms(one.words)} - {*telling.terms})


def _words(row: Counted) -> str:
    return index_words(row.message.text)
