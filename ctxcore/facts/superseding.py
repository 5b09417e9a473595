"""Finds the earlier rules and decisions that a new sentence takes back.

They share content words with it, and it has a cue or turns an order into a ban. A user cannot take
back a rule of the system prompt, and nothing takes back “all instructions”, as injected text does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ctxcore.facts.topics import (
    covered,
    is_amount,
    is_number,
    likeness,
    mentioned,
    overlap,
    shared_words,
    speaks_of,
)
from ctxcore.facts.values import ClauseChange, Fact

# Chosen: shares of content words; the higher they are, the fewer rules are taken back.
CUED_OVERLAP: Final = 0.5  # with “instead”, “no longer”: half of the shorter sentence's content
CLEAR_OVERLAP: Final = 0.8  # taken back together with the best match
AIMED_PART: Final = 0.6  # of what a clause changes: more than one word of two
SAID_PART: Final = 0.75  # of a rule, in a sentence that has a cue in some clause
SET_WITHIN: Final = 4  # first words of a rule, which name what it sets
ALL_PART: Final = 0.85  # of a rule, in a new one that says the opposite
ALLOWED_PART: Final = 0.6  # of a ban, in a sentence that allows the same
SAME_LIKENESS: Final = 0.7  # without a cue only the same topic is meant
SHORT_MATTER: Final = 2  # “use spaces instead”: the verb is shared, the rest is the change
LATEST_WITHIN: Final = 8  # messages in which “forget that rule” means the rule just given

_BOUND: Final = re.compile(
    r"只|仅|最多|至少|不超|以内|以下|之内|限|\b(?:only|at most|at least|under|within|above|below"
    r"|over|up to|maximum|minimum|no more|less than|longer than|stay|keep|exactly)\b"
)
_ONLY: Final = re.compile(r"\bonly\b|\bmust\b|\balways\b")
_CONDITION: Final = re.compile(  # “not without my yes”: a yes does not end it
    r"未经|没有我|没经|除非|\b(?:without|unless|until)\b"
)
_THING_FIRST: Final = re.compile(  # no verb of an order
    r"no |(?!you\b|i\b|we\b)[\w' -]{2,40}? (?:must|should|needs? to|ha(?:s|ve) to|is|are|may|can)\b"
)


def taken_back(fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]]) -> list[int]:
    """Indexes into `earlier` (seq and fact, oldest first) of what `fact` takes back or replaces."""
    allowed = [
        at
        for at, (said_at, rule) in enumerate(earlier)
        if _rank(fact) >= _rank(rule)
        and fact.key != rule.key
        and (said_at != seq or _corrects_itself(fact))
    ]
    by_slot = [at for at in allowed if fact.subject and earlier[at][1].subject == fact.subject]
    if by_slot:
        return by_slot
    contradicted: list[int] = []
    if fact.effect != "revokes":
        contradicted = [at for at in allowed if _contradicts(fact, earlier[at][1])]
    if fact.effect == "states":
        return contradicted
    scores = {at: score for at in allowed if (score := _score(fact, earlier[at][1]))}
    if scores:
        floor = max(CUED_OVERLAP, min(CLEAR_OVERLAP, max(scores.values())))
        chosen = [at for at, score in scores.items() if score >= floor]
        if all(aim.cue == "turns" for aim in fact.about) and fact.about:  # one value for another
            return [max(chosen, key=lambda at: (scores[at], _closeness(fact, earlier[at][1]), at))]
        return chosen
    return contradicted or _latest(fact, seq, earlier, allowed)


def _closeness(fact: Fact, rule: Fact) -> tuple[bool, float]:
    """Ranks rules that may turn: amounts for amounts first, then by shared words."""
    is_same_kind = any(map(is_amount, fact.topic)) == any(map(is_amount, rule.topic))
    return is_same_kind, likeness(fact.topic, rule.topic)


def _score(fact: Fact, rule: Fact) -> float:
    """How far `fact`, which has a cue, is about `rule`, in [0, 1]; 0 for too little."""
    aimed = max((_aimed(aim, fact, rule) for aim in fact.about), default=0.0)
    if fact.about and not any(_touches(aim, fact, rule) for aim in fact.about):
        return aimed
    words = shared_words(fact.topic, rule.topic)
    said = mentioned(rule.topic, fact.topic)
    if fact.about and said >= (SAID_PART if words > 1 else 1.0) and not _is_one_word(rule):
        return max(aimed, said)
    is_clear = fact.value in ("perhaps", "aimed") or (bool(fact.about) and fact.effect == "revokes")
    if is_clear and words < min(2, shared_words(rule.topic, rule.topic)):
        return aimed
    shared = overlap(fact.topic, rule.topic)
    return max(aimed, shared if shared >= (CLEAR_OVERLAP if is_clear else CUED_OVERLAP) else 0.0)


def _touches(aim: ClauseChange, fact: Fact, rule: Fact) -> bool:
    return _may_end(aim, fact, rule) and speaks_of(rule.topic, aim.topic)


def _is_one_word(rule: Fact) -> bool:
    return rule.topic[-1:] == rule.topic or shared_words(rule.topic, rule.topic) < 2


def _may_end(aim: ClauseChange, fact: Fact, rule: Fact) -> bool:
    """Whether a clause of that kind may end `rule`; to permit something, it forbids or limits."""
    match aim.cue:
        case "turns":
            return _may_turn(aim.topic, fact, rule)
        case "lifts":
            return not aim.done or speaks_of(rule.topic, aim.done)
        case "permits":
            is_limit = rule.is_negative or bool(_BOUND.search(rule.text.lower()))
            return is_limit and not _is_met(fact, rule)
        case "allows":
            return False


def _is_met(fact: Fact, rule: Fact) -> bool:
    """Whether `fact` may only tell that the condition of `rule` is met."""
    return bool(_CONDITION.search(rule.text.lower())) and not _CONDITION.search(fact.text.lower())


def _aimed(aim: ClauseChange, fact: Fact, rule: Fact) -> float:
    """How far the topic of a clause is that of `rule`, in [0, 1]; 0 for too little."""
    if aim.cue in ("permits", "allows") and _is_met(fact, rule):
        return 0.0
    if aim.cue == "allows":
        is_ban = rule.is_negative and not fact.is_negative
        said = mentioned(rule.topic, aim.topic) if is_ban else 0.0
        return said if said >= ALLOWED_PART else 0.0
    part, words = covered(aim.topic, rule.topic), shared_words(aim.topic, rule.topic)
    if not _may_end(aim, fact, rule):
        is_all = aim.cue == "permits" and part >= SAID_PART and words > 1
        return part if is_all else 0.0
    if (
        words > 1 and part >= CUED_OVERLAP and aim.topic[0].isascii()
    ):  # nearly all of the rule, with more beside it
        part = max(part, mentioned(rule.topic, aim.topic))
    if part < (CUED_OVERLAP if _is_added(aim, rule) else AIMED_PART):
        return 0.0
    return part if words > 1 or _is_enough(aim.topic, fact, rule) else 0.0


def _is_added(aim: ClauseChange, rule: Fact) -> bool:
    """Whether the clause adds a kind where only one was allowed: “Licensed fonts are fine too”."""
    is_only = _ONLY.search(rule.text.lower())
    return aim.cue == "permits" and len(aim.topic) == 2 and bool(is_only)


def _may_turn(about: tuple[str, ...], fact: Fact, rule: Fact) -> bool:
    """Whether `rule` has a value for the other one: a number for a number, of the thing it sets.

    “The meeting moves to 3 pm” says nothing of who may come to the meeting.
    """
    if any(word not in rule.topic for word in about if is_amount(word)):
        return False  # “Monday's exam moves to Wednesday”: one of many
    if any(map(is_amount, fact.topic)):
        return any(map(is_amount, rule.topic))
    return about[0].isascii() or (
        about[-1] in rule.topic and any(word in about for word in rule.topic[:SET_WITHIN])
    )


def _is_enough(about: tuple[str, ...], fact: Fact, rule: Fact) -> bool:
    """Whether one word names the topic of `rule`: no verb of an order, no part of a word."""
    word = next(word for word in reversed(about) if shared_words((word,), rule.topic))
    at = rule.topic.index(word)
    if word.isascii():
        if len(rule.topic) == 1:
            return len(fact.topic) <= SHORT_MATTER
        return at == 0 if _THING_FIRST.match(rule.text.lower()) else at > 0
    after = rule.topic[at + 1 : at + 2]
    return not (after and after[0][0] == word[-1])


def _corrects_itself(fact: Fact) -> bool:
    """Whether it may change rules of its own message, as people do and prompts do not."""
    return _rank(fact) == 0 and fact.effect != "states"


def _rank(fact: Fact) -> int:
    return 1 if fact.role in ("system", "developer") else 0


def _contradicts(fact: Fact, rule: Fact) -> bool:
    """Whether, without a cue, it forbids what `rule` orders or repeats it with another value."""
    if frozenset(fact.topic).isdisjoint(rule.topic):  # as most rules: nothing in common
        return False
    same = likeness(fact.topic, rule.topic)
    if fact.is_negative != rule.is_negative and same >= SAME_LIKENESS:
        return True
    if (fact.value == "anew" and _turns_anew(fact, rule)) or _is_said_anew(fact, rule):
        return True
    plain, numbers = _split(fact)
    plain_rule, numbers_rule = _split(rule)
    return (
        bool(numbers)
        and len(numbers) == len(numbers_rule)
        and numbers != numbers_rule
        and len(plain) > 1
        and likeness(plain, plain_rule) == 1.0
    )


def _is_said_anew(fact: Fact, rule: Fact) -> bool:
    """Whether both have nearly the same words: “amounts to the cent”, “amounts to the dollar”."""
    return (
        not (fact.is_negative or rule.is_negative)
        and fact.topic[:1] == rule.topic[:1]
        and shared_words(fact.topic, rule.topic) > SHORT_MATTER
        and mentioned(rule.topic, fact.topic) >= SAID_PART
        and mentioned(fact.topic, rule.topic) >= SAID_PART
    )


def _turns_anew(fact: Fact, rule: Fact) -> bool:
    """Whether “from now on …” gives the topic of `rule` the opposite, another amount or word."""
    said = mentioned(rule.topic, fact.topic)
    if fact.is_negative != rule.is_negative:
        return said >= ALL_PART and shared_words(fact.topic, rule.topic) > 1
    if not fact.is_negative and _one_word_differs(fact, rule):
        return True
    numbers, numbers_rule = _split(fact)[1], _split(rule)[1]
    is_other = len(numbers) == len(numbers_rule) == 1 and numbers != numbers_rule
    return is_other and said >= ALLOWED_PART and shared_words(fact.topic, rule.topic) > 1


def _one_word_differs(fact: Fact, rule: Fact) -> bool:
    """Whether one word is replaced: “prices in pounds” after “prices in dollars”."""
    mine, other = set(fact.topic), set(rule.topic)
    return len(mine - other) == 1 == len(other - mine) and overlap(mine, other) >= CUED_OVERLAP


def _split(fact: Fact) -> tuple[tuple[str, ...], tuple[str, ...]]:
    numbers = tuple(word for word in fact.topic if is_number(word))
    return tuple(word for word in fact.topic if not is_number(word)), numbers


def _latest(
    fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]], allowed: Sequence[int]
) -> list[int]:
    """The newest rule, where the sentence points at it (“forget that rule”) and it is recent."""
    if not allowed or seq - earlier[allowed[-1]][0] > LATEST_WITHIN:
        return []
    rule = earlier[allowed[-1]][1]
    is_cued = fact.value == "perhaps" or (fact.effect == "updates" and fact.value != "aimed")
    # “Use spaces instead” takes the place of an order; a ban goes well with it.
    is_short = is_cued and len(fact.topic) <= SHORT_MATTER and not rule.is_negative
    is_meant = fact.value == "latest" or (is_short and not set(fact.topic).isdisjoint(rule.topic))
    return [allowed[-1]] if is_meant else []
