"""The words of a text: the terms that carry meaning, and how rare each is.

English words without grammar and small talk, Chinese as overlapping pairs of characters. A word
met before is not taken apart again, so reading is linear and mostly one dictionary look-up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from ctxcore.text.scripts import HAN, HAN_RUN
from ctxcore.text.stop_words import COMMON_WORDS, STOP_WORDS, WEAK_HAN, WEAK_PAIRS

_WORD = re.compile(r"\w+")  # what `_RUN` finds without Chinese, in half the time
_RUN = re.compile(f"[{HAN}]+|[^\\W{HAN}]+")

PRIOR_UNITS = 200
"""Units of imagined other talk behind every count, so that rarity means much the same in a short
conversation as in a long one."""
COMMON_WEIGHT = 0.5  # of a word everybody uses, beside one that names something
HAN_WEIGHT = 0.45  # of a pair of characters: a Chinese word makes about two


def all_terms_of(words: Iterable[str]) -> list[str]:
    """The informative terms in `words`, as often as they are said, in order."""
    return [term for word in words for term in _terms_in(word)]


def terms_of(words: Iterable[str]) -> tuple[str, ...]:
    """The informative terms in `words`, each once, in order: sums are the same everywhere."""
    return tuple(dict.fromkeys([term for word in words for term in _terms_in(word)]))


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case, and its runs of Chinese characters."""
    return (_WORD if text.isascii() else _RUN).findall(text.lower())


@lru_cache(maxsize=32_768)  # people use the same words again and again
def _terms_in(word: str) -> tuple[str, ...]:
    if HAN_RUN.match(word):
        return tuple(_han_terms(word))
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    weak = word in STOP_WORDS or (len(word) == 1 and word.isascii() and word.isalpha())
    return () if weak else (word,)


def _han_terms(run: str) -> Iterable[str]:
    if len(run) == 1:
        return () if run in WEAK_HAN else (run,)
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    return (pair for pair in pairs if not is_weak(pair))


def is_weak(word: str) -> bool:
    """Whether a word, or a pair of Chinese characters, says little in any conversation."""
    if word in STOP_WORDS or word in WEAK_PAIRS:
        return True
    return bool(HAN_RUN.fullmatch(word)) and all(letter in WEAK_HAN for letter in word)


def weigh(terms: Sequence[Collection[str]]) -> dict[str, float]:
    """What each term is worth: its idf over the units, less for words everybody uses."""
    counts: Counter[str] = Counter()
    for found in terms:
        counts.update(found)
    total = len(terms) + PRIOR_UNITS
    return {term: _standing(term) * math.log(total / count) for term, count in counts.items()}


def _standing(term: str) -> float:
    if term in COMMON_WORDS:
        return COMMON_WEIGHT
    return HAN_WEIGHT if HAN_RUN.match(term) else 1.0
