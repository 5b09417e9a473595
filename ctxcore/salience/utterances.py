"""Owns the signs of an utterance: what can be seen in it, or beside it, that it tells something.

Patterns and counts, English and Chinese; what they are worth is said in `talk`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, mul

from ctxcore.salience.units import Unit
from ctxcore.text.languages import HAN
from ctxcore.text.words import terms_of, weigh, words_of

HALF_TOLD = 12.0  # about three rare words: what half the worth of saying more is reached with
SHORT_CHARS = 600  # of an utterance whose signs are remembered
LEAST_TOLD = 0.2  # of an utterance without a term: a rare word weighs five
# "march" and "may" are left out of the months: in lower case they are seldom one.
_MONTHS = "january february april june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_TIMES = """yesterday today tonight tomorrow weekend ago last next week month year since recently
    soon summer winter spring morning night birthday anniversary"""
TIME_WORDS = frozenset(
    form for word in f"{_MONTHS} {_DAYS} {_TIMES}".split() for form in (word, f"{word}s")
)
_NUMBERS = "two three four five six seven eight nine ten twice couple dozen"
NUMBER_WORDS = frozenset(_NUMBERS.split())
ADDRESS_WORDS = frozenset(("you", "your", "yours"))

DECISION_WORDS = frozenset(
    ("decided", "decision", "agreed", "chose", "chosen", "approved", "confirmed")
)
RULE_WORDS = frozenset(
    ("never", "always", "must", "not", "don", "now", "forward", "sure", "ensure")
)

_OPENS = r"(?:(?<![^\n])|(?<=[.,;:!?(] )|(?<=please ))"
_RULE = re.compile(
    rf"{_OPENS}(?:never|always)\b(?! (?:mind|been|had|saw|gets?|good|here|up|\w+ed)\b)"
    r"|\bfrom now on\b|\bgoing forward\b|\bmust (?:not|never|always)\b"
    rf"|{_OPENS}(?:make sure|ensure) (?:that )?(?:every|each|all|any|no)\b"
    rf"|{_OPENS}(?:do not|don['’]t) [^.!?\n]{{0,200}}\b(?:without|unless|until|ever)\b"
)
"""It opens a clause: "I have always lived here" tells, "always run the tests" instructs."""
_HAN_RULE = re.compile(
    "(?<!要)不要(?![了钱门])|(?<![了怪巴舍])不得|禁止|必须|务必|只能|从现在|今后|以后都|始终|永远|千万别|不再"
)
_HAN_DECISION = re.compile("决定|确定了|同意|采用|定为|就用|结论|敲定")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"(?<=[a-z,;0-9'] )(?!I\b)[A-Z][\w-]+")
_HAN_TIME = re.compile(
    "[昨明今前后]天|今晚|上周|下周|本周|[上下]个月|[去今明前]年|周[一二三四五六日末]|星期|礼拜|早上|晚上|[上下]午|凌晨"
)
_HAN_NUMBER = re.compile(
    "[一二三四五六七八九十两百千万]+(?=[个年月日号点元人次岁天位名部首张本家只块])"
)
_HAN_ADDRESS = re.compile("[你您]")
_LATIN_WORD = re.compile("[A-Za-z]+")
_HAN_CHAR = re.compile(f"[{HAN}]")
_STAMP = re.compile(r"^\[[^\]\n]{0,80}\]\s*")
"""A date or a session in brackets; it says when something was told, not what."""
_SENTENCE = re.compile(r"[^.!?。！？；\n]+[.!?。！？；]*|[.!?]+")
_MAY_ASK = re.compile("[?？吗呢么]")
_QUESTION = re.compile(r"[?？][\"'”’)）\]]*\s*$|[吗呢么][。！!~]*\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signs of one utterance, or the weights they are multiplied with."""

    length: float
    """Log of its tokens."""
    telling: float
    """Log of `w / (w + HALF_TOLD)`, where w is the weight of its terms outside questions."""
    news: float
    """Weight of the terms nobody used before, per token."""
    times: float
    """Words of time outside questions: when it was, when it will be."""
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


@dataclass(frozen=True, slots=True)
class _Said:
    """What is seen in an utterance alone, wherever it stands."""

    telling: tuple[str, ...]
    """The terms it tells."""
    terms: tuple[str, ...]
    """All its terms, each once."""
    times: int
    names: int
    numbers: int
    addresses: int
    decides: bool
    rules: bool


def read_signs(talk: Sequence[Unit]) -> list[Signs]:
    """The signs of each of the utterances, which follow each other."""
    said = [_said(unit) for unit in talk]
    weights = weigh([one.terms for one in said])
    seen: set[str] = set()
    signs = []
    for unit, one, answers in zip(talk, said, _answers(talk), strict=True):
        mass = [weights[term] for term in one.telling]
        news = sum([weights[term] for term in one.telling if term not in seen])
        signs.append(_signs(unit.tokens, one, sum(mass), news, answers))
        seen.update(one.terms)
    return signs


def _said(unit: Unit) -> _Said:
    text = unit.text
    if text[:1] == "[" and not unit.place:
        text = _STAMP.sub("", text)
    take_apart = _take_apart_once if len(text) <= SHORT_CHARS else _take_apart
    return take_apart(text, unit.role == "assistant")


def _take_apart(text: str, is_by_model: bool) -> _Said:
    told, asked = _told_and_asked(text)
    words, asking = words_of(told), words_of(asked) if asked else []
    telling, unique = terms_of(words), frozenset(words)
    has_han = not told.isascii()
    return _Said(
        telling=telling,
        terms=tuple({**dict.fromkeys(telling), **dict.fromkeys(terms_of(asking))})
        if asking
        else telling,
        times=len(TIME_WORDS & unique) + _count(_HAN_TIME, told),
        names=len(_NAME.findall(told)),
        numbers=len(_NUMBER.findall(told)) + len(NUMBER_WORDS & unique) + _count(_HAN_NUMBER, told),
        addresses=_addresses(words) + _addresses(asking) + _count(_HAN_ADDRESS, text),
        decides=bool(DECISION_WORDS & unique or (has_han and _HAN_DECISION.search(told))),
        rules=not is_by_model and _is_rule(told, unique),
    )


# What is kept and what is quoted is weighed in the same messages, and again with every turn.
_take_apart_once = lru_cache(maxsize=16_384)(_take_apart)


def _addresses(words: list[str]) -> int:
    return sum(map(words.count, ADDRESS_WORDS.intersection(words)))


def _signs(tokens: int, said: _Said, telling: float, news: float, answers: bool) -> Signs:
    tokens = max(1, tokens)
    return Signs(
        length=math.log(tokens),
        telling=math.log((LEAST_TOLD + telling) / (HALF_TOLD + telling)),
        news=news / tokens,
        times=min(3, said.times),
        names=min(4, said.names),
        numbers=min(3, said.numbers),
        answers=float(answers),
        addresses=min(3, said.addresses),
        decides=float(said.decides),
        rules=float(said.rules),
    )


def _is_rule(told: str, words: Set[str]) -> bool:
    if not RULE_WORDS.isdisjoint(words) and _RULE.search(told.lower()):
        return True
    return bool(_count(_HAN_RULE, told))


def _count(pattern: re.Pattern[str], text: str) -> int:
    return 0 if text.isascii() else len(pattern.findall(text))


def _answers(talk: Sequence[Unit]) -> list[bool]:
    """Whether the message before each unit's own ended with a question."""
    answers: list[bool] = []
    asked = before = False
    for at, unit in enumerate(talk):
        if at and talk[at - 1].seq != unit.seq:
            before = asked
        answers.append(before if unit.answers is None else unit.answers)
        asked = is_question(unit.text)
    return answers


def _told_and_asked(text: str) -> tuple[str, str]:
    if not _MAY_ASK.search(text):
        return text, ""
    told: list[str] = []
    asked: list[str] = []
    for clause in _clauses(text):
        (asked if is_question(clause) else told).append(clause)
    return " ".join(told), " ".join(asked)


def _clauses(text: str) -> Iterator[str]:
    """Its sentences; of a Chinese question that follows a comma, what stands before it too."""
    for sentence in _SENTENCE.findall(text):
        if "，" in sentence and is_question(sentence):
            yield from sentence.rsplit("，", 1)
        else:
            yield sentence


def is_question(text: str) -> bool:
    """Whether `text` ends with a question."""
    return _QUESTION.search(text, max(0, len(text) - 8)) is not None


def are_han(talk: Sequence[Unit]) -> Iterator[bool]:
    """Whether each is Chinese; one of digits alone is what the one before it is."""
    is_han = False
    for unit in talk:
        if unit.text.isascii():
            is_han = is_han and not _LATIN_WORD.search(unit.text)
        elif (han := _count(_HAN_CHAR, unit.text)) or _LATIN_WORD.search(unit.text):
            is_han = han > len(_LATIN_WORD.findall(unit.text))
        yield is_han


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
