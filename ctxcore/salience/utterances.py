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
from typing import Final, NamedTuple

from ctxcore.salience.traits import Traits, is_question, noted_signs, read_traits
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
    personal: float
    """How many signs it has that somebody tells of their life."""


class _Read(NamedTuple):
    """Utterances as columns, their terms numbered in the order in which they first occur.

    A column is one array: of a hundred thousand utterances, an object each would take more memory
    than all else.
    """

    told: array[int]
    """The terms outside questions, of one utterance after the other."""
    bounds: array[int]
    """For each utterance: where its terms end, and how many terms are known before and then."""
    signs: array[int]
    """Its other traits, as many for each."""
    weights: Sequence[float]
    """The weight of each term."""


_BOUNDS: Final = 3
_SIGNS: Final = len(Traits._fields) - 2


def _reading(utterances: Sequence[Unit]) -> _Read:
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    number = numbers.__getitem__
    all_told, all_asked, bounds, all_signs = array("I"), array("I"), array("I"), array("I")
    for unit in utterances:
        told, asked, signs = _traits_of(unit)
        before = len(numbers)
        all_told.extend(map(number, told))
        bounds.extend((len(all_told), before, len(numbers)))
        if asked:
            all_asked.extend(map(number, asked))
        all_signs.extend(signs)
    counts = Counter(all_told)
    counts.update(all_asked)
    held = {term: counts[number] for term, number in numbers.items()}
    weights = list(weights_of(held, len(utterances)).values())
    return _Read(all_told, bounds, all_signs, weights)


def _signs(utterances: Sequence[Unit], read: _Read) -> Iterator[Signs]:
    weights, start = read.weights, 0
    weight_of = weights.__getitem__
    columns = zip(utterances, *_in(read.bounds, _BOUNDS), *_in(read.signs, _SIGNS), strict=True)
    answers = _answers(utterances, read)
    for (unit, end, before, known, *signs), is_answer in zip(columns, answers, strict=True):
        times, names, numbers, addresses, decides, rules, personal, *_ = signs
        tokens = max(1, unit.tokens)
        weight = sum(map(weight_of, read.told[start:end]))
        start = end
        yield Signs(
            math.log(tokens),
            math.log((LEAST_TOLD + weight) / (HALF_TOLD + weight)),
            sum(weights[before:known]) / tokens,
            min(3, times),
            min(4, names),
            min(3, numbers),
            is_answer,
            min(3, addresses),
            decides,
            rules,
            personal,
        )


def _in(column: array[int], count: int) -> Iterator[array[int]]:
    """The columns that take turns in one."""
    return (column[at::count] for at in range(count))


def _traits_of(unit: Unit) -> tuple[Sequence[str], Sequence[str], tuple[int, ...]]:
    """The terms that a unit tells, those that it only asks, and its other traits."""
    if unit.note:
        return noted_signs(unit.note)
    told, asked, *signs = _read_traits(unit)
    return told, asked, tuple(map(int, signs))


def _read_traits(unit: Unit) -> Traits:
    text, is_by_model = unit.text, unit.role == "assistant"
    told = _STAMP.sub("", text) if text[:1] == "[" and not unit.place else text
    traits = read_traits(told, is_by_model=is_by_model)
    if told == text:
        return traits
    latin = count_latin(text)
    return traits._replace(han=count_han(text), latin=latin, asks=is_question(text))


def _answers(utterances: Sequence[Unit], read: _Read) -> Iterator[bool]:
    """Whether the message before each unit's own ended with a question."""
    asked = before = False
    seq: int | None = None
    for unit, asks in zip(utterances, read.signs[_SIGNS - 1 :: _SIGNS], strict=True):
        if seq is not None and seq != unit.seq:
            before = asked
        yield before if unit.answers is None else unit.answers
        asked, seq = bool(asks), unit.seq


def _are_han(read: _Read) -> Iterator[bool]:
    """Whether each is Chinese; one without letters is in the language of the one before it."""
    is_han = False
    *_, hans, latins, _ = _in(read.signs, _SIGNS)
    for han, latin in zip(hans, latins, strict=True):
        if han or latin:
            is_han = han > latin
        yield is_han


# Rounded from Poisson regressions of how many questions each message is the evidence for, on the 10
# conversations of LoCoMo and on 2 + 40 Chinese ones (KdConv; CrossWOZ, KdConv). With each of
# LoCoMo left out in turn, no weight moves by more than .2. Evidence kept of those left out, at
# 2,000 / 4,000 / 8,000 / 16,000 tokens: LoCoMo .245 .444 .710 .945, KdConv .30 .48 .73 .87.
# `telling` is set to 1 for both, so that an utterance without content is worth nothing, and
# `length` with it; `decides` and `rules` too, since those conversations have next to none.
LATIN_WEIGHTS = Signs(
    length=0.4,
    telling=1.0,
    news=0.85,
    times=0.26,
    names=0.28,
    numbers=0.2,
    answers=0.5,
    addresses=-0.18,
    decides=0.2,
    rules=1.7,
    personal=0.34,
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
    rules=1.5,
    personal=0.0,
)
# Chosen: an average message of those conversations scores about 0.3, the questions it answers.
LATIN_BASE = 0.038
HAN_BASE = 0.95


def utterance_saliences(units: Sequence[Unit]) -> list[float]:
    """The salience of each unit as an utterance; 0 for calls and outputs."""
    utterances = [unit for unit in units if unit.kind == "talk"]
    read = _reading(utterances)
    saliences = map(_salience, _signs(utterances, read), _are_han(read))
    return [next(saliences) if unit.kind == "talk" else 0.0 for unit in units]


def _salience(signs: Signs, is_han: bool) -> float:
    base, weights = (HAN_BASE, HAN_WEIGHTS) if is_han else (LATIN_BASE, LATIN_WEIGHTS)
    return base * math.exp(sum(map(mul, signs, weights)))
