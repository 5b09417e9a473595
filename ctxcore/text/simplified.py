"""Traditional Chinese read as simplified, in which all forms of rules are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


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
