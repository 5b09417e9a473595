"""Detects Chinese and English, and converts Chinese characters to their simplified forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from string import ascii_letters
from typing import Final, Literal, TypeAlias

from ctxcore.messages.values import Message
from ctxcore.text.patterns import blanks_except

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The unified ideographs of the basic plane, for the inside of `[…]` in a pattern."""
HAN_RUN: Final = re.compile(f"[{HAN}]+")
UNSPACED: Final = f"\u3040-\u30ff\u31f0-\u31ff{HAN}\U00020000-\U000323af"
"""Han of all planes and Kana, which put no blanks between words; for the inside of `[…]`."""

Language: TypeAlias = Literal["en", "zh"]
_LATIN_WORD: Final = re.compile(r"[A-Za-z]+")
_TO_LATIN: Final = blanks_except(ascii_letters)
CHARS_READ = 4_000  # of one message; chosen: one long message must not decide the language


def has_han(text: str) -> bool:
    """Whether `text` has a Chinese character."""
    return not text.isascii() and HAN_RUN.search(text) is not None


def count_han(text: str) -> int:
    """The number of Chinese characters in `text`."""
    return 0 if text.isascii() else sum(map(len, HAN_RUN.findall(text)))


def count_latin(text: str) -> int:
    """The number of words of plain letters in `text`."""
    if text.isascii():
        return len(text.translate(_TO_LATIN).split())
    return len(_LATIN_WORD.findall(text))


def detect_language(messages: Iterable[Message], *, han: int = 0, latin: int = 0) -> Language:
    """`zh` where Chinese characters outnumber Latin words, `en` otherwise.

    A Chinese word is about two characters, so a Chinese conversation full of English identifiers
    is still Chinese. Tool outputs do not count: they are seldom in the language people speak.
    `han` and `latin` are counted already, in other messages.
    """
    texts = [message.text[:CHARS_READ] for message in messages if not message.is_tool_result]
    han += sum(map(count_han, texts))
    if not han:
        return "en"
    return "zh" if han > latin + sum(map(count_latin, texts)) else "en"


def simplified(text: str) -> str:
    """`text` in simplified characters; its length and the places in it stay the same."""
    if text.isascii():
        return text
    try:
        converted = _converter()(text)
    except UnicodeEncodeError:  # a lone surrogate, which is no character
        converted = ""
    return converted if len(converted) == len(text) else "".join(map(_simplified_character, text))


def both_scripts(text: str) -> tuple[str, ...]:
    """`text` as it is, in simplified and in traditional characters, each form once."""
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, simplified(text), _traditional(text))))


def _traditional(text: str) -> str:
    try:
        return _converter("s2t")(text)
    except UnicodeEncodeError:  # a lone surrogate, which is no character
        return text


@cache
def _simplified_character(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return character
    converted = _converter()(character)
    return converted if len(converted) == 1 else character


@cache
def _converter(direction: str = "t2s") -> Callable[[str], str]:
    import opencc  # takes 20 ms, and only Chinese texts need it

    convert: Callable[[str], str] = opencc.OpenCC(direction).convert
    return convert
