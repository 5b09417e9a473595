"""Splits messages into units, which are kept or left out as a whole, and scores their relevance.

A short message is one unit, since half an utterance is of little use; a longer one is cut at
lines, sentences or commas. The texts of a message's units, joined, are the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ctxcore.messages.values import Message, Role
from ctxcore.salience.traits import key_of, noted_chars, noted_key, noted_terms
from ctxcore.text.words import all_terms_of, terms_of, weights_of, words_of

UnitKind = Literal["talk", "call", "output"]

WHOLE_TOKENS = 120
"""A message up to this stays whole: dropping the weaker sentences of LoCoMo's messages of 35 tokens
loses .04 of the answers' words and more, at any budget."""
BYTES_PER_TOKEN = 4  # chosen: as in English text
WHOLE_BYTES = WHOLE_TOKENS * BYTES_PER_TOKEN
PROSE_CHARS = 280  # chosen: about two sentences, so that neither is quoted without the other
OUTPUT_CHARS = 80  # tau-bench: .78 of the next call's values at a quarter, .76 with 120
LEAST_PARAGRAPH_CHARS = 90  # chosen: about a sentence; a heading is shorter

_EMPTY_LINE = re.compile(r"\n\n+")
_SEPARATORS = tuple(
    (re.compile(signs), re.compile(pattern))
    for signs, pattern in (
        (r"[。！？；.!?}\]]", r"[。！？；]+[”’」』）]*|[.!?]+[\"')\]]*\s+|[}\]],\s*"),
        (r"[,;:，、：]", r"[,;:，、：]\s+|[，、：]|(?<=[\"\]}]),"),
    )
)
"""Weaker than the end of a line and stronger than other white space; each begins with a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A message, or a piece of a long one."""

    seq: int
    """The index of its message in the history; units of one message follow each other."""
    place: int = 0
    """Which piece of its message this is, from 0."""
    text: str
    """Empty where its note stands for it."""
    role: Role
    kind: UnitKind = "talk"
    tokens: int
    """Its tokens; for a piece, its share of the message's by bytes."""
    answers: bool | None = None
    """Whether the message before its own ended with a question; None where the unit before it in
    the sequence tells. A caller that leaves out units must set it, or answers lose salience."""
    note: str = ""
    """What `traits.dump_note` noted of its text; without one the text is read."""
    found_key: str | None = field(default=None, init=False, repr=False, compare=False)
    """Its key, once that was asked for."""

    @property
    def key(self) -> str:
        """What only units of the same text share."""
        if self.found_key is None:
            found = noted_key(self.note) if self.note else key_of(self.text)
            object.__setattr__(self, "found_key", found)
            return found
        return self.found_key

    @property
    def chars(self) -> int:
        """The length of its text."""
        return noted_chars(self.note) if self.note else len(self.text)


def split_message(
    message: Message,
    *,
    seq: int,
    tokens: int,
    is_whole: bool | None = None,
    prose_chars: int = PROSE_CHARS,
    paragraph_tokens: int | None = None,
) -> list[Unit]:
    """The units of `message`, which takes `tokens`; none if it is empty.

    `is_whole` tells whether its text and each call are one unit; None decides by the tokens. Pieces
    of talk have at most `prose_chars`; with `paragraph_tokens`, paragraphs up to that are whole.
    """
    kind: UnitKind = "output" if message.is_tool_result else "talk"
    texts: list[tuple[UnitKind, str]] = [(kind, message.text)]
    texts += [("call", f"{call.name} {call.arguments}") for call in message.calls]
    if not (tokens <= WHOLE_TOKENS if is_whole is None else is_whole):
        texts = [
            (kind, piece)
            for kind, text in texts
            for piece in pieces_of(text, kind, prose_chars, paragraph_tokens)
        ]
    texts = [(kind, text) for kind, text in texts if text]
    shares = shares_of(tokens, [len(text.encode("utf-8", "replace")) for _, text in texts])
    return [
        Unit(seq=seq, place=place, text=text, role=message.role, kind=kind, tokens=share)
        for place, ((kind, text), share) in enumerate(zip(texts, shares, strict=True))
    ]


def pieces_of(
    text: str,
    kind: UnitKind,
    prose_chars: int = PROSE_CHARS,
    paragraph_tokens: int | None = None,
) -> Iterator[str]:
    """`text` in pieces of a limited length, cut at the strongest separators.

    With `paragraph_tokens`, each of several paragraphs of talk that is no larger is one piece, and
    no piece has parts of two: a context sends neighbours of one role as the paragraphs of one
    message.
    """
    limit = prose_chars if kind == "talk" else OUTPUT_CHARS
    paragraphs = [text] if kind != "talk" or paragraph_tokens is None else _paragraphs(text)
    most_bytes = (paragraph_tokens or 0) * BYTES_PER_TOKEN if len(paragraphs) > 1 else 0
    for paragraph in paragraphs:
        if len(paragraph.encode("utf-8", "replace")) <= most_bytes:
            yield paragraph
        else:
            yield from _pieces(paragraph, limit)


def _paragraphs(text: str) -> list[str]:
    """`text` cut behind empty lines; what says too little alone goes with what follows."""
    found, start = list[str](), 0
    for end in (line.end() for line in _EMPTY_LINE.finditer(text)):
        if end - start >= LEAST_PARAGRAPH_CHARS:
            found.append(text[start:end])
            start = end
    return [*found, text[start:]] if start < len(text) else found


def _pieces(text: str, limit: int) -> Iterator[str]:
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int, end: int) -> int:
    least = start + (end - start) // 3  # chosen: a shorter piece says too little alone
    if (line := text.rfind("\n", least, end)) >= 0:
        return line + 1
    for sign, separator in _SEPARATORS:
        first = sign.search(text, least, end)
        if first and (cuts := [one.end() for one in separator.finditer(text, first.start(), end)]):
            return cuts[-1]
    return next((at for at in range(end, least, -1) if text[at - 1].isspace()), end)


def shares_of(tokens: int, sizes: Sequence[int]) -> list[int]:
    """`tokens` divided by size; each share is at least one, and they add up where that allows."""
    total, done, given = sum(sizes), 0, 0
    shares = []
    for size in sizes:
        done += size
        upto = round(tokens * done / total)
        shares.append(max(1, upto - given))
        given = max(upto, given)
    return shares


SATURATION: Final = 1.2  # k1 of BM25: a word used three times does not count three times
LENGTH: Final = 0.75  # b of BM25: a long text holds any word more easily
LEAST_SHARE: Final = 0.3
"""Of the score of a text with every word of the request: the least that the best text has to reach
for a relevance of 1. Chosen: most texts have only some of the words."""
LEAST_WEIGHT: Final = 1.0  # chosen: a word that a third of very many texts have asks for nothing
FULL_WEIGHT: Final = 5.0
"""Of a request's words, together, from which on it counts in full; chosen: one rare word."""
MOST_WORDS: Final = 10  # of a request, its rarest; chosen: no text has all words of a long one


def relevance(
    units_texts: Sequence[str], request_text: str, *, least_share: float = LEAST_SHARE
) -> list[float]:
    """The relevance of each text to the request, in [0, 1]; 0 where they share no word.

    With a `least_share` of 1 only a text that has all words of the request reaches 1.
    """
    read = (_said_in(text) for text in units_texts)
    return _relevance(read, request_text, least_share)


def units_relevance(
    units: Iterable[Unit], request_text: str, *, least_share: float = LEAST_SHARE
) -> list[float]:
    """The same of units."""
    read = (_noted_in(unit.note) if unit.note else _said_in(unit.text) for unit in units)
    return _relevance(read, request_text, least_share)


_Said: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The terms of a text in order, and those of them that it repeats, unless they are among these."""


def _said_in(text: str) -> _Said:
    return all_terms_of(words_of(text)), ()


def _noted_in(note: str) -> _Said:
    return noted_terms(note)


def _relevance(read: Iterable[_Said], request_text: str, least_share: float) -> list[float]:
    wanted = frozenset(terms_of(words_of(request_text)))
    counts, lengths, none = list[Counter[str]](), list[int](), Counter[str]()
    for terms, again in read:
        found = [term for term in terms if term in wanted]
        found += [term for term in again if term in wanted]
        counts.append(Counter(found) if found else none)
        lengths.append(len(terms) + len(again))
    held = Counter(wanted)  # the request has each of them too
    for hits in counts:
        held.update(hits.keys())
    weights = weights_of(held, len(counts) + 1)
    weights = {term: weight if weight >= LEAST_WEIGHT else 0.0 for term, weight in weights.items()}
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    scores = [
        _bm25(found, weights, length / mean) if found else 0.0
        for found, length in zip(counts, lengths, strict=True)
    ]
    rarest = sorted((weights[term] for term in wanted), reverse=True)[:MOST_WORDS]
    best = max([max(FULL_WEIGHT, sum(rarest)) * least_share, *scores])
    return [score / best if best else 0.0 for score in scores]


def _bm25(found: Counter[str], weights: dict[str, float], length: float) -> float:
    """The score of one text, whose length is given in mean lengths."""
    norm = SATURATION * (1 - LENGTH + LENGTH * length)
    return sum(
        weights[term] * count * (SATURATION + 1) / (count + norm) for term, count in found.items()
    )
