"""Owns relevance: how much each of many texts is about a request, by the words they share.

BM25 over the terms of `worth.words`, so English and Chinese are read alike, at a cost linear in the
text. 1 is the best of the texts, unless even that says too little of what is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ctxcore.text.words import all_terms_of, terms_of, weigh, words_of

SATURATION: Final = 1.2  # BM25's k1: a word said three times is not three times as much about it
LENGTH: Final = 0.75  # BM25's b: a long text holds any word more easily
LEAST_SHARE: Final = 0.3
"""Of what a text with every word of the request scores: the best has to reach it for a 1."""
MOST_WORDS: Final = 10
"""No text says all of a long request: with so many of its rarest words it says what is asked."""


def relevance(
    units_texts: Sequence[str], request_text: str, *, least_share: float = LEAST_SHARE
) -> list[float]:
    """How relevant each text is to the request, in 0 … 1; 0 where they share no word.

    With a `least_share` of 1 only a text that says all that is asked is fully relevant.
    """
    asked = frozenset(terms_of(words_of(request_text)))
    counts, lengths = list[Counter[str]](), list[int]()
    for text in units_texts:
        terms = all_terms_of(words_of(text))
        counts.append(Counter([term for term in terms if term in asked]))
        lengths.append(len(terms))
    weights = weigh([*map(tuple, counts), tuple(asked)])  # the request says each of them too
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    scores = [
        _score(found, weights, length / mean) for found, length in zip(counts, lengths, strict=True)
    ]
    rarest = sorted((weights[term] for term in asked), reverse=True)[:MOST_WORDS]
    return _within_one(scores, sum(rarest) * least_share)


def _score(found: Counter[str], weights: dict[str, float], length: float) -> float:
    """BM25 of one text, whose length is told in mean lengths."""
    norm = SATURATION * (1 - LENGTH + LENGTH * length)
    return sum(
        weights[term] * count * (SATURATION + 1) / (count + norm) for term, count in found.items()
    )


def _within_one(scores: Sequence[float], least: float) -> list[float]:
    """`scores` as shares of the best, or of the `least` that a best one has to be."""
    best = max([least, *scores])
    return [score / best if best else 0.0 for score in scores]
