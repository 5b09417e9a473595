"""Tells which values a query names whole, and which members it asks for.

Words are compared without their case, marks and joints, so that `azure_core` is azure-core; members
in other forms of a word too, so that "delivered" asks for `estimated_delivery`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Final

from ctxcore.text.languages import UNSPACED
from ctxcore.text.words import COMMON_WORDS, is_weak

LONGEST_NAME_CHARS: Final = 120  # chosen: a longer value is prose, which no query repeats
LEAST_NAME_CHARS: Final = 2  # chosen: a single letter or digit is in any query
LEAST_DIGITS: Final = 3  # chosen: a shorter number is a count, unless its key says otherwise
LEAST_STEM: Final = 4  # chosen: letters that two forms of a word share
LONGEST_ENDING: Final = 4  # chosen: letters by which two forms of a word differ: humid, humidity
BRIEF_WORDS: Final = 40  # chosen: a longer query names much that it only mentions
CLIFF: Final = 0.7  # chosen: of the best match; below it a member is not asked for

_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_WHOLE: Final = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}](?:[^\W{UNSPACED}]|[.-](?=[^\W_{UNSPACED}]))*"
)
_HUMP: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ARGUMENT: Final = re.compile(r'"\w{1,60}"\s*:')  # of the call: says what is known
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")


def spaced_words(text: str) -> str:
    """The words of `text` in lower case with one blank around each; a Han character is a word."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


class Query:
    """The words of a query, for comparing values and the names of members with it."""

    def __init__(self, text: str) -> None:
        wholes = [spaced_words(whole)[1:] for whole in _WHOLE.findall(text)]
        self._text = f" {''.join(wholes)}"
        self._edges = {0, *accumulate(map(len, wholes))}
        """The places in it of the blanks between identifiers."""
        self._words = frozenset(self._text.split())
        asking = _ARGUMENT.sub(" ", text)
        words = frozenset(_WORD.findall(f"{asking} {_HUMP.sub(' ', asking)}".lower()))
        self._forms: dict[str, list[str]] = {}
        for word in sorted(words):
            if not is_weak(word):
                self._forms.setdefault(_stem(word), []).append(word)
        self._pairs = _pairs(self._text.split())
        self.asked_words = cache(self._asked_words)
        self._has = cache(self._find)

    @property
    def is_brief(self) -> bool:
        """Whether it is short enough that what it repeats is what it is about."""
        return 0 < self._text.count(" ") <= BRIEF_WORDS

    def phrase(self, value: str, *, is_identifier: bool = False) -> str:
        """The words of a value that the query repeats whole; empty if it does not."""
        if not LEAST_NAME_CHARS <= len(value) <= LONGEST_NAME_CHARS:
            return ""
        if value.isdigit() and len(value) < LEAST_DIGITS and not is_identifier:
            return ""
        first = _WORD.search(value)
        if first is None or first[0].lower() not in self._words:  # most values
            return ""
        words = spaced_words(value)
        word = words.strip()
        is_telling = " " in word or not (is_weak(word) or word in COMMON_WORDS)
        return words if is_telling and self._has(words) else ""

    def _find(self, phrase: str) -> bool:
        """Whether the query has the phrase, not only as a part of an identifier."""
        at = self._text.find(phrase)
        while at >= 0 and not {at, at + len(phrase) - 1} <= self._edges:
            at = self._text.find(phrase, at + 1)
        return at >= 0

    def longest(self, phrases: Iterable[str]) -> list[str]:
        """Those of `phrases` that the query holds outside of longer ones."""
        text, found = self._text, list[str]()
        for phrase in sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase)):
            if phrase in text:
                found.append(phrase)
                text = text.replace(phrase, " | ")
        return found

    def _asked_words(self, key: str) -> frozenset[str]:
        """The words of a member's name that the query has, in any form."""
        words = _WORD.findall(_HUMP.sub(" ", key).lower())
        found = {
            word
            for word in words
            if any(_are_forms(word, own) for own in self._forms.get(_stem(word), ()))
        }
        return frozenset(found | (_pairs(words) & self._pairs))

    def asked(self, keys: Sequence[str]) -> list[int]:
        """The places of the members with these names that the query asks for; none if all are."""
        words = {at: those for at, key in enumerate(keys) if (those := self.asked_words(key))}
        counts = Counter(word for those in words.values() for word in those)
        whole = Counter(phrase for key in keys if (phrase := self._whole(key)))
        scores = {at: _rarity(those, counts, len(keys)) for at, those in words.items()}
        for at in scores:
            if phrase := self._whole(keys[at]):
                scores[at] += _rarity([phrase], whole, len(keys))
        best = max(scores.values(), default=0.0)
        found = [at for at, score in scores.items() if score >= CLIFF * best]
        return found if len(found) < len(keys) else []

    def _whole(self, key: str) -> str:
        return self.phrase(key, is_identifier=True)


def _rarity(terms: Iterable[str], counts: Mapping[str, int], total: int) -> float:
    return math.fsum(sorted(math.log(1 + total / counts[term]) for term in terms))


def _stem(word: str) -> str:
    """What two forms of a word certainly share: its first letters, of a short one without `s`."""
    return word[:LEAST_STEM] if len(word) > LEAST_STEM else word.removesuffix("s")


def _are_forms(one: str, other: str) -> bool:
    """Whether two words with the same `_stem` are forms of one."""
    if one == other or len(one) <= LEAST_STEM >= len(other):
        return True
    if not one.isalpha() or not other.isalpha():
        return False
    return max(len(one), len(other)) - _shared_letters(one, other) <= LONGEST_ENDING


def _shared_letters(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _pairs(words: Sequence[str]) -> frozenset[str]:
    """Every two characters of a script without blanks that stand side by side."""
    return frozenset(
        pair
        for one, other in pairwise(words)
        if _UNSPACED.match(one) and _UNSPACED.match(other) and not is_weak(pair := one + other)
    )
