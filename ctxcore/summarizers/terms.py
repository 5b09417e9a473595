"""Owns what a sentence is about: its informative terms, and how rare each is in what is folded.

English words, the parts of identifiers beside the whole, Chinese as overlapping pairs of
characters. A weak word (grammar, small talk) weighs next to nothing whatever its frequency.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from ctxcore.summarizers.language import HAN, HAN_RUN
from ctxcore.worth.weak_words import COMMON_WORDS, STOP_WORDS, WEAK_HAN

_LETTER = "0-9A-Za-z_\u00aa-\u1fff\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(f"([{HAN}]+)|[{_LETTER}]+(?:[-./@:'’+#=&?%~]+[{_LETTER}]+)*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")

PRIOR_LINES = 200
"""Lines of imagined other talk behind every count, so that rarity means much the same in a fold
of 20 messages as in one of 2,000, and a summary survives the next fold."""
COMMON_WEIGHT = 0.7  # of a word everybody uses, beside one that names something
HALF_WEAK = 0.2  # of a pair of Chinese characters one of which is grammar
HAN_ONCE = 0.35
"""Of a pair of Chinese characters seen in one line only: most of those cross a word boundary."""


class TermReader:
    """Reads texts of one request; a word met before is not taken apart again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def terms_of(self, text: str) -> tuple[str, ...]:
        """The informative terms of `text`, each once, in order of appearance."""
        found: dict[str, None] = {}
        for run in _RUN.finditer(text):
            terms = self._known.get(run[0])
            if terms is None:
                terms = tuple(_han_terms(run[0]) if run[1] else _word_terms(run[0]))
                self._known[run[0]] = terms
            for term in terms:
                found[term] = None
        return tuple(found)


def _han_terms(run: str) -> Iterable[str]:
    if len(run) == 1:
        return () if run in WEAK_HAN else (run,)
    pairs = (run[at : at + 2] for at in range(len(run) - 1))
    return (pair for pair in pairs if not (pair[0] in WEAK_HAN and pair[1] in WEAK_HAN))


def _word_terms(word: str) -> Iterable[str]:
    if word.isalpha() and (word.islower() or word.istitle()):
        yield from _plain(word)
        return
    word = word.replace("’", "'")
    if "'" in word:
        word = word.split("'")[0]
        yield from _plain(word)
        return
    yield word.lower()
    parts = _PART.findall(word)
    if len(parts) > 1:
        for part in parts:
            yield from _plain(part)


def _plain(word: str) -> Iterable[str]:
    stem = _stem(word.lower())
    if stem not in STOP_WORDS and not (len(stem) == 1 and stem.isascii()):
        yield stem


def _stem(word: str) -> str:
    """Without the plural `s`: enough to see that two sentences name the same thing."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def weigh(lines: Iterable[Iterable[str]]) -> dict[str, float]:
    """What each term is worth: its idf over `lines`, less for words everybody uses."""
    counts: Counter[str] = Counter()
    total = PRIOR_LINES
    for terms in lines:
        counts.update(set(terms))
        total += 1
    return {
        term: _standing(term, count) * math.log(total / count) for term, count in counts.items()
    }


def _standing(term: str, lines: int) -> float:
    if term in COMMON_WORDS:
        return COMMON_WEIGHT
    if not HAN_RUN.match(term):
        return 1.0
    half_weak = HALF_WEAK if term[0] in WEAK_HAN or term[-1] in WEAK_HAN else 1.0
    return half_weak * (HAN_ONCE if lines == 1 else 1.0)
