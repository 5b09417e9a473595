"""Finds the earlier rules and decisions that a new sentence takes back.

A clause with a sign of change scores higher the more it speaks of a rule. A user cannot take back
a rule of the system prompt, and nothing takes back “all instructions”, as injected text does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from ctxcore.facts.slots import differing
from ctxcore.facts.topics import (
    covered,
    is_number,
    likeness,
    mentioned,
    names_something,
    shared_words,
    stem,
    topic_of,
)
from ctxcore.facts.values import ClauseChange, Fact
from ctxcore.text.languages import has_han
from ctxcore.text.words import COMMON_WORDS, WEAK_HAN, word_set

LATEST_WITHIN: Final = 8  # messages; chosen: later “forget that rule” may mean another one
CLOSE: Final = 0.5  # to the best score; chosen: such rules are meant as well

# Fitted with the cues of english_changes and chinese_changes, see docs/adr/0044: what a clause has
# to do with a rule, and what that weighs.
_ENGLISH: Final = {
    **{"start": -2.6, "part": 0.8, "said": -0.4, "said_most": 0.5, "words_3": 0.6},
    **{"all_words": 0.4, "weak": 0.8, "telling": 0.8, "rest": -0.3, "rest_4": -0.7},
    **{"other": 1.0, "own_other": 0.8, "loose": 0.5, "own_loose": 1.0, "number_other": 0.2},
    **{"numbers": -0.9, "number_new": -1.1, "number_gone": -0.5},
    **{"flips": 0.6, "rule": 1.0, "limit": -0.3, "alike": -0.5, "short": 0.2},
}
_CHINESE: Final = {
    **{"start": -2.2, "said": -0.6, "words": 0.2, "words_2": -0.9, "words_3": 1.0},
    **{"all_words": 0.3, "all_words_2": 0.5, "rest": -0.2, "rest_2": -0.9, "rest_4": -0.6},
    **{"characters_2": 0.6, "rule_part": 0.6, "rule_most": 1.0, "own_part": 0.6},
    **{"own_other": 2.0, "loose": 1.0, "number_other": -0.6, "number_new": -0.5},
    **{"none": -0.7, "flips": 0.6, "consent": -0.7, "short": -0.3},
}
_SAID_MOST: Final = 0.75  # of the words of a rule; chosen: three of four
_ENOUGH: Final = 0.8  # of a rule; chosen: all of it but for a word
_MOST: Final = 0.66  # of the characters of a rule; chosen: two of three

_BOUND: Final = re.compile(
    r"只|仅|最多|至少|不超|以内|以下|之内|限|\b(?:only|at most|at least|under|within|above|below"
    r"|over|up to|maximum|minimum|no more|less than|longer than|stay|keep|exactly)\b"
)
_CONDITION: Final = re.compile(  # “not without my yes”: a yes does not end it
    r"未经|没有我|没经|没我|除非|先问|问我|确认|同意|等我"
)
_USUAL: Final = frozenset(
    map(
        stem,
        COMMON_WORDS
        | word_set("""
            order name list table code text write read say tell use add message reply file page
            letter card send number one three four five six seven eight nine ten hundred minute
            hour month everything anything each other user
            喜欢 自己 什么 问题 觉得 知道 一起 起来 还是 就是 怎么 没有 工作 时间 今天 的话
        """),
    )
)
"""Words that a rule and any other sentence may share."""
_USUAL_HAN: Final = WEAK_HAN | frozenset("用写给做说二三四五六七八九十自己起话喜欢")


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
    if by_slot and fact.effect != "revokes":
        return by_slot
    scores = {at: score for at in allowed if (score := _score(fact, earlier[at][1])) > 0}
    if scores:
        floor = max(scores.values()) - CLOSE
        return [at for at, score in scores.items() if score >= floor]
    return _latest(fact, seq, earlier, allowed)


def is_about(fact: Fact, rule: Fact) -> bool:
    """Whether `fact` takes `rule` back, whoever said it."""
    return _score(fact, rule) > 0


def _score(fact: Fact, rule: Fact) -> float:
    return max((_score_of(aim, fact, rule) for aim in fact.about), default=0.0)


def _score_of(aim: ClauseChange, fact: Fact, rule: Fact) -> float:
    """The sign of a clause and what it has to do with `rule`, together; at most 0 for nothing."""
    weights = _CHINESE if has_han(fact.text) else _ENGLISH
    found = _target(aim, fact, rule)
    sign = aim.freeing if _is_limit(rule) else aim.sign
    target = sum(weights.get(name, 0.0) * found[name] for name in found)
    return sign + weights["start"] + target if found else 0.0


def _target(aim: ClauseChange, fact: Fact, rule: Fact) -> Mapping[str, float]:
    """What a clause of `fact` has to do with `rule`; empty where it shares nothing with it."""
    own, whole, ruled = _words(aim.said), _words(fact.text), _words(rule.text)
    if not names_something(own):
        own = whole
    shared = {*whole} & {*ruled}
    same, other, loose = differing(fact.text, rule.text)
    numbers, ruled_numbers = _numbers(whole), _numbers(ruled)
    both = bool(numbers and ruled_numbers)
    characters = _characters(whole) & _characters(ruled)
    is_named = len(shared) > 1 or len(characters) > 1 or not _USUAL.issuperset(shared)
    if not (is_named or same or other):
        return {}
    return {
        **_shared(own, whole, ruled),
        **_characters_shared(own, whole, ruled),
        "none": not (other or _is_any(shared) or _characters(own) & _characters(ruled)),
        "other": other,
        "loose": loose,
        "own_other": differing(aim.said, rule.text)[1],
        "own_loose": differing(aim.said, rule.text)[2],
        "numbers": both,
        "number_other": both and numbers != ruled_numbers,
        "number_new": bool(numbers) and not ruled_numbers,
        "number_gone": bool(ruled_numbers) and not numbers,
        "flips": fact.is_negative != rule.is_negative and mentioned(ruled, whole) >= _ENOUGH,
        "consent": bool(_CONDITION.search(rule.text)) and not _CONDITION.search(fact.text),
        "short": len(ruled) <= 3,
        "rule": fact.effect != "revokes",
        "limit": _is_limit(rule),
    }


def _shared(
    own: tuple[str, ...], whole: tuple[str, ...], ruled: tuple[str, ...]
) -> dict[str, float]:
    """The words that a clause, and its whole sentence, share with a rule, and those it does not."""
    shared = {*whole} & {*ruled}
    words, all_words = shared_words(own, ruled), shared_words(whole, ruled)
    rest = sum(word not in ruled for word in own)
    telling = sum(word not in _USUAL for word in {*own} & {*ruled})
    return {
        "part": covered(own, ruled),
        "said": mentioned(ruled, whole),
        "said_most": mentioned(ruled, whole) >= _SAID_MOST,
        "alike": likeness(whole, ruled),
        "words": min(words, 3),
        "words_2": words >= 2,
        "words_3": words >= 3,
        "all_words": min(all_words, 3),
        "all_words_2": all_words >= 2,
        "weak": min(len(shared) - all_words, 2),
        "telling": min(telling, 2),
        "rest": min(rest, 4),
        "rest_2": rest >= 2,
        "rest_4": rest >= 4,
    }


def _characters_shared(
    own: tuple[str, ...], whole: tuple[str, ...], ruled: tuple[str, ...]
) -> dict[str, float]:
    """The Chinese characters that a clause, and its whole sentence, share with a rule."""
    mine, theirs = _characters(own), _characters(ruled)
    if not theirs:
        return {}
    part = len(_characters(whole) & theirs) / len(theirs)
    return {
        "characters_2": len(mine & theirs) >= 2,
        "rule_part": part,
        "rule_most": part >= _MOST,
        "own_part": len(mine & theirs) / (len(mine) or 1),
    }


def _is_any(words: set[str]) -> bool:
    return shared_words(words, words) > 0


@lru_cache(maxsize=4_096)  # each new sentence is compared with all rules
def _words(text: str) -> tuple[str, ...]:
    return topic_of(text.replace("-", " "))


@lru_cache(maxsize=4_096)
def _characters(topic: tuple[str, ...]) -> frozenset[str]:
    return frozenset("".join(word for word in topic if not word.isascii())) - _USUAL_HAN


def _numbers(topic: Sequence[str]) -> frozenset[str]:
    return frozenset(filter(is_number, topic))


def _is_limit(rule: Fact) -> bool:
    """Whether a rule forbids or limits something, which a permission ends."""
    return rule.is_negative or bool(_BOUND.search(rule.text.lower()))


def _corrects_itself(fact: Fact) -> bool:
    """Whether it may change rules of its own message, as people do and prompts do not."""
    return _rank(fact) == 0 and fact.effect != "states"


def _rank(fact: Fact) -> int:
    return 1 if fact.role in ("system", "developer") else 0


def _latest(
    fact: Fact, seq: int, earlier: Sequence[tuple[int, Fact]], allowed: Sequence[int]
) -> list[int]:
    """The newest rule, where the sentence points at it (“forget that rule”) and it is recent."""
    is_meant = fact.value == "latest" and allowed
    return [allowed[-1]] if is_meant and seq - earlier[allowed[-1]][0] <= LATEST_WITHIN else []
