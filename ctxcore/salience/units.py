"""Owns units: what is kept or left out as a whole when a conversation is folded by worth.

A short message is one unit, since half an utterance is of little use; a longer one is cut at
sentences, lines or commas. The texts of a message's units, joined, are the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ctxcore.messages.values import Message, Role
from ctxcore.text.words import all_terms_of, terms_of, weigh, words_of

UnitKind = Literal["talk", "call", "output"]

WHOLE_TOKENS = 120
"""A message up to this stays whole: dropping the weaker sentences of LoCoMo's messages of 35 tokens
loses .04 of the answers' words and more, at any budget."""
TALK_CHARS = 280  # about two sentences
OUTPUT_CHARS = 80  # tau-bench: .78 of the next call's values at a quarter, .76 with 120

_SEPARATORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n+",
        r"[。！？；]+[”’」』）]*|[.!?]+[\"')\]]*\s+|[}\]],\s*",
        r"[,;:，、：]\s+|[，、：]|(?<=[\"\]}]),",
        r"\s+",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A message, or a piece of a long one."""

    seq: int
    """The place of its message in the history; units of one message follow each other."""
    place: int = 0
    """Which piece of its message this is, from 0."""
    text: str
    role: Role
    kind: UnitKind = "talk"
    tokens: int
    """What keeping it costs; of a piece its share of the message by bytes."""
    answers: bool | None = None
    """Whether the message before its own ended with a question; None where the unit before it in
    the sequence tells. A caller that leaves out units must say so, or answers lose their worth."""


def split_message(
    message: Message, *, seq: int, tokens: int, is_whole: bool | None = None
) -> list[Unit]:
    """The units of `message`, whose tokens are `tokens`; one for each call, none if it is empty.

    With `is_whole` its text is one unit, or not, however long it is.
    """
    texts: list[tuple[UnitKind, str]] = []
    kind: UnitKind = "output" if message.is_tool_result else "talk"
    whole = tokens <= WHOLE_TOKENS if is_whole is None else is_whole
    if text := message.text:
        chars = OUTPUT_CHARS if kind == "output" else TALK_CHARS
        texts += [(kind, piece) for piece in ([text] if whole else _pieces(text, chars))]
    for call in message.calls:
        text = f"{call.name} {call.arguments}"
        texts += [("call", piece) for piece in ([text] if whole else _pieces(text, OUTPUT_CHARS))]
    shares = _shares(tokens, [len(text.encode("utf-8", "replace")) for _, text in texts])
    return [
        Unit(seq=seq, place=place, text=text, role=message.role, kind=kind, tokens=share)
        for place, ((kind, text), share) in enumerate(zip(texts, shares, strict=True))
    ]


def _pieces(text: str, limit: int) -> Iterator[str]:
    """`text` in pieces of at most `limit` characters, cut where the meaning is cut least."""
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int, end: int) -> int:
    least = start + (end - start) // 3  # a shorter piece says too little alone
    for separator in _SEPARATORS:
        cut = None
        for found in separator.finditer(text, least, end):
            cut = found.end()
        if cut is not None:
            return cut
    return end


def _shares(tokens: int, sizes: list[int]) -> list[int]:
    """`tokens` divided by size; they add up to it, and each gets at least one."""
    total, done, given = sum(sizes), 0, 0
    shares = []
    for size in sizes:
        done += size
        upto = round(tokens * done / total)
        shares.append(max(1, upto - given))
        given = max(upto, given)
    return shares


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
