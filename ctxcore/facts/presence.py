"""Owns whether a fact's literal is in a text, so that a report can say verbatim, carried or lost.

Case, runs of blanks and the punctuation between words do not matter; a part of a longer number,
word or path is not the literal.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ctxcore.facts.values import Fact
from ctxcore.text.scripts import HAN

_WORD = re.compile(rf"[{HAN}]|[^\W_]+(?:[.,:/_@-](?=[^\W_])[^\W_]+)*|[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BLANKS = re.compile(r"\s+")
_ITEM = re.compile(r"\[[x ~-]\] ([^;]+)")
_SENTENCES = frozenset({"request", "instruction", "decision", "question", "error"})


def is_present(fact: Fact, text: str) -> bool:
    """Whether `text` says the literal of `fact`; of a named number, both on one line."""
    if fact.kind in _SENTENCES:
        return _as_words(fact.text) in _said_words(text)
    if fact.kind == "todo":
        return all(_as_words(item) in _said_words(text) for item in _ITEM.findall(fact.text))
    plain = _plain(text)
    literal = _plain(fact.text)
    if not literal or literal not in plain:
        return False
    if fact.kind == "number" and fact.subject:
        return any(_named_in(fact, line) for line in re.split(r"[\n。]", text))
    return bool(_bounded(literal).search(plain))


def _named_in(fact: Fact, line: str) -> bool:
    plain = _plain(line)
    name = _plain(fact.subject).split(" ")[-1]
    spoken = plain.replace("_", " ").replace("-", " ")
    is_named = name in plain or name.replace("_", " ") in spoken
    return is_named and bool(_bounded(_plain(fact.text)).search(plain))


def folded(text: str) -> str:
    """`text` in one case, 1,204 and 1204 the same number."""
    plain = text.casefold()
    return _THOUSANDS.sub("", plain) if "," in plain else plain


@lru_cache(maxsize=4)
def _plain(text: str) -> str:
    return _BLANKS.sub(" ", folded(text)).strip()


@lru_cache(maxsize=16)  # a few texts are asked for many facts
def _said_words(text: str) -> str:
    return _as_words(text)


def _as_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(folded(text.replace('…', ' '))))} "


def _bounded(literal: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if literal[0].isascii() and literal[0].isalnum() else ""
    after = r"(?![a-z0-9])(?!\.\d)" if literal[-1].isascii() and literal[-1].isalnum() else ""
    return re.compile(before + re.escape(literal) + after)
