"""Finds the messages of a list by the words of their index, without a database.

Messages are read a page at a time, from the newest page back, when a search first comes there; a
page that has a word is searched as one text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from ctxcore.messages.values import Message
from ctxcore.recalling.index_words import forms_in_index, words_of_each

_PAGE_MESSAGES: Final = 256  # chosen: few pages to ask for a word, each soon searched
_BETWEEN: Final = " \0 "  # of the words of two messages, which make no phrase together


class WordPlaces:
    """The messages of a list, numbered from 1, by their words."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._pages: dict[int, _Page] = {}

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> list[Sequence[int]]:
        """For each term the newest messages that have one of its forms; see `HistoryView`."""
        last = min(before - 1, len(self._messages))
        found: list[Sequence[int]] = []
        for forms in terms:
            needles = [(words, f" {' '.join(words)} ") for words in forms_in_index(forms)]
            found.append(self._newest(needles, last, max(0, most)))
        return found

    def _newest(
        self, needles: Sequence[tuple[Sequence[str], str]], last: int, most: int
    ) -> list[int]:
        """The newest of messages 1 … `last` that have one of `needles`, at most `most`."""
        newest: list[int] = []
        for number in range((last - 1) // _PAGE_MESSAGES, -1, -1):
            page = self._page(number)
            sought = [needle for words, needle in needles if page.has_all(words)]
            first = number * _PAGE_MESSAGES + 1
            newest += [first + at for at in page.having(sought, last - first)]
            if len(newest) >= most:
                break
        return newest[:most]

    def _page(self, number: int) -> _Page:
        page = self._pages.get(number)
        if page is None:
            first = number * _PAGE_MESSAGES
            page = self._pages[number] = _Page(self._messages[first : first + _PAGE_MESSAGES])
        return page


class _Page:
    """The words of some messages, as one text."""

    __slots__ = ("_found", "_starts", "_text", "_words")

    def __init__(self, messages: Sequence[Message]) -> None:
        texts, self._words = words_of_each(messages)
        self._text = f" {_BETWEEN.join(texts)} "
        lengths = (len(text) + len(_BETWEEN) for text in texts)
        self._starts = array("q", accumulate(lengths, initial=0))
        self._found: dict[str, array[int]] = {}
        """Every place of a needle, oldest first: a conversation asks for the same words again."""

    def has_all(self, words: Sequence[str]) -> bool:
        """Whether each of `words` is in some message."""
        return self._words.issuperset(words)

    def having(self, needles: Sequence[str], last: int) -> list[int]:
        """The messages 0 … `last` that have one of `needles`, newest first, each once."""
        found: Sequence[int] = ()
        if len(needles) == 1:
            found = self._places(needles[0])
        elif needles:
            found = sorted(set().union(*map(self._places, needles)))
        return list(reversed(found[: bisect_right(found, last)]))

    def _places(self, needle: str) -> array[int]:
        """The messages that have `needle`, oldest first."""
        places = self._found.get(needle)
        if places is None:
            places = self._found[needle] = array("H", self._find(needle))
        return places

    def _find(self, needle: str) -> Iterator[int]:
        starts, text = self._starts, self._text
        found = text.find(needle)
        while found >= 0:
            at = bisect_right(starts, found) - 1
            yield at
            found = text.find(needle, starts[at + 1])
