"""Many lines are searched at once, and found by their numbers."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.patterns import one_of

LINES = st.lists(st.text(st.sampled_from("abAB İΣ"), max_size=8), min_size=1, max_size=8)


@given(LINES, st.text("ab ", min_size=1, max_size=3))
def test_lines_are_found_as_each_by_itself_would_be(lines: list[str], words: str) -> None:
    joined, own = JoinedLines(lines), [line.lower() for line in lines]
    holding = [at for at, line in enumerate(own) if words in line]

    assert list(joined.containing(words)) == holding
    assert joined.matching(re.compile(re.escape(words))) == set(holding)
    assert [joined.line(at) for at in range(len(own))] == own


def test_no_lines_are_one_empty_one() -> None:
    assert JoinedLines([]).text == ""
    assert list(JoinedLines([]).containing("a")) == []


@given(st.sets(st.sampled_from(["error", "err!", "eacces", "a.b", "a-b", "b", "失败"]), min_size=1))
def test_a_pattern_of_words_finds_these_and_nothing_else(words: set[str]) -> None:
    pattern = re.compile(one_of(words))

    assert all(pattern.fullmatch(word) for word in words)
    assert pattern.fullmatch("axb") is None
    assert pattern.fullmatch("erro") is None
