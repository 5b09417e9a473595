"""The target of a compression: a token budget, its counter, and the terms of the query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.languages import UNSPACED
from ctxcore.text.words import is_weak
from ctxcore.tokens.families import TokenCounter

CHARS_PER_TOKEN: Final = 16  # chosen: far above any prose, which has about four
SHORT_CHARS: Final = 256  # chosen: most lines, estimated in every round, are shorter
QUOTE_TOKENS: Final = 2  # of the two quotes of a string
# Pieces a byte-pair vocabulary rarely joins: measured within about 15 % of cl100k on JSON.
_PIECE: Final = re.compile(r"[A-Za-z]{1,8}|\d{1,3}|[!-/:-@\[-`{-~]{1,2}|[^\x00-\x7f]|\n")
_TERM: Final = re.compile(r"[^\W_](?:[\w.@#:/-]*[^\W_])?")
_PART: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]{{2,}}")
_UNSPACED_CHARS: Final = re.compile(f"[{UNSPACED}]+")
_PART_OR_END: Final = re.compile(rf"{_PART.pattern}|\n")
_UNSPACED_OR_END: Final = re.compile(rf"{_UNSPACED.pattern}|\n")
FEW_TERMS: Final = 64  # chosen: to look for so many takes less than to find all words


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """At most `max_tokens` as `counter` counts them, keeping what a query names."""

    max_tokens: int
    counter: TokenCounter
    query: str = ""
    terms: frozenset[str] = field(default_factory=frozenset)
    """Those of the query."""

    def fits(self, text: str) -> bool:
        """Whether `text` is within the budget."""
        return self.counter.count(text) <= self.max_tokens

    def may_fit(self, text: str) -> bool:
        """Whether `text` is short enough to be counted; a longer text is assumed not to fit."""
        return len(text) <= self.max_tokens * CHARS_PER_TOKEN

    def first_fitting(self, texts: Iterable[str]) -> str | None:
        """The first of `texts` within the budget, if any is."""
        return next((text for text in texts if self.fits(text)), None)


def most_fitting(
    render: Callable[[int], str], count: int, fits: Callable[[str], bool]
) -> tuple[int, str] | None:
    """The largest number of up to `count` whose rendered text fits, and that text."""
    low, high, best = 0, count, None
    while low < high:
        middle = (low + high + 1) // 2
        text = render(middle)
        if fits(text):
            low, best = middle, (middle, text)
        else:
            high = middle - 1
    return best


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` takes, fast enough for every leaf of an output."""
    return _estimate_short(text) if len(text) <= SHORT_CHARS else len(_PIECE.findall(text))


@lru_cache(maxsize=8192)  # names, values of records and lines recur
def _estimate_short(text: str) -> int:
    return len(_PIECE.findall(text))


def scalar_tokens(value: str | float | bool | None) -> int:
    """About how many tokens a scalar takes in JSON text."""
    if isinstance(value, str):
        return estimate_tokens(value) + QUOTE_TOKENS
    return 1 if value is None or isinstance(value, bool) else estimate_tokens(str(value))


def terms_of(text: str) -> frozenset[str]:
    """The words and identifiers of `text`, whole and in parts, lower-cased, without weak words.

    Scripts that put no blanks between words give every two neighbouring characters.
    """
    words = (word for word in _words(text) if len(word) > 1 or word.isdigit())
    return frozenset(word for word in words if not is_weak(word))


def shared_by_line(terms: frozenset[str], lines: JoinedLines) -> dict[int, set[str]]:
    """Those of `terms` that each line contains, by its number; lines without any are left out."""
    text, found = lines.text, dict[int, set[str]]()
    if not terms or (len(terms) <= FEW_TERMS and not any(map(text.__contains__, terms))):
        return found
    plain = frozenset(filter(str.isalnum, terms))
    at = 0
    for word in _PART_OR_END.findall(_without_unspaced(text)):
        if word == "\n":
            at += 1
        elif word in plain:
            found.setdefault(at, set()).add(word)
    at = 0
    for run in () if text.isascii() else _UNSPACED_OR_END.findall(text):
        if run == "\n":
            at += 1
        elif shared := plain.intersection(_pairs(run)):
            found.setdefault(at, set()).update(shared)
    whole = cache(lambda at: _whole(lines.line(at)))
    for term in terms - plain:  # of several parts
        for at in lines.containing(term):
            if term in whole(at):
                found.setdefault(at, set()).add(term)
    return dict(sorted(found.items()))


def _words(text: str) -> set[str]:
    words = _whole(text.lower())
    joined = " ".join(word for word in words if not word.isalnum())
    words.update(_PART.findall(joined))
    return words


def _whole(lowered: str) -> set[str]:
    """The words that are not parts of others, and the pairs of scripts without blanks."""
    words = set(_TERM.findall(_without_unspaced(lowered)))
    if not lowered.isascii():
        words.update(pair for run in _UNSPACED.findall(lowered) for pair in _pairs(run))
    return words


def _without_unspaced(text: str) -> str:
    """`text` without scripts that put no blanks: 订单D1的 has the word D1."""
    return text if text.isascii() else _UNSPACED_CHARS.sub(" ", text)


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))
