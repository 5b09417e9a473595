"""Splits messages and queries into search words, both in the same way.

Words are lower-cased without accents. An identifier is stored whole and by its parts; a run of Han
or Kana as overlapping pairs and its last character, so that any piece of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add
from string import ascii_letters, digits

from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message
from ctxcore.text.languages import UNSPACED
from ctxcore.text.patterns import blanks_except

INDEXED_CHARS = 50_000  # of one message; chosen: index size against words late in long outputs
_RUNS = re.compile(f"[{UNSPACED}々ー]+|[^\\W_{UNSPACED}]+(?:_[^\\W_{UNSPACED}]+)*")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FOREIGN_RUN = re.compile("([A-Za-z0-9_]*[^\x00-\x7f](?:[A-Za-z0-9_]|[^\x00-\x7f])*)")
_TO_NAMES = blanks_except(ascii_letters + digits + "_")
_CACHED_CHARS = 64  # of a name; chosen: longer ones are data, which do not repeat
# These forms are normal: ASCII and the common ideographs, which join no accent that is left.
_FOREIGN = re.compile("[^\x00-\x7f\u3400-\u4dbf\u4e00-\u9fff]+")
_SATURATION, _BY_LENGTH = 1.2, 0.75  # k1 and b of BM25, with the values that SQLite has for them
_VOICING = "\u3099\u309a"  # marks that make other syllables, not accents


def message_words(message: Message, *, most: int = INDEXED_CHARS) -> str:
    """The search words of a message's text and calls up to `most` characters, with blanks."""
    texts = [message.text, *(f"{call.name} {call.arguments}" for call in message.calls)]
    return _words(_plain("\n".join(texts)[:most]))


def phrases_of(query: str) -> list[list[str]]:
    """The phrases that a message must contain; the last word of each may be a prefix."""
    return [_phrase(run) for run in _RUNS.findall(_plain(query[:INDEXED_CHARS]))]


def scores(texts: Sequence[str], phrases: Sequence[Sequence[str]]) -> list[float]:
    """How well each of `texts`, search words with blanks, has the phrases; higher is better.

    BM25 without the rarity of words, for texts that all have every phrase.
    """
    spaced = [f" {text}" for text in texts]
    lengths = [text.count(" ") for text in spaced]
    usual = sum(lengths) / len(lengths)
    sought = [f" {' '.join(words)}" for words in phrases]
    return [
        sum(
            count * (_SATURATION + 1) / (count + _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * size))
            for count in map(text.count, sought)
        )
        for text, size in zip(spaced, (length / usual for length in lengths), strict=True)
    ]


def excerpt_of(message: Message, query: str, *, chars: int = 160) -> str:
    """A part of `message` around the first word of `query` in it, on one line."""
    texts = [message.text, *(f"{call.name}({call.arguments})" for call in message.calls)]
    text = " ".join(printable("\n".join(texts)).split())
    places = [text.lower().find(run.lower()) for run in _RUNS.findall(query)]
    start = max(0, min((place for place in places if place >= 0), default=0) - chars // 4)
    piece = text[start : start + chars]
    return f"{'…' if start else ''}{piece}{'…' if start + chars < len(text) else ''}"


def _words(text: str) -> str:
    """The words of normalized `text`, separated by blanks."""
    if text.isascii():
        return " ".join(_plain_words(text))
    pieces = _FOREIGN_RUN.split(text)
    pieces[::2] = [" ".join(_plain_words(piece)) for piece in pieces[::2]]
    pieces[1::2] = [" ".join(_words_in(piece)) for piece in pieces[1::2]]
    return " ".join(filter(None, pieces))


def _plain_words(text: str) -> Iterator[str]:
    """The words of an ASCII text."""
    names = text.translate(_TO_NAMES).split()
    is_usual = len(max(names, key=len, default="")) <= _CACHED_CHARS
    return filter(None, map(_cached_parts if is_usual else _with_parts, names))


def _with_parts(name: str) -> str:
    """The words of a name: the name itself, its parts if it has several; empty for signs alone."""
    return " ".join(_words_in(name))


_cached_parts = lru_cache(maxsize=32_768)(_with_parts)  # words repeat


def _words_in(text: str) -> list[str]:
    words: list[str] = []
    for run in _RUNS.findall(text):
        if _UNSPACED_START.match(run):
            words += [*_pairs(run), run[-1]]
            continue
        names = run.split("_")
        words += [name.lower() for name in names]
        for name in names:
            parts = _PARTS.findall(name)
            if len(parts) > 1:
                words += [part.lower() for part in parts]
    return words


def _phrase(run: str) -> list[str]:
    if _UNSPACED_START.match(run):
        return _pairs(run) or [run]
    parts = run.split("_") if "_" in run else _PARTS.findall(run) if run.isascii() else [run]
    return [part.lower() for part in parts]


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:]))


def _plain(text: str) -> str:
    """`text` with normalized characters, without accents and lone surrogates."""
    return text if text.isascii() else _FOREIGN.sub(_normalized, printable(text))


def _normalized(found: re.Match[str]) -> str:
    return _cached_normal(found[0]) if len(found[0]) <= _CACHED_CHARS else _normal(found[0])


def _normal(text: str) -> str:
    split = unicodedata.normalize("NFKD", text)
    kept = (char for char in split if not unicodedata.combining(char) or char in _VOICING)
    return unicodedata.normalize("NFC", "".join(kept))


_cached_normal = lru_cache(maxsize=4_096)(_normal)  # mostly marks and accented letters
