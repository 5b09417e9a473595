"""Reads the runs of plain Latin letters in a text: a quick test before slow patterns."""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_letters

from ctxcore.text.patterns import blanks_except

_LATIN = re.compile("[a-z]+")
_TO_LATIN = blanks_except(ascii_letters, is_lower=True)


@lru_cache(maxsize=512)  # a sentence is searched for many kinds of facts
def latin_words(text: str) -> frozenset[str]:
    """The runs of plain letters in `text`, in lower case: a quick test before slow patterns."""
    if text.isascii():
        return frozenset(plain_words(text))
    return frozenset(_LATIN.findall(text.lower()))


def plain_words(text: str) -> list[str]:
    """What `latin_words` finds in an ASCII text, in order; cheaper for one question."""
    return text.translate(_TO_LATIN).split()
