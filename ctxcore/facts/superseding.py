"""Finds the earlier rules and decisions that a new sentence takes back.

A clause with a sign of change scores higher the more it speaks of a rule. A user cannot take back
a rule of the system prompt, and nothing takes back “all instructions”, as injected text does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from ctxcore.facts.bindings import are_apart, replaced, unlabelled
from ctxcore.facts.slots import compared, settings_in
from ctxcore.facts.topics import (
    covered,
    is_number,
    likeness,
    mentioned,
    names_something,
    shared_words,
    topic_of,
)
from ctxcore.facts.values import ClauseChange, Fact
from ctxcore.text.inflection import stem
from ctxcore.text.languages import has_han
from ctxcore.text.words import COMMON_WORDS, WEAK_HAN, word_set

LATEST_WITHIN: Final = 8  # messages; chosen: later “forget that rule” may mean another one
CLOSE: Final = 0.5  # to the best score; chosen: such rules are meant as well

# Fitted with the cues of english_changes and chinese_changes, see docs/adr/0044: what a clause has
# to do with a rule, and what that weighs.
_ENGLISH: Final = {
    **{"start": -2.6, "part": 0.6, "said": -0.1, "said_most": 0.1, "alike": -0.3},
    **{"words": -0.1, "words_2": -0.2, "words_3": 0.7, "all_words": 0.6, "all_words_2": 0.1},
    **{"weak": 1.0, "telling": 0.5, "rest": -0.4, "rest_2": 0.4, "rest_4": -0.3},
    **{"starts": 0.8, "none": -0.3, "unnamed": -0.2, "apart": -0.1, "usual": -0.1},
    **{"same": -0.2, "other": 1.0, "loose": 0.2, "named": -0.5, "own_other": 0.7},
    **{"own_loose": 1.1, "own_named": 1.1, "numbers": -0.8, "number_other": 0.6},
    **{"number_new": -0.7, "number_gone": -0.2, "flips_said": 0.3, "short": 0.2, "rule": 1.5},
    **{"limit": -0.4},
}
_CHINESE: Final = {
    **{"start": -2.5, "part": -0.2, "said": -0.5, "said_most": 0.7, "alike": 0.7},
    **{"words": 0.5, "words_2": -0.7, "words_3": 0.4, "all_words": 0.2, "all_words_2": 0.5},
    **{"weak": 0.2, "telling": -0.4, "rest": -0.1, "rest_2": -0.5, "rest_4": -0.7},
    **{"characters_2": -0.2, "rule_part": 1.4, "rule_most": 0.2, "own_part": 0.7},
    **{"none": -1.0, "unnamed": -0.3, "apart": -0.6, "usual": -0.1, "same": -0.4},
    **{"other": 0.4, "loose": 1.3, "named": -0.1, "own_other": 2.2, "own_loose": 0.6},
    **{"own_named": 0.3, "numbers": -0.8, "number_other": -0.5, "number_new": -1.1},
    **{"number_gone": 0.2, "flips_said": 0.6, "consent": -1.1, "short": -0.4, "rule": 0.4},
    **{"limit": -0.2},
}
FEW: Final = 2  # words of a clause; chosen: one that a rule may share, and one more
START: Final = 5  # letters; chosen: formal and formality begin alike
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
_EXTENDS: Final = re.compile(  # to something else: the rule stands where it was
    r"\bsame\b.*\b(?:too|also|as well|likewise)\b|\b(?:also|likewise)\b.*\bsame\b"
    r"|同样|也一样|也适用"
)
_USUAL: Final = frozenset(map(stem, COMMON_WORDS)) | word_set("""
    order nam list tabl cod text writ read say tell use add messag reply fil pag letter card send
    number one two thre four fiv six seven eight nin ten hundr minut hour month everyth anyth each
    other user
    account address alright app appoint around arriv averag away back becaus being between both
    business buy cash caus charg class colour com company construct control correct cost creat
    currency data decid detail did doing down drink even event everyon exchang explain extra fan
    fat fee fix follow found function gam get gonna good great half hav hello hey hi hmm hold
    hotel hous human includ inform know least lot machin mak many mayb meet most movi much next
    nic non object offic oh option pay per perfect phon pick pin player pretty pric probably
    project provid quit rat really receiv regular request reserv restaurant right room search
    seat see seem servic sinc someon sort stay stuff suppos system think though thought through
    ticket track transfer try uh um visit wer yeah
    喜欢 自己 什么 问题 觉得 知道 一起 起来 还是 就是 怎么 没有 工作 时间 今天 的话
""")
"""Words that a rule and any other sentence may share."""
_USUAL_HAN: Final = WEAK_HAN | frozenset(
    "用写给做说二三四五六七八九十自己起话喜欢"
    "一两事人今作儿出医发吃回大天子学家小常年应开当心性情意方时比点然特生经老肝行跟问间面题高"
)


Said: TypeAlias = tuple[int, Fact]
"""A rule and the last message that has it."""


def taken_back(
    fact: Fact, seq: int, near: Sequence[Said], newest_first: Iterable[Said] | None = None
) -> tuple[str, ...]:
    """The keys of the earlier rules that `fact` of message `seq` takes back or replaces.

    `near` has those that share something with it, oldest first, and `newest_first` all.
    """
    if _EXTENDS.search(fact.text.lower()):
        return ()
    allowed = [rule for said in near if (rule := said[1]) and _may_change(fact, seq, said)]
    rebound = replaced(fact, allowed)
    if rebound or (fact.effect == "revokes" and not fact.about):
        return tuple(rebound)
    by_slot = [rule.key for rule in allowed if fact.subject and rule.subject == fact.subject]
    if by_slot and fact.effect != "revokes":
        return tuple(by_slot)
    allowed = [rule for rule in allowed if not are_apart(fact, rule)]
    scores = {rule.key: score for rule in allowed if (score := _score(fact, rule)) > 0}
    if scores:
        floor = max(scores.values()) - CLOSE
        return tuple(key for key, score in scores.items() if score >= floor)
    if fact.value != "latest":
        return ()
    every = reversed(near) if newest_first is None else newest_first
    latest = next((said for said in every if _may_change(fact, seq, said)), None)
    return (latest[1].key,) if latest and seq - latest[0] <= LATEST_WITHIN else ()


def _may_change(fact: Fact, seq: int, earlier: Said) -> bool:
    said_at, rule = earlier
    is_free = said_at != seq or _corrects_itself(fact)
    return is_free and _rank(fact) >= _rank(rule) and fact.key != rule.key


class RuleIndex:
    """Finds the rules that share something with a sentence, without comparing it with all."""

    def __init__(self, rules: Iterable[Fact]) -> None:
        """Knows `rules`, oldest first."""
        self._terms: dict[str, frozenset[str]] = {}
        self._keys: dict[str, dict[str, None]] = {}
        self._places: dict[str, int] = {}
        self._next = 0
        for rule in rules:
            self.add(rule)

    def add(self, rule: Fact) -> None:
        """Adds a rule, or its new words."""
        place = self._places.get(rule.key, self._next)
        self.remove(rule.key)
        self._terms[rule.key] = frozenset((*_telling_terms(rule), *_usual_terms(rule)))
        for term in self._terms[rule.key]:
            self._keys.setdefault(term, {})[rule.key] = None
        self._places[rule.key] = place
        self._next += 1

    def remove(self, key: str) -> None:
        """Removes the rule with that key, if it is known."""
        for term in self._terms.pop(key, ()):
            del self._keys[term][key]
        self._places.pop(key, None)

    def near(self, fact: Fact) -> list[str]:
        """The keys of all rules that `fact` may have to do with, oldest first."""
        found = {key for term in _telling_terms(fact) for key in self._keys.get(term, ())}
        shared = Counter(key for term in _usual_terms(fact) for key in self._keys.get(term, ()))
        enough = 1 if any(len(_own(aim, fact).words) <= FEW for aim in fact.about) else 2
        found.update(key for key, count in shared.items() if count >= enough)
        return sorted(found, key=self._places.__getitem__)


def _telling_terms(fact: Fact) -> Iterator[str]:
    """What two texts have in common where they have to do with each other."""
    said = _said(fact.text)
    yield from (word for word in said.terms if word not in _USUAL)
    yield from (f"{start}~" for start in said.starts)
    yield from (f"={setting}" for setting in said.settings)
    if said.numbers:
        yield "#"
    if fact.subject:
        yield f"@{fact.subject}"


def _usual_terms(fact: Fact) -> Iterator[str]:
    """What two texts have to share several of."""
    said = _said(fact.text)
    yield from said.terms & _USUAL
    yield from said.characters


def is_about(fact: Fact, rule: Fact) -> bool:
    """Whether `fact` takes `rule` back, whoever said it."""
    return _score(fact, rule) > 0


def _score(fact: Fact, rule: Fact) -> float:
    return max((_score_of(aim, fact, rule) for aim in fact.about), default=0.0)


def _score_of(aim: ClauseChange, fact: Fact, rule: Fact) -> float:
    """The sign of a clause and what it has to do with `rule`, together; at most 0 for nothing."""
    weights = _CHINESE if has_han(unlabelled(fact.text)) else _ENGLISH
    found = _target(aim, fact, rule)
    sign = aim.freeing if _is_limit(rule) else aim.sign
    target = sum(weights.get(name, 0.0) * found[name] for name in found)
    return sign + weights["start"] + target if found else 0.0


def _target(aim: ClauseChange, fact: Fact, rule: Fact) -> Mapping[str, float]:
    """What a clause of `fact` has to do with `rule`; empty where it shares nothing with it."""
    whole, ruled = _said(fact.text), _said(rule.text)
    own = _own(aim, fact)
    settings, own_settings = (
        compared(whole.settings, ruled.settings),
        compared(_said(aim.said).settings, ruled.settings),
    )
    shared = whole.terms & ruled.terms
    numbers = whole.numbers and ruled.numbers
    characters = whole.characters & ruled.characters
    starts = whole.starts & ruled.starts
    only_number = (
        bool(numbers) and numbers != ruled.numbers and sum(map(_is_telling, own.words)) < 2
    )
    is_named = len(shared) > 1 or len(characters) > 1 or not _USUAL.issuperset(shared)
    rest = sum(word not in ruled.terms for word in own.words)
    is_usual = bool(shared) and not is_named and len(own.words) <= FEW
    if not (is_named or any(settings) or starts or only_number or is_usual):
        return {}
    is_apart = not (own.terms & ruled.terms or own.characters & ruled.characters)
    words = shared_words(own.words, ruled.words)
    all_words = shared_words(whole.words, ruled.words)
    said = mentioned(ruled.words, whole.words)
    mine = len(own.characters & ruled.characters)
    part = len(characters) / (len(ruled.characters) or 1)
    return {
        "part": covered(own.words, ruled.words),
        "said": said,
        "said_most": said >= _SAID_MOST,
        "alike": likeness(whole.words, ruled.words),
        "words": min(words, 3),
        "words_2": words >= 2,
        "words_3": words >= 3,
        "all_words": min(all_words, 3),
        "all_words_2": all_words >= 2,
        "weak": min(len(shared) - all_words, 2),
        "telling": min(sum(word not in _USUAL for word in own.terms & ruled.terms), 2),
        "rest": min(rest, 4),
        "rest_2": rest >= 2,
        "rest_4": rest >= 4,
        "starts": bool(starts) and not all_words,
        "characters_2": mine >= 2,
        "rule_part": part,
        "rule_most": part >= _MOST,
        "own_part": mine / (len(own.characters) or 1),
        "none": not (is_named or settings.other),
        "unnamed": not is_named,
        "apart": is_apart and len(shared) < FEW,
        "usual": is_usual,
        "same": settings.same,
        "other": settings.other,
        "loose": settings.loose,
        "named": settings.named,
        "own_other": own_settings.other,
        "own_loose": own_settings.loose,
        "own_named": own_settings.named,
        "numbers": bool(numbers),
        "number_other": bool(numbers) and whole.numbers != ruled.numbers,
        "number_new": bool(whole.numbers) and not ruled.numbers,
        "number_gone": bool(ruled.numbers) and not whole.numbers,
        "flips_said": fact.is_negative != rule.is_negative and said >= _ENOUGH,
        "consent": bool(_CONDITION.search(rule.text)) and not _CONDITION.search(fact.text),
        "short": len(ruled.words) <= 3,
        "rule": fact.effect != "revokes",
        "limit": _is_limit(rule),
    }


def _own(aim: ClauseChange, fact: Fact) -> _Said:
    """What a clause speaks of; its whole sentence where it names nothing."""
    own = _said(aim.said)
    return own if names_something(own.words) else _said(fact.text)


class _Said(NamedTuple):
    """What a text speaks of."""

    words: tuple[str, ...]
    terms: frozenset[str]
    characters: frozenset[str]
    starts: frozenset[str]
    numbers: frozenset[str]
    settings: Mapping[str, frozenset[str]]


@lru_cache(maxsize=1_024)  # each new sentence is compared with several rules
def _said(text: str) -> _Said:
    text = unlabelled(text)
    words = topic_of(text.replace("-", " "))
    han = "".join(word for word in words if not word.isascii())
    return _Said(
        words,
        frozenset(words),
        frozenset(han) - _USUAL_HAN,
        frozenset(
            word[:START]
            for word in words
            if len(word) > START and word not in _USUAL and word.isascii()
        ),
        frozenset(filter(is_number, words)),
        settings_in(text),
    )


def _is_telling(word: str) -> bool:
    return not is_number(word) and word not in _USUAL


def _is_limit(rule: Fact) -> bool:
    """Whether a rule forbids or limits something, which a permission ends."""
    return rule.is_negative or bool(_BOUND.search(rule.text.lower()))


def _corrects_itself(fact: Fact) -> bool:
    """Whether it may change rules of its own message, as people do and prompts do not."""
    return _rank(fact) == 0 and fact.effect != "states"


def _rank(fact: Fact) -> int:
    return 1 if fact.role in ("system", "developer") else 0
