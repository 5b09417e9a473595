"""Owns the worth of units: what each tells as an utterance, and the literals it holds.

Nothing is asked of a model and nothing is random: the same units have the same worth everywhere,
at a cost linear in their text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxcore.worth.literals import read_literals, weigh_literals
from ctxcore.worth.relevance import relevance
from ctxcore.worth.talk import talk_worths
from ctxcore.worth.units import Unit

LITERAL_WORTH = 1.0
"""Of a literal where tools are called, beside an utterance that answers 0.3 questions."""
FULL_CALL_SHARE = 0.1
"""From this share of calls and outputs among the units on, literals have their whole worth. Where
there are none they have none: a number is one fact of many, and already a sign of the utterance."""

ASKED_WORTH, SAID_WORTH = 5.0, 2.0
"""Of talk that says all that is asked now, beside what average talk of its length tells; and that
says what is said now, without a question. With the question as the last message LoCoMo keeps .69 of
the evidence at 2,000 tokens and .90 at 4,000 so, .21 and .47 without; of that for all other
questions it loses .01. So it does with small talk as the last message, .03 if that were as much."""
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What one unit is worth keeping."""

    talk: float
    """What it tells, as an utterance; 0 for calls and outputs."""
    literals: tuple[tuple[str, float], ...] = ()
    """Each literal in it with what it is worth, wherever it is kept."""

    @property
    def total(self) -> float:
        """The worth of the unit as long as nothing else is kept."""
        return self.talk + sum(value for _, value in self.literals)


def score_units(units: Sequence[Unit], *, request: str = "") -> list[Worth]:
    """The worth of each unit of a conversation, oldest first; more of what the `request` asks for.

    Units kept by an earlier fold keep their worth best when they are scored in their old place,
    among those that were left out. With `Unit.answers` set, what is left may be scored alone:
    LoCoMo folded 20 messages at a time loses .01 of its evidence, without it .02.
    """
    talk = _asked_for(talk_worths(units), units, request)
    factor = LITERAL_WORTH * _call_share(units)
    if not factor:
        return [Worth(talk=worth) for worth in talk]
    literals = read_literals(units)
    values = weigh_literals(units, literals)
    return [
        Worth(talk=worth, literals=tuple((literal, factor * values[literal]) for literal in found))
        for worth, found in zip(talk, literals, strict=True)
    ]


def _asked_for(talk: list[float], units: Sequence[Unit], request: str) -> list[float]:
    """The worth of `talk` with what its relevance to the request adds; calls and outputs hold
    literals, and those are weighed by their uses.
    """
    said = [at for at, worth in enumerate(talk) if worth > 0]
    if not (request and said):
        return talk
    questions = " ".join(_QUESTION.findall(request))
    texts = [units[at].text for at in said]
    shares = relevance(texts, questions or request, least_share=1.0)
    average = sum(talk) / sum(units[at].tokens for at in said)
    most = average * (ASKED_WORTH if questions else SAID_WORTH)
    made = list(talk)
    for at, share in zip(said, shares, strict=True):
        made[at] += most * share * units[at].tokens
    return made


def _call_share(units: Sequence[Unit]) -> float:
    calls = sum(unit.kind != "talk" for unit in units)
    return min(1.0, calls / max(1, len(units)) / FULL_CALL_SHARE)
