"""Reads messages for facts: bounded samples, and the sentences of their prose.

The insides of code, quotations, tagged blocks and tables are not the words of the speaker. They are
masked, so that positions stay and a sentence can be quoted verbatim.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from string import digits
from typing import Final, NamedTuple

from ctxcore.facts.speakers import spoken
from ctxcore.text.languages import simplified

# Chosen: bounds on the work for one message.
PROSE_CHARS: Final = 24_000  # of one message; a pasted book is read at both ends
OUTPUT_CHARS: Final = 6_000  # of one tool output, which can mostly be looked up again
SENTENCE_CHARS: Final = 600

BEFORE_DIGITS: Final = 56  # characters; chosen: a name and its verb before a number
AFTER_DIGITS: Final = 32  # characters; chosen: a unit and the word behind it

MASK: Final = "\x00"
_NO_WORDS: Final = MASK + " *_."

_FENCE = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(?:.*?\n)??[ \t]*\1[^\n]*$|```.*?(?:```|\Z)", re.M | re.S
)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|)[^\n]*$", re.M)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,60})(?:\s[^<>\n]{0,200})?>")
_OWN_TAG = re.compile(
    r"instruct|rule|guideline|constraint|preferenc|request|query|task|prompt|poli", re.I
)
_WRAPPER = re.compile(  # an application's mark around all that a person says
    r"\s*<(?P<tag>(?:user|human|customer|client|chat)?[_-]?(?:message|input|utterance|text|user"
    r"|human))\b[^<>\n]{0,200}>(?P<said>.*)</(?P=tag)>\s*",
    re.S,
)
_QUOTATION = re.compile(  # all forms begin with their mark: the search skips from one to the next
    r"\"[^\"\n]{2,400}\"|“[^”\n]{2,400}”|《[^》\n]{1,60}》|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|‘[^’\n]{2,200}’(?!\w)|'(?<![\w']')[^'\n]{2,200}'(?!\w)"
)
_OPENING_APOSTROPHE = re.compile(r"'(?<![\w']')")
_OPENING_MARKS = re.compile("[“《「『‘]")
_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(
    r"(?:[ \t]*(?:[-*•+·▪–]|\(?\d{1,2}[.)、]|[a-z][.)]|#{1,6}|\[[ x]\])(?:[ \t]+"
    r"|(?<=[、）)])))+(?=\S)"
)
_END = re.compile(  # one class of characters first: the search skips from one to the next
    r"[.!?…。！？；\n](?:(?<=\n)|(?<=[。！？；])[”’」』）)]*"
    r"|(?<!\b[A-Za-z]\.)(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<![MD]r\.)(?<!Mrs\.)[.!?…\"'”’)\]*_]*(?=\s)"
    r"|(?<=[!?…])(?![\w/&=#.!?…-])[”’」』）)]*)"
)
_KEY_WORD = re.compile(r"[^\W_]+")
_WRAPPED = re.compile(r"(?<=[a-z,])\n(?=[a-z])")


class Sentence(NamedTuple):
    """A sentence verbatim, what its speaker says in it, and the heading of its list."""

    text: str
    masked: str
    """The same with quoted words masked, and without the speaker's name before it."""
    words: str
    """`masked` in lower case, with plain apostrophes and simplified characters."""
    heading: str = ""
    before: str = ""
    """The sentence before it in the same paragraph, verbatim."""


def sample(text: str, most: int) -> str:
    """`text`, or of a longer one its head and its tail on lines of their own."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return (
        f"{text[:head].rpartition(' ')[0] or text[:head]}\n{text[head - most :].partition(' ')[2]}"
    )


def near_digits(text: str, most: int) -> str:
    """The surroundings of the digits in `text`, one piece a line; about `most` characters."""
    if text.isascii() and not any(map(text.__contains__, digits)):  # most prose
        return ""
    pieces: list[str] = []
    start = end = room = 0
    for found in _DIGITS.finditer(text):
        if found.start() - BEFORE_DIGITS > end:
            pieces.append(text[start:end])
            room += end - start
            start = found.start() - BEFORE_DIGITS
            if start > 0:  # not the end of a word
                start = text.find(" ", start, found.start()) + 1 or found.start()
        end = found.end() + AFTER_DIGITS
        if room + end - start > most:
            break
    pieces.append(text[start:end])
    return "\n".join(filter(None, pieces))


def one_line(text: str, most: int = 300) -> str:
    """`text` on one line, at most `most` characters of it, with a mark where it is cut."""
    words = " ".join(text[: most * 4].split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def statement_key(text: str) -> str:
    """Equal for statements of the same words."""
    return " ".join(_KEY_WORD.findall(text.lower()))[:200]


def own_words(text: str) -> str:
    """`text` at its length, with all words masked that are not the speaker's own."""
    masked = text
    if "```" in masked or "~~~" in masked:
        masked = _FENCE.sub(_hidden, masked)
    if ">" in masked or "|" in masked:
        masked = _QUOTED_LINE.sub(_hidden, masked)
    if "</" in masked:
        masked = _unwrapped(masked) or _without_tagged(masked)
    return _QUOTATION.sub(_hidden, masked) if _may_quote(masked) else masked


def _may_quote(text: str) -> bool:
    if '"' in text or _OPENING_APOSTROPHE.search(text):
        return True
    return not text.isascii() and bool(_OPENING_MARKS.search(text))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of prose, in order; wrapped lines are joined, bullets know their heading."""
    masked = own_words(text)
    if "\n" in masked:
        masked = _WRAPPED.sub(" ", masked)
    start, heading, before = 0, "", ""
    for end in [*(found.end() for found in _END.finditer(masked)), len(masked)]:
        raw = masked[start:end]
        if raw.endswith("\n") and not raw.strip():
            before = ""
        bullet = _BULLET.match(raw)
        words = (raw[bullet.end() :] if bullet else raw).lstrip(" \t\n\r")
        first, words = end - len(words), words.rstrip()
        start = end
        if not words.strip(_NO_WORDS) or len(words) > SENTENCE_CHARS * 2:
            continue
        above, verbatim = heading, text[first : first + len(words)]
        is_item = bool(bullet or (raw[0] == "\n" and _BULLET.match(raw.lstrip("\n"))))
        if words.rstrip("* _").endswith((":", "：")) or raw.lstrip().startswith("#"):
            heading = verbatim
        elif not is_item:
            heading = ""
        said = spoken(words)
        yield Sentence(verbatim, said, _plain(said), above if is_item else "", before)
        before = verbatim


def _plain(words: str) -> str:
    """`words` in lower case, with plain apostrophes and simplified characters."""
    lower = words.lower()
    return lower if lower.isascii() else simplified(lower.replace("’", "'"))


def _unwrapped(text: str) -> str:
    """`text` with blank lines for the mark that says a person speaks; empty without one."""
    found = _WRAPPER.fullmatch(text)
    if found is None or text.count(f"</{found['tag']}>") > 1:
        return ""
    begin, end = found.span("said")
    return "\n" * begin + text[begin:end] + "\n" * (len(text) - end)


def _hidden(found: re.Match[str]) -> str:
    words = found.group()
    if "\n" not in words:
        return MASK * len(words)
    return "".join("\n" if character == "\n" else MASK for character in words)


def _without_tagged(text: str) -> str:
    """`text` with the inside of tagged blocks masked, unless the tag says they are instructions."""
    tags = list(_TAG.finditer(text))
    closings: dict[str, list[int]] = {}
    for tag in tags:
        if tag[1]:
            closings.setdefault(tag[2], []).append(tag.end())
    parts, at = [], 0
    for tag in tags:
        ends = closings.get(tag[2], [])
        nth = bisect_right(ends, tag.end())
        if tag[1] or tag.start() < at or nth == len(ends) or _OWN_TAG.search(tag[2]):
            continue
        block = text[tag.start() : ends[nth]]
        hidden = "\n".join(MASK * len(line) for line in block.split("\n"))
        parts += [text[at : tag.start()], hidden]
        at = ends[nth]
    return "".join([*parts, text[at:]])
