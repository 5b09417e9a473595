"""Checks literally what a context still contains; no measure asks a model.

White space and case are levelled on both sides, nothing else: a quote counts as verbatim wherever
it stands, in a message or in a summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchmarks.fidelity.talks import words_of
from ctxcore.messages.values import JsonObject

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_WEAK = """
a about after all also am an and any are as at be because been before being both but by can
could did do does doing for from get got had has have having he her here him his how i if in
into is it its just like may me might more most my no not now of on one only or other our out
over own she should so some such than that the their them then there these they this those
through to too up us very was we were what when where which while who whom why will with would
yes you your the um uh yeah
"""
WEAK = frozenset(_WEAK.split())


class Said:
    """What `messages` say."""

    def __init__(self, messages: Iterable[JsonObject]) -> None:
        self.text = level("\n".join(map(words_of, messages)))
        self._words = content_words(self.text)

    def has(self, words: str) -> bool:
        """Whether `words` stand there."""
        return level(words) in self.text

    def has_value(self, value: str) -> bool:
        """Whether `value` stands there, as no part of a longer word or number."""
        return re.search(rf"(?<!\w){re.escape(level(value))}(?!\w)", self.text) is not None

    def share_of_sentences(self, words: str) -> float:
        """The share of `words` that stands there in whole sentences, by length."""
        found = [level(part) for part in sentences(words)]
        whole = sum(map(len, found))
        return sum(len(part) for part in found if part in self.text) / whole if whole else 0.0

    def share_of_words(self, words: str) -> float | None:
        """The share of the content words of `words` that stands there; None if it has none."""
        wanted = content_words(words)
        return len(wanted & self._words) / len(wanted) if wanted else None


def level(text: str) -> str:
    """`text` in lower case with single blanks."""
    return " ".join(text.lower().split())


def sentences(text: str) -> Sequence[str]:
    """The sentences and lines of `text`."""
    return [part for part in _SENTENCE.split(text) if part and part.strip()]


def content_words(text: str) -> set[str]:
    """Words without grammar; of Chinese each pair of neighbouring characters."""
    found: set[str] = set()
    for run in _TOKEN.findall(text.lower()):
        if re.match(f"[{_HAN}]", run):
            found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        elif run not in WEAK:
            found.add(run)
    return found
