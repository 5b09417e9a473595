"""Scores utterances by signs in and around them that they tell something worth keeping.

The signs are patterns and counts, English and Chinese; their weights come from regressions.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from operator import mul
from typing import NamedTuple

from ctxcore.salience.traits import Traits, is_question, noted_traits, read_traits
from ctxcore.salience.units import Unit
from ctxcore.text.languages import count_han, count_latin
from ctxcore.text.words import weights_of

HALF_TOLD = 12.0  # chosen: about three rare words reach half of what saying more is worth
LEAST_TOLD = 0.2  # of an utterance without a term; a rare word weighs five
_STAMP = re.compile(r"^\[[^\]\n]{0,80}\]\s*")
"""A date or a session in brackets; it says when the message was written, not what it tells."""


class Signs(NamedTuple):
    """The signs of one utterance, or the weights they are multiplied with."""

    length: float
    """Log of its tokens."""
    telling: float
    """Log of `w / (w + HALF_TOLD)`, where w is the weight of its terms outside questions."""
    news: float
    """Weight of the terms nobody used before, per token."""
    times: float
    """Words of time outside questions."""
    names: float
    """Capitalized words inside sentences."""
    numbers: float
    """Numbers outside questions."""
    answers: float
    """1 after a message that ends with a question."""
    addresses: float
    """Words for the other person: asking, praising, thanking."""
    decides: float
    """1 where something is decided or agreed."""
    rules: float
    """1 where a user lays down what holds from then on."""


class _Vocabulary:
    """Numbers the terms of utterances, and counts how many utterances have each."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._counts: Counter[int] = Counter()
        self._utterances = 0

    def numbered(self, terms: Sequence[str]) -> array[int]:
        """The numbers of `terms`."""
        return array("I", map(self._numbers.__getitem__, terms))

    def add(self, told: array[int], asked: array[int]) -> None:
        """Counts one utterance with these terms."""
        self._counts.update(told)
        self._counts.update(asked)
        self._utterances += 1

    def weights(self) -> list[float]:
        """The weight of each term, by its number."""
        counts = {term: self._counts[number] for term, number in self._numbers.items()}
        return list(weights_of(counts, self._utterances).values())


class _Read(NamedTuple):
    """An utterance with its terms as numbers; `signs` has its other traits."""

    told: array[int]
    asked: array[int]
    signs: Traits


def _read(utterances: Sequence[Unit], vocabulary: _Vocabulary) -> Iterator[_Read]:
    """Each of the utterances, counted in `vocabulary`."""
    for unit in utterances:
        traits = _traits_of(unit)
        told, asked = vocabulary.numbered(traits.told), vocabulary.numbered(traits.asked)
        vocabulary.add(told, asked)
        yield _Read(told, asked, Traits((), (), *traits[2:]))


def read_signs(utterances: Sequence[Unit]) -> list[Signs]:
    """The signs of each of the utterances, which follow each other."""
    return list(_signs(utterances, *_reading(utterances)))


def _reading(utterances: Sequence[Unit]) -> tuple[list[_Read], list[float]]:
    vocabulary = _Vocabulary()
    read = list(_read(utterances, vocabulary))
    return read, vocabulary.weights()


def _signs(
    utterances: Sequence[Unit], read: Sequence[_Read], weights: Sequence[float]
) -> Iterator[Signs]:
    seen: set[int] = set()
    for unit, (told, asked, traits), answers in zip(
        utterances, read, _answers(utterances, read), strict=True
    ):
        tokens = max(1, unit.tokens)
        weight = sum([weights[term] for term in told])
        news = sum([weights[term] for term in told if term not in seen])
        seen.update(told, asked)
        yield Signs(
            length=math.log(tokens),
            telling=math.log((LEAST_TOLD + weight) / (HALF_TOLD + weight)),
            news=news / tokens,
            times=min(3, traits.times),
            names=min(4, traits.names),
            numbers=min(3, traits.numbers),
            answers=float(answers),
            addresses=min(3, traits.addresses),
            decides=float(traits.decides),
            rules=float(traits.rules),
        )


def _traits_of(unit: Unit) -> Traits:
    if unit.note:
        return noted_traits(unit.note)
    text, is_by_model = unit.text, unit.role == "assistant"
    told = _STAMP.sub("", text) if text[:1] == "[" and not unit.place else text
    traits = read_traits(told, is_by_model=is_by_model)
    if told == text:
        return traits
    latin = count_latin(text)
    return traits._replace(han=count_han(text), latin=latin, asks=is_question(text))


def _answers(utterances: Sequence[Unit], read: Sequence[_Read]) -> Iterator[bool]:
    """Whether the message before each unit's own ended with a question."""
    asked = before = False
    seq: int | None = None
    for unit, (_, _, traits) in zip(utterances, read, strict=True):
        if seq is not None and seq != unit.seq:
            before = asked
        yield before if unit.answers is None else unit.answers
        asked, seq = bool(traits.asks), unit.seq


def _are_han(read: Sequence[_Read]) -> Iterator[bool]:
    """Whether each is Chinese; one without letters is in the language of the one before it."""
    is_han = False
    for _, _, traits in read:
        if traits.han or traits.latin:
            is_han = traits.han > traits.latin
        yield is_han


# Rounded from Poisson regressions of how many questions each message is the evidence for, on 5
# conversations of LoCoMo and on 2 + 40 Chinese ones (KdConv; CrossWOZ, KdConv). With each of
# LoCoMo left out in turn, no weight moves by more than .2. Evidence kept of those left out, at
# 2,000 / 4,000 / 8,000 / 16,000 tokens: LoCoMo .26 .46 .73 .93, KdConv .30 .48 .73 .87.
# `telling` is set to 1 for both, so that an utterance without content is worth nothing, and
# `length` with it; `decides` and `rules` too, since those conversations have next to none.
LATIN_WEIGHTS = Signs(
    length=0.5,
    telling=1.0,
    news=0.8,
    times=0.4,
    names=0.25,
    numbers=0.2,
    answers=0.6,
    addresses=-0.2,
    decides=0.2,
    rules=1.2,
)
HAN_WEIGHTS = Signs(
    length=-0.4,
    telling=1.0,
    news=0.0,
    times=0.0,
    names=0.1,
    numbers=0.1,
    answers=1.2,
    addresses=0.0,
    decides=0.2,
    rules=1.2,
)
# Chosen: an average message of those conversations scores about 0.3, the questions it answers.
LATIN_BASE = 0.03
HAN_BASE = 0.95


def utterance_saliences(units: Sequence[Unit]) -> list[float]:
    """The salience of each unit as an utterance; 0 for calls and outputs."""
    utterances = [unit for unit in units if unit.kind == "talk"]
    read, weights = _reading(utterances)
    saliences = map(_salience, _signs(utterances, read, weights), _are_han(read))
    return [next(saliences) if unit.kind == "talk" else 0.0 for unit in units]


def _salience(signs: Signs, is_han: bool) -> float:
    base, weights = (HAN_BASE, HAN_WEIGHTS) if is_han else (LATIN_BASE, LATIN_WEIGHTS)
    return base * math.exp(sum(map(mul, signs, weights)))
