"""Owns the words that a search finds: of a message and of a query, made the same way.

Words are lower-cased without accents; an identifier is found whole and by its parts; a run of Han
or Kana is stored as overlapping pairs and its last character, so that any piece of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ctxcore.messages.canonical import printable
from ctxcore.messages.values import Message
from ctxcore.text.languages import UNSPACED

INDEXED_CHARS = 50_000  # of one message; what follows in a longer output is rarely searched for
_RUNS = re.compile(f"[{UNSPACED}々ー]+|[^\\W_{UNSPACED}]+(?:_[^\\W_{UNSPACED}]+)*")
_ISUNSPACED = re.compile(f"[{UNSPACED}]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VOICING = "\u3099\u309a"  # marks that make other syllables, not accents


def message_words(message: Message) -> str:
    """Everything `message` is found by: what it says, its calls and their arguments."""
    said = [message.text, *(f"{call.name} {call.arguments}" for call in message.calls)]
    return words_of("\n".join(said))


def words_of(text: str) -> str:
    """The words of `text`, separated by spaces; empty if it has none."""
    return " ".join(_words(_plain(text[:INDEXED_CHARS])))


def phrases_of(query: str) -> list[list[str]]:
    """What a message must hold to be found; the last word of each phrase may be a beginning."""
    return [_phrase(run) for run in _RUNS.findall(_plain(query[:INDEXED_CHARS]))]


def excerpt_of(message: Message, query: str, *, chars: int = 160) -> str:
    """A piece of `message` around the first word of `query` in it, on one line."""
    said = [message.text, *(f"{call.name}({call.arguments})" for call in message.calls)]
    text = " ".join(printable("\n".join(said)).split())
    places = [text.lower().find(run.lower()) for run in _RUNS.findall(query)]
    start = max(0, min((place for place in places if place >= 0), default=0) - chars // 4)
    piece = text[start : start + chars]
    return f"{'…' if start else ''}{piece}{'…' if start + chars < len(text) else ''}"


def _words(text: str) -> Iterator[str]:
    for run in _RUNS.findall(text):
        if _ISUNSPACED.match(run):
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
    if _ISUNSPACED.match(run):
        return _pairs(run) or [run]
    parts = run.split("_") if "_" in run else _PARTS.findall(run) if run.isascii() else [run]
    return [part.lower() for part in parts]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _plain(text: str) -> str:
    """`text` in one form of each character, without accents and lone surrogates."""
    if text.isascii():
        return text
    split = unicodedata.normalize("NFKD", printable(text))
    kept = (
        character
        for character in split
        if not unicodedata.combining(character) or character in _VOICING
    )
    return unicodedata.normalize("NFC", "".join(kept))
