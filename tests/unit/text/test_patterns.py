"""Patterns that are written for speed find what plain ones do."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.text.patterns import longest_of

WORDS = st.text("ab一二-]^.", min_size=1, max_size=4)


@given(words=st.sets(WORDS, min_size=1, max_size=40), text=st.text("ab一二-]^. ", max_size=40))
def test_the_longest_of_many_words_is_found_at_each_place(words: set[str], text: str) -> None:
    plain = "|".join(sorted(map(re.escape, words), key=len, reverse=True))

    assert re.findall(longest_of(words), text) == re.findall(plain, text)


def test_words_of_more_beginnings_than_are_looked_at_at_once_are_found() -> None:
    words = [f"{chr(code)}{end}" for code in range(0x4E00, 0x4E40) for end in ("", "x", "xy")]

    assert re.findall(longest_of(words), "".join(words)) == words
