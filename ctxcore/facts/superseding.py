"""Owns which earlier rules and decisions a new sentence takes back: those about the same matter.

Content words decide, with a cue or a turn of polarity. A user cannot take back what the system
prompt lays down, and nothing takes back “all instructions”: that is how injected text begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxcore.facts.matters import likeness, overlap
from ctxcore.facts.values import Fact

CUED_OVERLAP: Final = 0.5  # with “instead”, “no longer”: half of the shorter sentence's content
CLEAR_OVERLAP: Final = 0.8  # as good as the best match, so taken back with it
SAME_LIKENESS: Final = 0.7  # without a cue only the very same matter is meant
SHORT_MATTER: Final = 2  # “use spaces instead”: the verb is shared, the rest is the change
LATEST_WITHIN: Final = 8  # messages in which “forget that rule” means the rule just given


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
    scores = {at: overlap(fact.matter, earlier[at][1].matter) for at in allowed}
    best = max(scores.values(), default=0.0)
    if best >= (CLEAR_OVERLAP if fact.value == "perhaps" else CUED_OVERLAP):
        floor = max(CUED_OVERLAP, min(CLEAR_OVERLAP, best))
        return [at for at, score in scores.items() if score >= floor]
    return _latest(fact, seq, earlier, allowed)


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
    numbers = tuple(word for word in fact.matter if word.isdigit())
    return tuple(word for word in fact.matter if not word.isdigit()), numbers


def _latest(
    fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]], allowed: Sequence[int]
) -> list[int]:
    """The newest rule, where the sentence means it (“forget that rule”) and it is just said."""
    if not allowed or seq - earlier[allowed[-1]][0] > LATEST_WITHIN:
        return []
    rule = earlier[allowed[-1]][1]
    is_cued = fact.value == "perhaps" or fact.effect == "updates"
    is_short = is_cued and len(fact.matter) <= SHORT_MATTER
    is_meant = fact.value == "latest" or (is_short and not set(fact.matter).isdisjoint(rule.matter))
    return [allowed[-1]] if is_meant else []
