"""A counter whose numbers can be checked by hand: one token a word.

A message then takes 4 and its words, a call 13 and the words of name and arguments, a result 10,
its words and those of the function's name; the reply is primed with 3.
"""

from __future__ import annotations


class Words:
    """Counts every word as one token."""

    id = "words"
    is_exact = True

    def count(self, text: str) -> int:
        """The words of `text`."""
        return len(text.split())


def words(count: int, word: str = "word") -> str:
    """`count` words."""
    return " ".join([word] * count)
