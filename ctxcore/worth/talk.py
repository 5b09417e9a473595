"""Owns what an utterance is worth: a product to which each of its signs adds a factor.

The factor is `exp(weight × amount)`. Chinese has its own weights, since a Chinese character is
about a token and an answer is often no more than a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter, mul

from ctxcore.worth.signs import Signs, are_han, read_signs
from ctxcore.worth.units import Unit

# Rounded from Poisson regressions of how many questions a message is the evidence for, on 5
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
# Make an average message of those conversations worth about 0.3: the questions it answers.
LATIN_BASE = 0.03
HAN_BASE = 0.95

_amounts = attrgetter(*Signs.__slots__)


def talk_worths(units: Sequence[Unit]) -> list[float]:
    """What each unit is worth as an utterance; calls and outputs say nothing."""
    talk = [unit for unit in units if unit.kind == "talk"]
    worths = map(_worth, read_signs(talk), are_han(talk))
    return [next(worths) if unit.kind == "talk" else 0.0 for unit in units]


def _worth(signs: Signs, is_han: bool) -> float:
    base, weights = (HAN_BASE, HAN_WEIGHTS) if is_han else (LATIN_BASE, LATIN_WEIGHTS)
    return base * math.exp(sum(map(mul, _amounts(signs), _amounts(weights))))
