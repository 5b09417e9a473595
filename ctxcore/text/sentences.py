"""Splits a text into sentences, English and Chinese, without any language data.

No sentence is longer than `MAX_SENTENCE_CHARS`; a longer one is split at a clause, a space or hard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxcore.text.languages import HAN
from ctxcore.text.words import word_set

MAX_SENTENCE_CHARS = 320  # chosen: prose seldom has longer ones; logs and dumps do
MIN_CLAUSE_CHARS = 80  # chosen: a shorter clause says too little alone
GAP = "…"

_CLOSING = "\"'”’」』）)\\]*_`"
_END = re.compile(
    rf"""(?:[。！？；]+                                  # Chinese: always an end
         |{GAP}+(?=\s|$)                                # something was left out here
         |[.!?]+(?=[{_CLOSING}]*(?:\s|$|[{HAN}]))       # Latin: only before space, end or Han
         |;(?=\s))[{_CLOSING}]*
      |\n+""",
    re.VERBOSE,
)
_SIGN = re.compile(rf"[。！？；{GAP}.!?;\n]")  # of an end; a text has few
_CLAUSE_ENDS = ",，、：:)）"  # but before a digit
_ABBREVIATIONS = word_set("e.g i.e mr mrs ms dr prof vs cf fig approx inc ltd st al dept est")
_LAST_WORD = re.compile(r"[^\s(]{1,8}$")


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a text, and the separator before it."""

    text: str
    glue: str
    """`""`, `" "` or `"; "`: joins it to the sentence before it when both are quoted."""


def split_sentences(text: str) -> list[Span]:
    """The sentences of `text` in order, white space within them collapsed."""
    spans: list[Span] = []
    end_before = 0
    for start, end in _pieces(text):
        words = " ".join(text[start:end].split())
        if words:
            spans.append(Span(words, _glue(text[end_before:start], spans)))
            end_before = end
    return spans


def sentence_ends(text: str) -> list[int]:
    """The ends of the sentences of `text`, ascending."""
    return [end for _, end in sentence_places(text)]


def sentence_places(text: str) -> list[tuple[int, int]]:
    """Where each sentence of `text` starts and ends, without the white space around it."""
    places: list[tuple[int, int]] = []
    for start, end in _pieces(text):
        words = text[start:end].strip()
        if words:
            start = text.index(words[0], start)
            places.append((start, start + len(words)))
    return places


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _sentence_bounds(text):
        while end - start > MAX_SENTENCE_CHARS:
            cut = _clause_cut(text, start)
            yield start, cut
            start = _skip_space(text, cut, end)
        if start < end:
            yield start, end


def _sentence_bounds(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _ends(text):
        is_line_end = found[0][0] == "\n"
        if not is_line_end and _is_abbreviation(text, start, found):
            continue
        yield start, found.start() if is_line_end else found.end()
        start = _skip_space(text, found.end(), len(text)) if not is_line_end else found.end()
    yield start, len(text)


def _ends(text: str) -> Iterator[re.Match[str]]:
    """What may end a sentence, and short forms; looked for where a sign is, since that is fast."""
    sign = _SIGN.search(text)
    while sign:
        found = _END.match(text, sign.start())
        if found:
            yield found
        sign = _SIGN.search(text, found.end() if found else sign.end())


def _is_abbreviation(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the dot belongs to a short form, an initial or a list number such as `1.`."""
    if found[0] != ".":
        return False
    word = _LAST_WORD.search(text, max(start, found.start() - 9), found.start())
    if word is None:
        return False
    is_first = word.start() == start
    initial = len(word[0]) == 1 and word[0].isupper() and word[0] != "I"
    return word[0].lower() in _ABBREVIATIONS or initial or (is_first and word[0].isdigit())


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at] in " \t\r":
        at += 1
    return at


def _clause_cut(text: str, start: int) -> int:
    first, last = start + MIN_CLAUSE_CHARS, start + MAX_SENTENCE_CHARS
    end = last - 1
    while (at := max([text.rfind(sign, first, end) for sign in _CLAUSE_ENDS])) >= 0:
        if not text[at + 1].isdecimal():
            return at + 1
        end = at
    space = text.rfind(" ", first, last)
    return space if space > 0 else last


def _glue(between: str, before: list[Span]) -> str:
    if "\n" not in between:
        return " " if between else ""
    return " " if not before or before[-1].text[-1] in ".!?。！？；;:：…,，" else "; "
