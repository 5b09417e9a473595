"""Tells whether a text holds a fact.

`is_present` defines it; `SearchedText` answers the same for many facts about one text, and finds
most of them absent by an index of its words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from ctxcore.facts.values import STATEMENTS, Fact
from ctxcore.text.languages import HAN

_RUN = re.compile(r"[a-z0-9]+")
_LINE_END = re.compile(r"[\n。]")
_BLANK = re.compile(r"[\s。]")
_SENTENCES: Final = frozenset(
    {"request", "instruction", "decision", "setting", "question", "error"}
)


_INDEXED_CHARS: Final = 3_000  # chosen: an index of less costs more than searching it a few times


class SearchedText:
    """A text that is searched for many facts, with an index of its words and lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    def says(self, fact: Fact) -> bool:
        """Whether `is_present(fact, text)`."""
        if len(self.text) < _INDEXED_CHARS or fact.kind == "todo":
            return is_present(fact, self.text)
        runs = word_runs(_said(fact))
        if not all(run in self._lines_of for run in runs):
            return False
        if runs and is_on_a_line(fact):
            return any(is_present(fact, line) for line in self._lines_with(runs))
        return is_present(fact, self.text)

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE_END.split(self.text)

    @cached_property
    def _lines_of(self) -> dict[str, list[int]]:
        """The lines that hold each run of letters and digits."""
        places: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(self._lines):
            for run in set(word_runs(line)):
                places[run].append(at)
        return dict(places)

    def _lines_with(self, runs: Sequence[str]) -> Iterator[str]:
        """The lines that hold all of `runs`."""
        rarest, *others = sorted((self._lines_of[run] for run in set(runs)), key=len)
        common = set(rarest).intersection(*others)
        return (self._lines[at] for at in rarest if at in common)


def word_runs(text: str) -> list[str]:
    """The runs of letters and digits in `text`: a text with a literal has all of its runs."""
    return _RUN.findall(folded(text))


def is_on_a_line(fact: Fact) -> bool:
    """Whether `fact` can only be present on one line."""
    if fact.kind == "number" and fact.subject:
        return True
    return fact.kind not in (*_SENTENCES, "todo") and not _BLANK.search(fact.text)


_WORD = re.compile(rf"[{HAN}]|[^\W_]+(?:[.,:/_@-](?=[^\W_])[^\W_]+)*|[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LABEL = re.compile(r"^(?:[A-Z]{2,} ){1,3}[A-Z]{2,}: (?=\w)")
_BLANKS = re.compile(r"\s+")
_ITEM = re.compile(r"\[[x ~-]\] ([^;]+)")


def is_present(fact: Fact, text: str) -> bool:
    """Whether `text` has the literal of `fact`; of a named number, both on one line."""
    if fact.kind in _SENTENCES:
        return _words(_said(fact)) in _cached_words(text)
    if fact.kind == "todo":
        return all(_words(item) in _cached_words(text) for item in _ITEM.findall(fact.text))
    plain = _plain(text)
    literal = _plain(fact.text)
    if not literal or literal not in plain:
        return False
    if fact.kind == "number" and fact.subject:
        return any(_named_in(fact, line) for line in _LINE_END.split(text))
    return bool(_bounded(literal).search(plain))


def unlabelled(text: str) -> str:
    """`text` without a label in capitals before it, as in “HARD CONSTRAINT: …”.

    Of one word it may be a thing that the text is about: “AWS: …”.
    """
    return _LABEL.sub("", text)


def _said(fact: Fact) -> str:
    """The words by which a fact is found in a text."""
    return unlabelled(fact.text) if fact.kind in STATEMENTS else fact.text


def _named_in(fact: Fact, line: str) -> bool:
    plain = _plain(line)
    name = _plain(fact.subject).split(" ")[-1]
    spoken = plain.replace("_", " ").replace("-", " ")
    is_named = name in plain or name.replace("_", " ") in spoken
    return is_named and bool(_bounded(_plain(fact.text)).search(plain))


def folded(text: str) -> str:
    """`text` in lower case, numbers without thousands separators."""
    plain = text.casefold()
    return _THOUSANDS.sub("", plain) if "," in plain else plain


@lru_cache(maxsize=4)
def _plain(text: str) -> str:
    return _BLANKS.sub(" ", folded(text)).strip()


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(folded(text.replace('…', ' '))))} "


_cached_words = lru_cache(maxsize=16)(_words)  # a few texts are searched for many facts


def _bounded(literal: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if literal[0].isascii() and literal[0].isalnum() else ""
    after = r"(?![a-z0-9])(?!\.\d)" if literal[-1].isascii() and literal[-1].isalnum() else ""
    return re.compile(before + re.escape(literal) + after)
