"""Finds the names, numbers, dates and identifiers in a summary that its source lacks.

Forms that follow from the source are no additions: another way to write a number or a date, a
rounded number behind “about”, a count up to ten, a plural, a path without its folder.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Final
from unicodedata import combining, normalize

from ctxcore.facts.names import names_in
from ctxcore.facts.presence import SearchedText, folded
from ctxcore.facts.speakers import HAN_SURNAMES
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason, to_json
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.sources import read_sources
from ctxcore.text.calendar import MONTHS, Day, clocks_in, days_about, days_in
from ctxcore.text.identifiers import URL, exact_strings, is_bare_number, kind_of_name
from ctxcore.text.languages import HAN
from ctxcore.text.numerals import Numeral, digits_in, spoken_in
from ctxcore.text.sentences import split_sentences
from ctxcore.text.words import COMMON_WORDS, STOP_WORDS, word_set

MOST_COUNTED: Final = 10  # chosen: a count up to this, such as "3 files", may be the summary's own
LEAST_SPOKEN: Final = 100  # chosen: counts are spelled out below it

_LIST_NUMBER = re.compile(r"^[\s>*•#-]*(?:\(?\d{1,3}[.)、:：](?!\d)\s*)", re.MULTILINE)
_MARKUP = re.compile(r"(?<![\w/.*])[*_`#>|]{1,3}(?=[\s\w]|$)|(?<![/*])[*_`|]{1,3}(?![\w/.*])")
_MEASURE = re.compile(
    r"\s?(?:%|％|percent\b|°|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|h\b|hours?\b|days?\b"
    r"|weeks?\b|months?\b|years?\b|nights?\b|[KMGT]i?B\b|k?g\b|[kcm]?m\b|miles?\b|degrees\b"
    r"|USD\b|EUR\b|dollars?\b|euros?\b|元|块|美元|公斤|千克|公里|米|厘米|小时|分钟|秒|毫秒|天|升|克|度)"
)
_TIME = re.compile(
    r"[\s-]?(?:s(?:ec(?:ond)?s?)?|min(?:ute)?s?|h(?:ours?|rs?)?)\b|\s?(?:小时|分钟|秒)"
)
_MONEY = re.compile(r"[$€£¥￥]\s?$")
_HEDGE = re.compile(
    r"(?:about|approximately|approx\.?|around|roughly|nearly|almost|some|over|under|more than"
    r"|less than|up to|~|≈|约|大约|大概|近|将近|超过|不到)\s?[$€£¥￥]?\s?$",
    re.IGNORECASE,
)
_ROUNDED = re.compile(r"\s?(?:多|余|左右|上下|or so\b|\+)")
_DIGIT_UNIT = re.compile(r"[$€£¥]?(\d[\d.,]*)([a-zA-Z%]{1,8})")
_NUMBER_WORD = re.compile(r"(\d[\d.,]*)(?:-[a-z]{3,})+")
_SPAN_OF_NUMBERS = re.compile(r"[\d.,]+(?:[-–/:x×+][\d.,]+)+")
_SUBJECT = re.compile(
    r"([A-Z][a-z]{2,20}) (?:wants|asked|asks|said|says|prefers|likes|lives|works|booked|needs"
    r"|confirmed|agreed|called|wrote|told|thanked|mentioned|requested)\b"
)
_HAN_INTRODUCED = re.compile(
    "(?:叫|名为|姓名|联系人|妻子|丈夫|老公|老婆|太太|女友|男友|朋友|女儿|儿子|父亲|母亲|爸爸|妈妈"
    "|哥哥|姐姐|弟弟|妹妹|同事|同学|室友|邻居|老师|教练|导游|经理|医生|律师|司机)(?:是|叫|为|[:：])?"
    f"([{HAN_SURNAMES}][{HAN}]{{1,2}}?)(?=[^{HAN}]|$|[在是和与负说已于将来去想要会从给帮住买订])"
)
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 10**6, "dozen": 12}
_A_SCALE = re.compile(rf"\ba ({'|'.join(_SCALES)})\b")
_LINE_NUMBER = re.compile(r":\d+(?::\d+)?$")
_CAPITALS = re.compile(r"\b[A-Z][\w'-]*(?:[ -](?:of |and |the )?[A-Z][\w'-]*)+")
_WORD = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+")
_HAN_ONLY = re.compile(rf"[{HAN}]+")
_EDGE_SIGNS: Final = ".,:;#'’\"()[]{}<>“”"
_ENDS: Final = ".!?。！？…:：;；)”\"'"
_ORDINARY: Final = word_set("""
    step steps point points goal goals decision decisions detail details standing state question
    instruction instructions
    questions user users assistant ai human customer agent model system tool tools bot summary
    conversation main key topic topics fact facts context background overview note notes result
    results finding findings status progress current pending task tasks action actions item items
    issue issues requirement requirements constraint constraints preference preferences request
    requests intent file files information technical error errors fix fixes path paths name names
    number date dates identifier identifiers previous latest final remaining completed further
    team client clients manager support staff nobody everyone somebody both they
    ongoing outcome outcomes conclusion recommendation recommendations options
    api apis url urls id ids json html http https pdf csv faq todo ui ux sql cli ok tbd llm asap
    usa uk am pm utc gmt eta rules force done decided open next references reference
""")
"""Chosen: words of headings, and abbreviations that a writer uses for what is spelled out."""


@dataclass(frozen=True, slots=True)
class Unsupported(Plain):
    """Something that a summary names and its source does not."""

    kind: Kind
    text: str


class SentenceProblem(StrEnum):
    """Why a sentence of a summary is not supported by its source."""

    NAMED = "named"
    """It names what the source lacks."""
    UNSOURCED = "unsourced"
    """Next to none of its telling words are said anywhere."""
    UNREPORTED = "unreported"
    """It tells of a result that nobody reported."""
    REVERSED = "reversed"
    """The only clause that says the same says the opposite."""


@dataclass(frozen=True, slots=True)
class UnsupportedSentence(Plain):
    """A sentence of a summary that its source does not support."""

    text: str
    problem: SentenceProblem
    items: tuple[str, ...] = ()
    """What it names and the source lacks."""


@dataclass(frozen=True, slots=True)
class SummaryCheck:
    """How many things a summary names, and which of them its source lacks."""

    named: int = 0
    unsupported: tuple[Unsupported, ...] = ()
    refused: Reason | None = None
    """Why the summary may not be used; None where it may."""
    sentences: tuple[UnsupportedSentence, ...] = ()
    """The sentences that the source does not support."""

    @property
    def share(self) -> float:
        """The share that the source lacks."""
        return len(self.unsupported) / self.named if self.named else 0.0

    @property
    def marked(self) -> tuple[str, ...]:
        """What to mark in the summary: what it adds, and sentences that add nothing single."""
        whole = (one.text for one in self.sentences if not one.items)
        return (*(one.text for one in self.unsupported), *whole)

    def within(self, text: str) -> SummaryCheck:
        """The same of a changed text: what it does not name any more is gone."""
        left = tuple(one for one in self.unsupported if one.text in text)
        sentences = tuple(one for one in self.sentences if one.text in text)
        return replace(self, unsupported=left, sentences=sentences)

    def to_dict(self) -> JsonObject:
        """The check as JSON."""
        return {
            "named": self.named,
            "unsupported": [{"kind": one.kind, "text": one.text} for one in self.unsupported],
            "refused": None if self.refused is None else to_json(self.refused),
            "sentences": [one.to_dict() for one in self.sentences],
        }


class SummarySource:
    """Everything that a summary may be made from."""

    def __init__(
        self,
        texts: Sequence[str],
        dates: Sequence[datetime | None] = (),
        meant: Sequence[Day] = (),
    ) -> None:
        self.text = "\n".join(texts)
        self._said_at = [date for date in dates if date is not None]
        self._meant = meant

    @classmethod
    def of(cls, request: SummaryRequest, *, facts: str = "") -> SummarySource:
        """The source of the summary that is requested, `facts` carried beside the last one too."""
        lines = [source.line for source in read_sources(request.messages)]
        quotable = (
            text for line in lines for text in (line.asked, *(span.text for span in line.spans))
        )
        calls = (call for message in request.messages for call in message.calls)
        texts = (
            *(f"{message.name or ''}\n{message.text}" for message in request.messages),
            *(f"{call.id} {call.name} {call.arguments}" for call in calls),
            *quotable,
            *(request.previous, facts, request.carried, request.focus, request.instructions),
        )
        meant = [
            day
            for message, said_at in zip(request.messages, request.dates, strict=False)
            if said_at is not None
            for day in days_about(said_at.date(), message.text)
        ]
        return cls(texts, request.dates, meant)

    @cached_property
    def searched(self) -> SearchedText:
        """The text with an index of its words."""
        return SearchedText(self.text)

    @cached_property
    def folded(self) -> str:
        """The text in lower case."""
        return folded(self.text)

    @cached_property
    def joined(self) -> str:
        """The text in lower case, its white space collapsed."""
        return joined(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in lower case, those with accents also without."""
        found = frozenset(_WORD.findall(self.folded))
        if self.folded.isascii():
            return found
        return found | {_without_accents(word) for word in found if not _HAN_ONLY.fullmatch(word)}

    @cached_property
    def days(self) -> Sequence[Day]:
        """Its dates, and those on which its messages were said or that they mean."""
        said = [Day(date.year, date.month, date.day) for date in self._said_at]
        return [*said, *self._meant, *days_in(self.text, reads_fractions=True)]

    @cached_property
    def clocks(self) -> frozenset[int]:
        """Its times of day."""
        return frozenset(clock.minutes for clock in clocks_in(self.text))

    @cached_property
    def values(self) -> frozenset[Decimal]:
        """Its numbers, in digits and in words."""
        numerals = chain(digits_in(self.text), spoken_in(self.text))
        found = {value for one in numerals for value in (one.value, one.plain) if value is not None}
        found.update(map(Decimal, re.findall(r"\d{1,40}", self.text)))
        found.update(Decimal(_SCALES[scale]) for scale in _A_SCALE.findall(self.folded))
        found.update(
            Decimal(part) for day in self.days for part in (day.year, day.month, day.day) if part
        )
        return frozenset(found)

    @cached_property
    def sorted_values(self) -> Sequence[Decimal]:
        """Its numbers, ascending."""
        return sorted(self.values)

    @cached_property
    def initials(self) -> frozenset[str]:
        """The first letters of its runs of capitalized words: NYC of New York City."""
        runs = (found[0] for found in _CAPITALS.finditer(self.text))
        return frozenset(
            "".join(word[0] for word in re.split(r"[ -]", run) if word[:1].isupper()).lower()
            for run in runs
        )


def joined(text: str) -> str:
    """`text` in lower case, its white space collapsed."""
    return " ".join(text.casefold().split())


def check_support(summary: str, source: SummarySource) -> SummaryCheck:
    """What `summary` names, and what of it `source` lacks."""
    seen: dict[tuple[Kind, str], Unsupported | None] = {}
    for kind, text, is_supported in _named_in(_plain(summary), source):
        seen[kind, text.casefold()] = None if is_supported else Unsupported(kind, text)
    lacking = tuple(found for found in seen.values() if found is not None)
    return SummaryCheck(named=len(seen), unsupported=lacking)


_Named = tuple[Kind, str, bool]


def _plain(summary: str) -> str:
    """`summary` without the marks of lists and of emphasis."""
    return _MARKUP.sub("", _LIST_NUMBER.sub("", summary))


def _named_in(text: str, source: SummarySource) -> Iterator[_Named]:
    """Everything that `text` names, each with whether the source has it."""
    for found in URL.finditer(text):
        url = found[0].rstrip(".,:;!?*_")
        yield "url", url, _says(source, "url", url)
    text = _blanked(text, [found.span() for found in URL.finditer(text)])
    for sentence in split_sentences(text):
        for name in _names(sentence.text):
            yield "name", name, _has_name(source, name)
    days, clocks = list(days_in(text)), list(clocks_in(text))
    for start, end in dict.fromkeys((day.start, day.end) for day in days):
        readings = [day for day in days if day.start == start]
        yield "date", text[start:end], _has_day(source, readings)
    for clock in clocks:
        said = text[clock.start : clock.end]
        yield "date", said.strip(), clock.minutes in source.clocks
    taken = [(day.start, day.end) for day in days] + [(one.start, one.end) for one in clocks]
    yield from _exact(_blanked(text, taken), source)


def _names(sentence: str) -> Sequence[str]:
    """The names in a sentence, of parts of a name only the whole.

    The first word is read in lower case too, since names around it may look like a heading.
    """
    written, sentence = sentence, _without_accents(sentence)
    first = [found[1]] if (found := _SUBJECT.match(sentence)) else []
    lowered = sentence[:1].lower() + sentence[1:]
    introduced = () if sentence.isascii() else _HAN_INTRODUCED.findall(sentence)
    names = dict.fromkeys((*first, *introduced, *names_in(sentence), *names_in(lowered)))
    whole = [
        name
        for name in names
        if not any(name != other and name in other.split() for other in names)
    ]
    if len(written) != len(sentence):
        return whole
    places = ((sentence.lower().find(name.lower()), len(name)) for name in whole)
    return [written[at : at + size] for at, size in places]  # with its accents


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(char for char in normalize("NFD", text) if not combining(char))


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _exact(text: str, source: SummarySource) -> Iterator[_Named]:
    """The identifiers and numbers in `text`."""
    is_cut = bool(text.strip()) and text.rstrip()[-1] not in _ENDS
    for run in exact_strings(text):
        word = _LINE_NUMBER.sub("", run.strip(_EDGE_SIGNS))
        if not word or is_bare_number(word) or _numbers_of(word) is not None:
            continue
        kind = _kind_of(word)
        if kind is not None:
            is_last = is_cut and text.rstrip().endswith(run)
            yield kind, word, _has_identifier(source, kind, word, may_be_cut=is_last)
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", " " * len(word), text)
    digits = list(digits_in(text))
    for numeral in digits:
        yield from _number(text, numeral, source)
    taken = {at for numeral in digits for at in range(numeral.start, numeral.end)}
    for numeral in spoken_in(text):
        if numeral.value >= LEAST_SPOKEN and numeral.start not in taken:
            said = text[numeral.start : numeral.end]
            yield "number", said, numeral.value in source.values


def _numbers_of(word: str) -> Sequence[str] | None:
    """The numbers that a word is made of, with or without a unit; None for an identifier."""
    if _SPAN_OF_NUMBERS.fullmatch(word):
        return re.findall(r"[\d.,]+", word)
    if joint := _NUMBER_WORD.fullmatch(word):
        return [joint[1]]
    unit = _DIGIT_UNIT.fullmatch(word)
    is_unit = unit is not None and not (len(unit[2]) == 1 and unit[2] in "ABCDEFGHIJLNOPQRSTUXYZ")
    return [unit[1]] if unit is not None and is_unit else None


def _kind_of(word: str) -> Kind | None:
    """What a word is that a writer does not make up; None for ordinary words."""
    if (kind := kind_of_name(word)) is not None:
        return kind
    if "@" in word or "_" in word or re.search(r"[a-z][A-Z]", word):
        return "identifier"
    if any(map(str.isdigit, word)):
        return "identifier" if re.search("[A-Za-z]", word) else None
    return (
        "identifier"
        if word.isupper() and word.isalpha() and word.lower() not in _ORDINARY
        else None
    )


def _number(text: str, numeral: Numeral, source: SummarySource) -> Iterator[_Named]:
    """A number in digits, unless it is a small count that may be the summary's own."""
    before, after = text[: numeral.start][-24:], text[numeral.end :][:16]
    is_measured = bool(_MEASURE.match(after) or _MONEY.search(before))
    is_whole = numeral.value == numeral.value.to_integral_value()
    if is_whole and numeral.value <= MOST_COUNTED and not is_measured:
        return
    said = text[numeral.start : numeral.end].strip()
    is_rounded = bool(_HEDGE.search(before) or _ROUNDED.match(after)) or numeral.plain is not None
    is_share = after.lstrip()[:1] in ("%", "％") or after.lstrip().startswith("percent")
    is_said = _has_number(source, numeral, is_rounded=is_rounded, is_share=is_share)
    if not is_said and _TIME.match(after):  # 30 minutes of half an hour
        is_said = not source.values.isdisjoint((numeral.value * 60, numeral.value / 60))
    yield "number", said, is_said


def _has_number(
    source: SummarySource, numeral: Numeral, *, is_rounded: bool, is_share: bool
) -> bool:
    values = source.values
    if numeral.value in values or numeral.plain in values:
        return True
    if is_share and (
        numeral.value / 100 in values or _is_near(source, numeral.value / 100, Decimal("0.005"))
    ):
        return True
    if is_rounded:  # “over 1,200” may be 1,299
        return _is_near(source, numeral.value, _last_place(numeral))
    has_decimals = numeral.step < 1
    return has_decimals and _is_near(source, numeral.value, numeral.step / 2)


def _last_place(numeral: Numeral) -> Decimal:
    """The value of one in the last digit that is not zero: 100 for 1,200."""
    if numeral.plain is not None or numeral.step < 1:
        return numeral.step
    return Decimal(1).scaleb(int(numeral.value.normalize().as_tuple().exponent))


def _is_near(source: SummarySource, value: Decimal, most: Decimal) -> bool:
    at = bisect_left(source.sorted_values, value - most)
    return at < len(source.sorted_values) and source.sorted_values[at] <= value + most


def _has_day(source: SummarySource, readings: Sequence[Day]) -> bool:
    return any(day.is_part_of(said) for day in readings for said in source.days)


def _has_identifier(source: SummarySource, kind: Kind, word: str, *, may_be_cut: bool) -> bool:
    if _says(source, kind, word) or (may_be_cut and word.casefold() in source.folded):
        return True
    if word.isupper() and word.isalpha() and word.lower() in source.initials:
        return True
    parts = _WORD.findall(folded(word))
    if kind == "path":  # from another folder
        return all(part in source.words for part in parts)
    # In other signs: `A 4711` for `A-4711`.
    return (
        "@" not in word
        and re.search(
            r"(?<![^\W_])" + r"[\W_]{0,2}".join(map(re.escape, parts)) + r"(?![^\W_])",
            source.folded,
        )
        is not None
    )


def _says(source: SummarySource, kind: Kind, text: str) -> bool:
    return source.searched.says(Fact(kind=kind, text=text, key=text.lower()))


def _has_name(source: SummarySource, name: str) -> bool:
    """Whether the source has each word of a name, ordinary words apart."""
    if _HAN_ONLY.fullmatch(name):
        return name in source.text or any(
            name[:size] in source.text for size in (2, 3) if len(name) > size
        )
    plain = _without_accents(name).casefold()
    words = [word for word in _WORD.findall(plain) if len(word) > 1]
    return all(_has_word(source, word) for word in words)


def _has_word(source: SummarySource, word: str) -> bool:
    if word in STOP_WORDS or word in COMMON_WORDS or word in _ORDINARY or word in MONTHS:
        return True  # months are part of a date
    if not word.isascii():
        return word in source.folded
    forms = {word, word.removesuffix("s"), f"{word}s", word.removesuffix("es")}
    return not source.words.isdisjoint(forms)
