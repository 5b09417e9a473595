"""Splits messages and queries into search words, both in the same way.

Words are lower-cased without accents. An identifier is stored whole and by its parts; a run of Han
or Kana as overlapping pairs and its last character, so that any piece of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message
from ctxcore.text.languages import UNSPACED

INDEXED_CHARS = 50_000  # of one message; chosen: index size against words late in long outputs
_RUNS = re.compile(f"[{UNSPACED}々ー]+|[^\\W_{UNSPACED}]+(?:_[^\\W_{UNSPACED}]+)*")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VOICING = "\u3099\u309a"  # marks that make other syllables, not accents


def message_words(message: Message) -> str:
    """The search words of a message's text and calls, separated by spaces."""
    texts = [message.text, *(f"{call.name} {call.arguments}" for call in message.calls)]
    return " ".join(_words(_plain("\n".join(texts)[:INDEXED_CHARS])))


def phrases_of(query: str) -> list[list[str]]:
    """The phrases that a message must contain; the last word of each may be a prefix."""
    return [_phrase(run) for run in _RUNS.findall(_plain(query[:INDEXED_CHARS]))]


def excerpt_of(message: Message, query: str, *, chars: int = 160) -> str:
    """A part of `message` around the first word of `query` in it, on one line."""
    texts = [message.text, *(f"{call.name}({call.arguments})" for call in message.calls)]
    text = " ".join(printable("\n".join(texts)).split())
    places = [text.lower().find(run.lower()) for run in _RUNS.findall(query)]
    start = max(0, min((place for place in places if place >= 0), default=0) - chars // 4)
    piece = text[start : start + chars]
    return f"{'…' if start else ''}{piece}{'…' if start + chars < len(text) else ''}"


def _words(text: str) -> Iterator[str]:
    for run in _RUNS.findall(text):
        if _UNSPACED_START.match(run):
            yield from _pairs(run)
            yield run[-1]
            continue
        names = run.split("_")
        yield from (name.lower() for name in names)
        for name in names:
            parts = _PARTS.findall(name)
            if len(parts) > 1:
                yield from (part.lower() for part in parts)


def _phrase(run: str) -> list[str]:
    if _UNSPACED_START.match(run):
        return _pairs(run) or [run]
    parts = run.split("_") if "_" in run else _PARTS.findall(run) if run.isascii() else [run]
    return [part.lower() for part in parts]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _plain(text: str) -> str:
    """`text` with normalized characters, without accents and lone surrogates."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", printable(text))
    kept = (char for char in split if not unicodedata.combining(char) or char in _VOICING)
    return unicodedata.normalize("NFC", "".join(kept))
