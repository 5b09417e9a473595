"""Ranges of characters, for the insides of `[…]` in patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, Literal, TypeAlias

from ctxcore.messages.values import Message

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The unified ideographs of the basic plane."""
HAN_RUN: Final = re.compile(f"[{HAN}]+")
UNSPACED: Final = f"\u3040-\u30ff\u31f0-\u31ff{HAN}\U00020000-\U000323af"
"""Han of all planes and Kana: scripts that put no blanks between words."""

Language: TypeAlias = Literal["en", "zh"]
LATIN_WORD = re.compile(r"[A-Za-z]+")
CHARS_READ = 4_000  # of one message, so that one long tool output does not decide


def detect_language(messages: Iterable[Message]) -> Language:
    """`zh` where Chinese characters outnumber Latin words, `en` otherwise.

    A Chinese word is about two characters, so a Chinese conversation full of English identifiers
    is still Chinese. Tool outputs do not count: they are seldom in the language people speak.
    """
    said = [message.text[:CHARS_READ] for message in messages if not message.is_tool_result]
    han = sum(sum(map(len, HAN_RUN.findall(text))) for text in said if not text.isascii())
    if not han:
        return "en"
    return "zh" if han > sum(len(LATIN_WORD.findall(text)) for text in said) else "en"


def simplified(words: str) -> str:
    """`words` in simplified characters, at their length: places in one are places in the other."""
    if words.isascii():
        return words
    try:
        found = _converter()(words)
    except UnicodeEncodeError:  # a lone surrogate, which is no character
        return "".join(map(_character, words))
    return found if len(found) == len(words) else "".join(map(_character, words))


@cache
def _character(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return character
    found = _converter()(character)
    return found if len(found) == 1 else character


@cache
def _converter() -> Callable[[str], str]:
    import opencc  # 20 ms, and only where somebody speaks Chinese

    convert: Callable[[str], str] = opencc.OpenCC("t2s").convert
    return convert
