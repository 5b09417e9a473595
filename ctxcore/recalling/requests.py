"""Reads a request as a query: the terms to look for in what a context does not show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from ctxcore.recalling.answers import Wanted, wanted_by
from ctxcore.recalling.index_words import phrases_of
from ctxcore.text.calendar import MONTHS, Day, days_in
from ctxcore.text.inflection import forms_of, stem
from ctxcore.text.languages import HAN_RUN, both_scripts, simplified
from ctxcore.text.other_languages import stop_words_for
from ctxcore.text.words import (
    COMMON_WEIGHT,
    COMMON_WORDS,
    STOP_WORDS,
    han_content,
    han_weight,
    is_weak,
)

READ_CHARS: Final = 4_000  # of a request; chosen: its end and its beginning say what it wants
MOST_TERMS: Final = 32  # chosen: the time of a search grows with them
_FEW_TERMS: Final = 2  # with fewer of its own, a request leans on what was said before it
_CLEAR_THINGS: Final = 2  # that a clear question names; chosen: small talk names one at most
_LENT_WEIGHT: Final = 0.4  # of a term of what the request refers to; chosen: below its own words
_END_CHARS: Final = 4  # signs behind a question mark: quotes and brackets

_POINTS: Final = re.compile(
    r"(?:(?P<before>\w+)\W+)?\b(?:that|this|those|these|above|previous|former|latter"
    r"|(?:the )?(?:first|second|third|fourth|fifth|last|other)"
    r" (?:one|option|point|item|step|idea))\b"
    "|那|这|刚才|上面|前面|第[一二三四五六七八九十\\d]+[个個条條项點点种步]",
    re.IGNORECASE,
)
_STANDS_FOR: Final = re.compile(
    r"\b(?:it|its|they|them|their|he|she|him|her|his|there|then|same|earlier|before|again)\b"
    "|它|他|她|之前",
    re.IGNORECASE,
)
"""Words that in a clear question stand for what it names itself: Did Mila like her teacher?"""
_ASKS: Final = re.compile(
    r"^(?:and |but |so |ok(?:ay)?,? |well,? |hey,? )*(?:what|when|where|who|whom|whose|which|why"
    r"|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|remind|recall"
    r"|tell me|show me|find|look up|give me|list|explain|describe|summari[sz]e)\b"
    "|(?:什么|什麼|哪|谁|誰|怎么|怎麼|怎样|多少|几|幾|为何|为什么|是否|吗|嗎|呢|提醒|记得|記得|告诉|找)",
    re.IGNORECASE,
)
_NTH: Final = re.compile(
    r"\b(?P<word>first|second|third|fourth|fifth|last)\b|第(?P<han>[一二三四五])[个個條条项點点种步]",
    re.IGNORECASE,
)
_PLACES: Final = {
    **{word: at for at, word in enumerate(["first", "second", "third", "fourth", "fifth"])},
    **{word: at for at, word in enumerate("一二三四五")},
    "last": -1,
}
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、]|[a-e][.)])\s+(.+)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d{1,3}(?:[,，]\d{3})+|\d+")
_SMALL_NUMBERS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a request names, in all the forms that mean it."""

    forms: tuple[str, ...]
    """As the index has them; words with a blank between them stand side by side."""
    weight: float = 1.0
    proof: float = 1.0
    """The share of its rarity that proves that a message with it is meant."""
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for."""

    terms: tuple[Term, ...] = ()
    asks: bool = False
    """Whether the request is a question, or asks for something that was said."""
    things: float = 0.0
    """How much it names itself: 1 for each word that names something, .5 for a common one."""
    wanted: Wanted | None = None
    """What kind of thing it asks for."""

    @property
    def is_clear(self) -> bool:
        """Whether it asks, and names two things: then it asks about something, not for the day."""
        return self.asks and self.things >= _CLEAR_THINGS


def read_request(text: str, said: Sequence[str] = (), calls: Sequence[str] = ()) -> Query:
    """The query of a request.

    `said`: the messages before it, newest first; `calls`: what was called for it so far. Their
    terms weigh less, and only where the request refers to them or says next to nothing itself;
    they prove something only where it refers to them and has a telling term of its own: "How is
    it going?" means nothing that was said. An item of a list that it names is part of it.
    """
    text = _ends_of(text)
    item = _item_meant(text, said[0]) if said else ""
    own = {term.forms[0]: term for term in (*terms_in(text), *terms_in(item))}
    query = Query(
        terms=tuple(islice(own.values(), MOST_TERMS)),
        asks=asks(text),
        things=_things_in(f"{text}\n{item}", own.values()),
        wanted=wanted_by(text),
    )
    is_bare, refers = len(own) < _FEW_TERMS, not item and _refers(text, is_clear=query.is_clear)
    share = 1.0 if refers and any(term.proof == 1.0 for term in own.values()) else 0.0
    lent = [*(calls if is_bare else ()), *(said[:1] if refers or (is_bare and not item) else ())]
    return replace(query, terms=tuple(islice(_with_lent(own, lent, share), MOST_TERMS)))


def _refers(text: str, *, is_clear: bool) -> bool:
    """Whether `text` refers to what was said before it.

    A "that" behind a telling word begins a clause of its own: the shoes that Mila got.
    """
    befores = (found["before"] for found in _POINTS.finditer(text))
    points = any(before is None or before.lower() in STOP_WORDS for before in befores)
    return points or (not is_clear and _STANDS_FOR.search(text) is not None)


def _with_lent(own: Mapping[str, Term], lent: Iterable[str], proof_share: float) -> Iterable[Term]:
    """The terms of a request with those of the texts that it borrows from."""
    terms = dict(own)
    for term in chain.from_iterable(map(terms_in, map(_ends_of, lent))):
        weighed = replace(term, weight=term.weight * _LENT_WEIGHT, proof=term.proof * proof_share)
        terms.setdefault(term.forms[0], weighed)
    return terms.values()


def asks(text: str) -> bool:
    """Whether `text` asks something, or asks for something that was said."""
    stripped = text.rstrip()
    is_marked = any(sign in stripped[-_END_CHARS:] for sign in "?？")
    return is_marked or _ASKS.search(stripped) is not None


def terms_in(text: str) -> Iterator[Term]:
    """The terms of `text` in order, those that say nothing left out."""
    seen: set[str] = set()
    for term in (*_dates(text), *_numbers(text), *_words(text)):
        if term.forms[0] not in seen:
            seen.add(term.forms[0])
            yield term


def _things_in(text: str, terms: Iterable[Term]) -> float:
    """How much `text` names; a Chinese word makes several of its `terms`."""
    words = (term for term in terms if not HAN_RUN.match(term.forms[0]))
    runs = HAN_RUN.findall(simplified(text))
    return sum(term.proof for term in words) + sum(map(han_content, runs))


def _words(text: str) -> Iterator[Term]:
    phrases = phrases_of(text)
    weak = stop_words_for({*chain.from_iterable(phrases)})
    for phrase in phrases:
        if HAN_RUN.match(phrase[0]):
            for pair in phrase:
                if not is_weak(simplified(pair)):
                    yield Term(both_scripts(pair), han_weight(simplified(pair)))
            continue
        if len(phrase) > 1:
            yield Term((" ".join(phrase), "".join(phrase)))
        yield from filter(None, (_word(word, weak) for word in phrase))


def _word(word: str, weak: Collection[str]) -> Term | None:
    if word in weak or stem(word) in STOP_WORDS:
        return None
    is_common = len(word) == 1 or word in COMMON_WORDS or stem(word) in COMMON_WORDS
    return Term(forms_of(word), proof=COMMON_WEIGHT if is_common else 1.0)


def _numbers(text: str) -> Iterator[Term]:
    """Numbers with and without their groups, and small ones in words."""
    for found in _NUMBER.finditer(text):
        digits = found[0].replace(",", "").replace("，", "")
        groups = f"{int(digits):,}".replace(",", " ") if len(digits) < 16 else digits
        words = _SMALL_NUMBERS[int(digits) : int(digits) + 1] if len(digits) < 3 else []
        yield Term(tuple(dict.fromkeys([digits, groups, *words])))


def _dates(text: str) -> Iterator[Term]:
    """Dates in the forms in which people and programs write them."""
    for day in days_in(text):
        if forms := tuple(dict.fromkeys(_forms_of_day(day))):
            yield Term(forms, is_date=True)


def _forms_of_day(day: Day) -> Iterator[str]:
    names = [name for name, month in MONTHS.items() if month == day.month]
    if day.day is None:
        yield from names[:2]
        yield f"{day.month} 月"
        return
    for name in names[:2]:
        yield f"{name} {day.day}"
        yield f"{day.day} {name}"
        yield f"{name} {day.day}{_ordinal(day.day)}"
        yield f"{day.day}{_ordinal(day.day)} {name}"
    year = "" if day.year is None else f"{day.year} "
    yield f"{year}{day.month:02} {day.day:02}"
    yield f"{day.month} 月 {day.day}"


def _ordinal(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _item_meant(text: str, said: str) -> str:
    """The item of a list that `text` names by its place; empty for none."""
    found = _NTH.search(text)
    items = _ITEM.findall(said) if found else []
    if found is None or not items:
        return ""
    at = _PLACES[(found["word"] or found["han"]).lower()]
    return str(items[at]) if -len(items) <= at < len(items) else ""


def _ends_of(text: str) -> str:
    """The beginning and the end of a long text, which say what it wants."""
    if len(text) <= READ_CHARS:
        return text
    half = READ_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"
