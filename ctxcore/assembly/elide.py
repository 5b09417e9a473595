"""Owns cutting a text to a number of tokens: head and tail stay, a marker says how much is gone.

And telling whether what is left of a text still says something.
"""

from __future__ import annotations

import re

from ctxcore.tokens.counter import TokenCounter

HEAD_SHARE = 0.6  # the start of a request says what it is about, the end what is asked
ELIDED = re.compile(r"\[… ([\d,]{1,13}) characters left out …\]")
"""The marker of what is gone, and how many characters that is."""
_MARKERS = re.compile(r'"…":\s*"[^"]*"|\[…[^\]]*\]|"…[^"]*"|…')
_FEW_CHARS = 4  # beside markers, less says nothing of an output
_ROUNDS = 12  # halving the error each time, 12 rounds settle texts of millions of characters


def elide(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The longest head and tail of `text` within `max_tokens`; empty if not even a marker fits."""
    total = counter.count(text)
    if total <= max_tokens:
        return text
    low, high, best = 0, max(0, min(len(text) - 1, max_tokens * len(text) // max(total, 1) * 2)), ""
    for _ in range(_ROUNDS):
        keep = (low + high + 1) // 2
        shown = elide_chars(text, keep)
        if counter.count(shown) <= max_tokens:
            low, best = keep, shown
        else:
            high = keep - 1
        if low >= high:
            break
    return best


def elide_chars(text: str, keep_chars: int) -> str:
    """`keep_chars` characters of the head and tail of `text`, and a marker between them."""
    if len(text) <= keep_chars:
        return text
    head = int(keep_chars * HEAD_SHARE)
    tail = keep_chars - head
    marker = _marker(len(text) - keep_chars)
    return f"{text[:head]}{marker}{text[len(text) - tail :]}"


def elide_within(text: str, max_chars: int) -> str:
    """`text` in at most `max_chars` characters, the marker included."""
    if len(text) <= max_chars:
        return text
    return elide_chars(text, max(0, max_chars - len(_marker(len(text)))))


def says_something(text: str) -> bool:
    """Whether a shortened output is more than a marker of what is gone."""
    return sum(map(str.isalnum, _MARKERS.sub("", text))) >= _FEW_CHARS


def _marker(gone_chars: int) -> str:
    return f"[… {gone_chars:,} characters left out …]"
