"""Splits messages and queries into search words, both in the same way.

Words are lower-cased without accents. An identifier is stored whole and by its parts; a run of Han
or Kana as overlapping pairs and its last character, so that any piece of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from operator import add
from string import ascii_letters, digits
from typing import Final

from ctxcore.messages.canonical import printable
from ctxcore.messages.openai import only_text
from ctxcore.messages.values import Message
from ctxcore.text.known_words import KnownWords
from ctxcore.text.languages import UNSPACED
from ctxcore.text.patterns import blanks_except, late

# Of one message; chosen: index size against words late in long outputs.
INDEXED_CHARS: Final = 50_000
RUNS: Final = late(f"[{UNSPACED}々ー]+|[^\\W_{UNSPACED}]+(?:_[^\\W_{UNSPACED}]+)*")
"""What phrases come from: names, and runs of characters without blanks."""
_UNSPACED_START = late(f"[{UNSPACED}]")
_PARTS = late(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FOREIGN_RUN = late("([A-Za-z0-9_]*[^\x00-\x7f](?:[A-Za-z0-9_]|[^\x00-\x7f])*)")
_END = "\0"  # of a message among others
_TO_NAMES = blanks_except(ascii_letters + digits + "_")
_TO_NAMES_AND_ENDS = blanks_except(ascii_letters + digits + "_" + _END)
_CACHED_CHARS = 64  # of a name; chosen: longer ones are data, which do not repeat
# These forms are normal: ASCII and the common ideographs, which join no accent that is left.
_FOREIGN = late("[^\x00-\x7f\u3400-\u4dbf\u4e00-\u9fff]+")
_SIGNS = late(f"[^\x00-\x7f\\w{UNSPACED}]+")
_VOICING = "\u3099\u309a"  # marks that make other syllables, not accents


def message_words(message: Message, *, most: int = INDEXED_CHARS) -> str:
    """The search words of a message's text and calls up to `most` characters, with blanks."""
    return _words(_plain(_text_of(message)[:most]))


def words_of_each(messages: Iterable[Message]) -> tuple[list[str], set[str]]:
    """`message_words` of each message, in a third of the time, and all the words in them."""
    texts = [_plain(_text_of(message)[:INDEXED_CHARS]) for message in messages]
    are_plain = [text.isascii() and _END not in text for text in texts]
    plain, known = _plain_words_of_each([*compress(texts, are_plain)])
    following = iter(plain)
    each = [
        next(following) if is_plain else _words(text)
        for text, is_plain in zip(texts, are_plain, strict=True)
    ]
    others = (words for words, is_plain in zip(each, are_plain, strict=True) if not is_plain)
    return each, known.union(*map(str.split, others))


def phrases_of(query: str) -> list[list[str]]:
    """The phrases that a message must contain; the last word of each may be a prefix."""
    return [_phrase(run) for run in RUNS.findall(_plain(query[:INDEXED_CHARS]))]


def forms_in_index(forms: Iterable[str]) -> list[list[str]]:
    """The words of each of `forms`, each form once; without what no index holds, a sign say."""
    words = dict.fromkeys(tuple(form.lower().split()) for form in forms)
    return [[*form] for form in words if form and all(map(str.isalnum, form))]


def _text_of(message: Message) -> str:
    text = only_text(message)
    if text is not None:
        return text
    return "\n".join([message.text, *(f"{call.name} {call.arguments}" for call in message.calls)])


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
    return filter(None, map(_PARTS_OF.__getitem__, text.translate(_TO_NAMES).split()))


def _plain_words_of_each(texts: Sequence[str]) -> tuple[list[str], set[str]]:
    """The words of each ASCII text, and all of them once."""
    if not texts:
        return [], set()
    names = _END.join(texts).translate(_TO_NAMES_AND_ENDS).replace(_END, f" {_END} ").split()
    parts = {name: _PARTS_OF[name] for name in {*names}}
    words = " ".join(filter(None, map(parts.__getitem__, names)))
    return [text.strip() for text in words.split(_END)], {*" ".join(parts.values()).split()}


def _with_parts(name: str) -> str:
    """The words of a name: the name itself, its parts if it has several; empty for signs alone."""
    if name == _END or name.isdigit() or (name.isalpha() and name.islower()):
        return name
    return " ".join(_words_in(name))


_PARTS_OF = KnownWords(_with_parts)


def _words_in(text: str) -> list[str]:
    words: list[str] = []
    for run in RUNS.findall(text):
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
    """`text` with normalized characters, without accents, lone surrogates and foreign signs."""
    return text if text.isascii() else _FOREIGN.sub(_normalized, printable(text))


def _normalized(found: re.Match[str]) -> str:
    return _cached_normal(found[0]) if len(found[0]) <= _CACHED_CHARS else _normal(found[0])


def _normal(text: str) -> str:
    split = unicodedata.normalize("NFKD", text)
    kept = (char for char in split if not unicodedata.combining(char) or char in _VOICING)
    return _SIGNS.sub(" ", unicodedata.normalize("NFC", "".join(kept)))


_cached_normal = lru_cache(maxsize=4_096)(_normal)  # mostly marks and accented letters
