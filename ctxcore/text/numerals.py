"""Reads the numbers in a text as values: digits, English number words and Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ctxcore.text.words import word_set

_SCALES: Final = {
    **{"k": 3, "thousand": 3, "千": 3, "m": 6, "mn": 6, "million": 6, "millions": 6},
    **{"bn": 9, "b": 9, "billion": 9, "trillion": 12, "百": 2, "万": 4, "萬": 4, "亿": 8, "億": 8},
    **{"百万": 6, "千万": 7, "hundred": 2},
}
_DIGITS: Final = r"\d{1,3}(?:[,，]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = re.compile(
    rf"({_DIGITS})(?:[ -]?(hundred|thousand|millions?|billion|trillion)\b|(k|m|mn|bn|b)(?![\w])"
    r"|\s?([百千]万|[万萬亿億千百]))?",
    re.IGNORECASE,
)
_UP_TO_TWENTY: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_TENS: Final = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth", "twentieth"),
)
_OTHERS: Final = {"dozen": 12, "once": 1, "twice": 2, "thirtieth": 30, "fortieth": 40}
_PLAIN: Final = {
    **{word: value for value, word in enumerate(_UP_TO_TWENTY)},
    **{word: value * 10 for value, word in enumerate(_TENS, start=3)},
    **{word: value for value, word in enumerate(_ORDINALS, start=1)},
    **_OTHERS,
}
_SPOKEN_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_WORD = re.compile(r"[A-Za-z]+")
_JOINS = word_set("and a")
_HAN_ONES: Final = dict(
    zip("零〇一二两兩三四五六七八九", (0, 0, 1, 2, 2, 2, *range(3, 10)), strict=True)
)
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_GROUPS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN_NUMERALS: Final = "零〇一二两兩三四五六七八九十百千万萬亿億"
_HAN_RUN = re.compile(f"[{_HAN_NUMERALS}]+")
BESIDE_NUMBERS = re.compile(rf"(?<![\d{_HAN_NUMERALS}])|(?![\d{_HAN_NUMERALS}])")
"""The places in a text that are not within a number; one that is cut there is another number."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number and where it stands in its text."""

    value: Decimal
    start: int
    end: int
    step: Decimal = Decimal(1)
    """The value of one in its last digit: 100 for “3.2 thousand”."""
    plain: Decimal | None = None
    """The digits alone, where a word or a letter multiplies them: 3 million, 15k, 1.5万."""


def digits_in(text: str) -> Iterator[Numeral]:
    """The numbers in digits, with the words and letters that multiply them."""
    for found in _NUMBER.finditer(text):
        scale = found[2] or found[3] or found[4]
        power = _SCALES[scale.lower()] if scale else 0
        plain = found[1].replace(",", "").replace("，", "")
        decimals = len(plain.partition(".")[2])
        yield Numeral(
            value=Decimal(plain).scaleb(power),
            start=found.start(),
            end=found.end(),
            step=Decimal(1).scaleb(power - decimals),
            plain=Decimal(plain) if scale else None,
        )


def spoken_in(text: str) -> Iterator[Numeral]:
    """The numbers in English words and Chinese numerals."""
    if not text.isascii():
        yield from _han_numerals(text)
    run: list[re.Match[str]] = []
    for found in _WORD.finditer(text):
        word = found[0].lower()
        is_number = word in _PLAIN or word in _SPOKEN_SCALES
        is_join = bool(run) and word in _JOINS
        is_near = not run or text[run[-1].end() : found.start()] in (" ", "-")
        if (is_number or is_join) and is_near:
            run.append(found)
            continue
        yield from _spoken(run)
        run = [found] if is_number else []
    yield from _spoken(run)


def _spoken(run: Sequence[re.Match[str]]) -> Iterator[Numeral]:
    """The number that the words of a run make together, and each of its words alone."""
    words = [found for found in run if found[0].lower() not in _JOINS]
    if all(found[0].lower() in _SPOKEN_SCALES for found in words):
        return  # of a number in digits, or of none: hundreds of files
    total = part = 0
    for found in words:
        word = found[0].lower()
        if word not in _SPOKEN_SCALES:
            part += _PLAIN[word]
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * _SPOKEN_SCALES[word], 0
    yield Numeral(Decimal(total + part), words[0].start(), words[-1].end())
    if len(words) > 1:  # “one, two” without the comma, or a number behind another
        for found in words:
            word = found[0].lower()
            if word in _PLAIN:
                yield Numeral(Decimal(_PLAIN[word]), found.start(), found.end())


def _han_numerals(text: str) -> Iterator[Numeral]:
    for found in _HAN_RUN.finditer(text):
        if any(char in _HAN_ONES for char in found[0]) or found[0][0] == "十":
            yield Numeral(Decimal(_han_value(found[0])), found.start(), found.end())


def _han_value(run: str) -> int:
    """二〇二六 digit by digit, 三百二十 by its units."""
    if not any(char in _HAN_UNITS or char in _HAN_GROUPS for char in run):
        return int("".join(str(_HAN_ONES[char]) for char in run))
    total = part = digit = 0
    for char in run:
        if char in _HAN_ONES:
            digit = _HAN_ONES[char]
        elif char in _HAN_UNITS:
            part, digit = part + (digit or 1) * _HAN_UNITS[char], 0
        else:
            total, part, digit = (total + part + digit) * _HAN_GROUPS[char], 0, 0
    return total + part + digit
