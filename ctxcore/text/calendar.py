"""Reads dates and times of day as values, whatever form they are written in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from ctxcore.text.numerals import spoken_in
from ctxcore.text.words import word_set

MONTHS: Final = {
    name: at
    for at, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
            *("july jul", "august aug", "september sept sep", "october oct"),
            *("november nov", "december dec"),
        ),
        start=1,
    )
    for name in names.split()
}
"""The number of each month, by its English names in lower case."""
_MONTH: Final = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_NUMERAL: Final = r"[〇零一二三四五六七八九十\d]"
_COUNT: Final = r"(?:(?<!\d)\d{1,2}|[〇零一二三四五六七八九十]{1,3})"  # not 一9 of 周一9点
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)",
        r"(?<![\d./])(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<y>\d{4}|\d{2})(?![\d./])",
        rf"\b(?P<name>{_MONTH}) (?P<d>\d{{1,2}}){_ORDINAL}\b(?!:)(?:,? (?P<y>\d{{4}})\b)?",
        rf"(?<!\d)(?P<d>\d{{1,2}}){_ORDINAL}(?: of)? (?P<name>{_MONTH})(?:,? (?P<y>\d{{4}})\b)?",
        rf"\b(?P<name>{_MONTH}),? (?:of )?(?P<y>\d{{4}})\b",
        rf"(?:(?P<y>{_NUMERAL}{{2,4}})年)?(?P<m>{_COUNT})月(?:(?P<d>{_COUNT})[日号號]?)?",
        r"(?<!\d)(?P<y>\d{4})[-/](?P<m>0\d|1[0-2])(?![\d/-])",
    )
)
_FRACTION = re.compile(r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/.])")
_VERBS: Final = word_set("may march mar")  # in lower case
_CLOCK = re.compile(
    r"(?<![\d:])(?P<h>\d{1,2})(?:[:：](?P<m>\d{2}))?(?:[:：]\d{2})? ?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\d:])(?P<h2>\d{1,2})[:：](?P<m2>\d{2})(?::\d{2})?(?![\d:])"
    rf"|(?P<h3>{_COUNT})[点點时時](?:(?P<m3>{_COUNT})分?|(?P<part>半|一刻|三刻))?",
    re.IGNORECASE,
)
_PARTS: Final = {"半": 30, "一刻": 15, "三刻": 45}


@dataclass(frozen=True, slots=True)
class Day:
    """A date, or the parts of one that a text names, and where they stand."""

    year: int | None
    month: int
    day: int | None
    start: int = 0
    end: int = 0

    def is_part_of(self, other: Day) -> bool:
        """Whether `other` names the same month, and the same day and year as far as this does."""
        has_day = self.day is None or self.day == other.day
        has_year = self.year is None or other.year in (None, self.year)
        return self.month == other.month and has_day and has_year


_DAYS_OFF: Final = (
    (-1, re.compile(r"\b(?:yesterday|last night|day before)\b|昨[天日晚夜]", re.IGNORECASE)),
    (1, re.compile(r"\b(?:tomorrow|next day|day after)\b|明[天日早晚]|次日", re.IGNORECASE)),
    (-2, re.compile(r"\bday before yesterday\b|前[天日]", re.IGNORECASE)),
    (2, re.compile(r"\bday after tomorrow\b|后天|後天", re.IGNORECASE)),
)
_WEEKDAY: Final = re.compile(
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:周|星期|礼拜|禮拜)([一二三四五六日天])",
    re.IGNORECASE,
)
_WEEKDAYS: Final = {
    **{
        name: at
        for at, name in enumerate(["mon", "tues", "wednes", "thurs", "fri", "satur", "sun"])
    },
    **{name: at for at, name in enumerate("一二三四五六日")},
    "天": 6,
}


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; the half of the day may be open."""

    minutes: int
    """Since the last noon or midnight: 3 pm and 15:00 are one time."""
    start: int = 0
    end: int = 0


def days_in(text: str, *, reads_fractions: bool = False) -> Iterator[Day]:
    """The dates in `text`; of 3/4/2026 both readings, and of 3/4 where fractions are read."""
    taken: set[int] = set()
    for pattern in (*_PATTERNS, *([_FRACTION] if reads_fractions else [])):
        for found in pattern.finditer(text):
            places = range(*found.span())
            if not taken.isdisjoint(places):
                continue
            days = list(_days(found))
            if days:
                taken.update(places)
            yield from days


def days_about(said: date, text: str) -> Iterator[Day]:
    """The dates that `text`, said on a day, may mean by words such as yesterday or Friday.

    A weekday is that of the week before or after.
    """
    offsets = {offset for offset, words in _DAYS_OFF if words.search(text)}
    weekdays = {_WEEKDAYS[(found[1] or found[2]).lower()] for found in _WEEKDAY.finditer(text)}
    if not (offsets or weekdays):
        return
    for offset in range(-7, 8):
        try:
            meant = said + timedelta(days=offset)
        except OverflowError:
            continue
        if offset in offsets or meant.weekday() in weekdays:
            yield Day(meant.year, meant.month, meant.day)


def _days(found: re.Match[str]) -> Iterator[Day]:
    parts = found.groupdict()
    year = _year(parts.get("y"))
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        readings: set[tuple[int | None, int | None]] = {(first, second), (second, first)}
    elif parts.get("name"):
        if parts["name"] in _VERBS:
            return
        readings = {(MONTHS[parts["name"].lower().rstrip(".")], _number(parts.get("d")))}
    else:
        readings = {(_number(parts["m"]), _number(parts.get("d")))}
    for month, day in sorted(readings, key=str):
        if month is not None and 1 <= month <= 12 and (day is None or 1 <= day <= 31):
            yield Day(year, month, day, *found.span())


def _year(text: str | None) -> int | None:
    number = _number(text)
    is_short = text is not None and len(text) == 2
    return number + 2000 if number is not None and is_short else number


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    return next((int(numeral.value) for numeral in spoken_in(text)), None)


def clocks_in(text: str) -> Iterator[Clock]:
    """The times of day in `text`."""
    for found in _CLOCK.finditer(text):
        hour = _number(found["h"] or found["h2"] or found["h3"])
        minute = _number(found["m"] or found["m2"] or found["m3"]) or _PARTS.get(found["part"], 0)
        if hour is not None and hour <= 24 and minute < 60:
            yield Clock((hour % 12) * 60 + minute, *found.span())
