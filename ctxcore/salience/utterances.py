"""Scores utterances by signs in and around them that they tell something worth keeping.

The signs are patterns and counts, English and Chinese; their weights come from regressions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, mul

from ctxcore.salience.units import Unit
from ctxcore.text.languages import LATIN_WORD, count_han
from ctxcore.text.words import terms_of, weigh, word_set, words_of

HALF_TOLD = 12.0  # chosen: about three rare words reach half of what saying more is worth
LEAST_TOLD = 0.2  # of an utterance without a term; a rare word weighs five
SHORT_CHARS = 600  # of an utterance whose signs are cached; chosen: most are shorter
# "march" and "may" are left out of the months: in lower case they are seldom one.
_TIMES = word_set("""
    january april february june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    yesterday today tonight tomorrow weekend ago last next week month year since recently
    soon summer winter spring morning night birthday anniversary
""")
TIME_WORDS = _TIMES | {f"{word}s" for word in _TIMES}
NUMBER_WORDS = word_set("two three four five six seven eight nine ten twice couple dozen")
ADDRESS_WORDS = word_set("you your yours")
DECISION_WORDS = word_set("decided decision agreed chose chosen approved confirmed")
RULE_WORDS = word_set("never always must not don now forward sure ensure")

_OPENS = r"(?:(?<![^\n])|(?<=[.,;:!?(] )|(?<=please ))"
_RULE = re.compile(
    rf"{_OPENS}(?:never|always)\b(?! (?:mind|been|had|saw|gets?|good|here|up|\w+ed)\b)"
    r"|\bfrom now on\b|\bgoing forward\b|\bmust (?:not|never|always)\b"
    rf"|{_OPENS}(?:make sure|ensure) (?:that )?(?:every|each|all|any|no)\b"
    rf"|{_OPENS}(?:do not|don['’]t) [^.!?\n]{{0,200}}\b(?:without|unless|until|ever)\b"
)
"""Only what opens a clause: "I have always lived here" is no rule, "always run the tests" is."""
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
_STAMP = re.compile(r"^\[[^\]\n]{0,80}\]\s*")
"""A date or a session in brackets; it says when the message was written, not what it tells."""
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


@dataclass(frozen=True, slots=True)
class _Content:
    """The terms of an utterance, and those signs that do not depend on where it stands."""

    told: tuple[str, ...]
    """The terms outside questions."""
    terms: tuple[str, ...]
    """All its terms, each once."""
    times: int
    names: int
    numbers: int
    addresses: int
    decides: bool
    rules: bool


def read_signs(utterances: Sequence[Unit]) -> list[Signs]:
    """The signs of each of the utterances, which follow each other."""
    contents = [_content_of(unit) for unit in utterances]
    weights = weigh([content.terms for content in contents])
    seen: set[str] = set()
    signs = []
    for unit, content, answers in zip(utterances, contents, _answers(utterances), strict=True):
        tokens = max(1, unit.tokens)
        told = sum([weights[term] for term in content.told])
        news = sum([weights[term] for term in content.told if term not in seen])
        seen.update(content.terms)
        signs.append(
            Signs(
                length=math.log(tokens),
                telling=math.log((LEAST_TOLD + told) / (HALF_TOLD + told)),
                news=news / tokens,
                times=min(3, content.times),
                names=min(4, content.names),
                numbers=min(3, content.numbers),
                answers=float(answers),
                addresses=min(3, content.addresses),
                decides=float(content.decides),
                rules=float(content.rules),
            )
        )
    return signs


def _content_of(unit: Unit) -> _Content:
    text = unit.text
    if text[:1] == "[" and not unit.place:
        text = _STAMP.sub("", text)
    read = _cached_content if len(text) <= SHORT_CHARS else _content
    return read(text, unit.role == "assistant")


def _content(text: str, is_by_model: bool) -> _Content:
    told, asked = _split_questions(text)
    words, words_asked = words_of(told), words_of(asked)
    terms, unique = terms_of(words), frozenset(words)
    rule = not RULE_WORDS.isdisjoint(unique) and _RULE.search(told.lower())
    return _Content(
        told=terms,
        terms=tuple(dict.fromkeys([*terms, *terms_of(words_asked)])) if asked else terms,
        times=len(TIME_WORDS & unique) + _count(_HAN_TIME, told),
        names=len(_NAME.findall(told)),
        numbers=len(_NUMBER.findall(told)) + len(NUMBER_WORDS & unique) + _count(_HAN_NUMBER, told),
        addresses=sum(word in ADDRESS_WORDS for word in words + words_asked)
        + _count(_HAN_ADDRESS, text),
        decides=not DECISION_WORDS.isdisjoint(unique) or bool(_count(_HAN_DECISION, told)),
        rules=not is_by_model and bool(rule or _count(_HAN_RULE, told)),
    )


# What is kept and what is quoted is scored from the same messages, and again with every turn.
_cached_content = lru_cache(maxsize=16_384)(_content)


def _count(pattern: re.Pattern[str], text: str) -> int:
    """The matches of a Chinese pattern."""
    return 0 if text.isascii() else len(pattern.findall(text))


def _answers(utterances: Sequence[Unit]) -> list[bool]:
    """Whether the message before each unit's own ended with a question."""
    answers: list[bool] = []
    asked = before = False
    for at, unit in enumerate(utterances):
        if at and utterances[at - 1].seq != unit.seq:
            before = asked
        answers.append(before if unit.answers is None else unit.answers)
        asked = is_question(unit.text)
    return answers


def _split_questions(text: str) -> tuple[str, str]:
    """What `text` tells and what it asks."""
    if not _MAY_ASK.search(text):
        return text, ""
    told: list[str] = []
    asked: list[str] = []
    for sentence in _SENTENCE.findall(text):
        # Of a Chinese question, what stands before the last comma may tell something.
        for clause in sentence.rsplit("，", 1) if is_question(sentence) else [sentence]:
            (asked if is_question(clause) else told).append(clause)
    return " ".join(told), " ".join(asked)


def is_question(text: str) -> bool:
    """Whether `text` ends with a question."""
    return _QUESTION.search(text, max(0, len(text) - 8)) is not None


def are_han(utterances: Sequence[Unit]) -> Iterator[bool]:
    """Whether each is Chinese; one without letters is in the language of the one before it."""
    is_han = False
    for unit in utterances:
        han, latin = count_han(unit.text), len(LATIN_WORD.findall(unit.text))
        if han or latin:
            is_han = han > latin
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

_values = attrgetter(*Signs.__slots__)


def utterance_saliences(units: Sequence[Unit]) -> list[float]:
    """The salience of each unit as an utterance; 0 for calls and outputs."""
    utterances = [unit for unit in units if unit.kind == "talk"]
    saliences = map(_salience, read_signs(utterances), are_han(utterances))
    return [next(saliences) if unit.kind == "talk" else 0.0 for unit in units]


def _salience(signs: Signs, is_han: bool) -> float:
    base, weights = (HAN_BASE, HAN_WEIGHTS) if is_han else (LATIN_BASE, LATIN_WEIGHTS)
    return base * math.exp(sum(map(mul, _values(signs), _values(weights))))
