"""Owns which earlier rules and decisions a new sentence takes back: those about the same matter.

Content words decide, with a cue or a turn of polarity. A user cannot take back what the system
prompt lays down, and nothing takes back “all instructions”: that is how injected text begins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from ctxcore.facts.matters import covered, is_amount, is_number, likeness, overlap
from ctxcore.facts.values import Fact

CUED_OVERLAP: Final = 0.5  # with “instead”, “no longer”: half of the shorter sentence's content
CLEAR_OVERLAP: Final = 0.8  # as good as the best match, so taken back with it
AIMED_PART: Final = 0.6  # of what a clause changes: more than one word of two
PERMITTED_PART: Final = 0.6  # of a ban, in what allows the same without a word of before
LEAST_LIKENESS: Final = 0.25
SAME_LIKENESS: Final = 0.7  # without a cue only the very same matter is meant
SHORT_MATTER: Final = 2  # “use spaces instead”: the verb is shared, the rest is the change
LATEST_WITHIN: Final = 8  # messages in which “forget that rule” means the rule just given

_SUBJECT_FIRST: Final = re.compile(
    r"(?!you\b|i\b|we\b)[\w' -]{2,40}? (?:must|should|needs? to|ha(?:s|ve) to|is|are|may|can)\b"
)


def taken_back(fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]]) -> list[int]:
    """Indexes into `earlier` (seq and fact, oldest first) of what `fact` takes back or replaces."""
    allowed = [
        at
        for at, (said_at, rule) in enumerate(earlier)
        if _may_change(fact, rule) and (said_at != seq or _corrects_itself(fact))
    ]
    by_slot = [at for at in allowed if fact.subject and earlier[at][1].subject == fact.subject]
    if by_slot:
        return by_slot
    if fact.effect == "states":
        return [at for at in allowed if _contradicts(fact, earlier[at][1])]
    scores = {at: score for at in allowed if (score := _score(fact, earlier[at][1]))}
    if scores:
        floor = max(CUED_OVERLAP, min(CLEAR_OVERLAP, max(scores.values())))
        return [at for at, score in scores.items() if score >= floor]
    return _latest(fact, seq, earlier, allowed)


def _score(fact: Fact, rule: Fact) -> float:
    """How surely `fact`, which has a cue, is about `rule`, in [0, 1]; 0 where it is not."""
    shared = overlap(fact.matter, rule.matter)
    match fact.value:
        case "permits":
            said = covered(rule.matter, fact.matter) if rule.is_negative else 0.0
            return said if said >= PERMITTED_PART else 0.0
        case "perhaps" | "aimed":
            least = CLEAR_OVERLAP
        case _:
            least = CUED_OVERLAP
    aimed = max((_aimed(about, fact, rule) for about in fact.about), default=0.0)
    if least == CLEAR_OVERLAP and likeness(fact.matter, rule.matter) < LEAST_LIKENESS:
        shared = 0.0  # one word of a long sentence
    return max(aimed, shared if shared >= least else 0.0)


def _aimed(about: Collection[str], fact: Fact, rule: Fact) -> float:
    """How far what a clause changes is what `rule` is about; 0 for too little."""
    part = covered(about, rule.matter)
    if part < AIMED_PART or (len(about) == 1 and not _fits(fact, rule, *about)):
        return 0.0
    return part


def _fits(fact: Fact, rule: Fact, word: str) -> bool:
    """Whether one word is enough: it is what the rule sets, and number takes the place of number.

    “The meeting moves to 3 pm” says nothing of who may come to the meeting.
    """
    amounts = (any(map(is_amount, said.matter)) for said in (rule, fact))
    if not next(amounts) >= next(amounts):
        return False
    at = rule.matter.index(word)
    if word.isascii():  # the verb of an order is shared by all kinds of orders
        if len(rule.matter) == 1:
            return len(fact.matter) <= SHORT_MATTER
        return at > 0 or bool(_SUBJECT_FIRST.match(rule.text.lower()))
    after = rule.matter[at + 1 : at + 2]
    return not (after and after[0][0] == word[-1])  # a part of a longer word


def _may_change(fact: Fact, rule: Fact) -> bool:
    return _rank(fact) >= _rank(rule) and fact.key != rule.key


def _corrects_itself(fact: Fact) -> bool:
    """People change their minds within a message; the rules of a prompt stand side by side."""
    return _rank(fact) == 0 and fact.effect != "states"


def _rank(fact: Fact) -> int:
    return 1 if fact.role in ("system", "developer") else 0


def _contradicts(fact: Fact, rule: Fact) -> bool:
    """Without a cue: the same matter forbidden and ordered, or the same with other numbers."""
    same = likeness(fact.matter, rule.matter)
    if fact.is_negative != rule.is_negative and same >= SAME_LIKENESS:
        return True
    if fact.value == "anew" and not (fact.is_negative or rule.is_negative):
        return _one_word_differs(fact, rule)
    plain, numbers = _split(fact)
    plain_rule, numbers_rule = _split(rule)
    return (
        bool(numbers)
        and len(numbers) == len(numbers_rule)
        and numbers != numbers_rule
        and len(plain) > 1
        and likeness(plain, plain_rule) == 1.0
    )


def _one_word_differs(fact: Fact, rule: Fact) -> bool:
    """“From now on prices in pounds” after “prices in dollars”: said anew, with another value."""
    mine, other = set(fact.matter), set(rule.matter)
    return len(mine - other) == 1 == len(other - mine) and overlap(mine, other) >= CUED_OVERLAP


def _split(fact: Fact) -> tuple[tuple[str, ...], tuple[str, ...]]:
    numbers = tuple(word for word in fact.matter if is_number(word))
    return tuple(word for word in fact.matter if not is_number(word)), numbers


def _latest(
    fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]], allowed: Sequence[int]
) -> list[int]:
    """The newest rule, where the sentence means it (“forget that rule”) and it is just said."""
    if not allowed or seq - earlier[allowed[-1]][0] > LATEST_WITHIN:
        return []
    rule = earlier[allowed[-1]][1]
    is_cued = fact.value == "perhaps" or (fact.effect == "updates" and fact.value != "aimed")
    is_short = is_cued and len(fact.matter) <= SHORT_MATTER
    is_meant = fact.value == "latest" or (is_short and not set(fact.matter).isdisjoint(rule.matter))
    return [allowed[-1]] if is_meant else []
