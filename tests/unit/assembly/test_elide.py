"""Cutting a text: head and tail stay, and the marker says how much is gone."""

from __future__ import annotations

import pytest

from ctxcore.assembly.texts import elide, elide_chars
from tests.words import Words, words


def test_a_text_that_fits_is_left_alone() -> None:
    assert elide("one two three", 3, Words()) == "one two three"


def test_head_and_tail_stay_around_the_marker() -> None:
    shown = elide_chars("a" * 60 + "b" * 60, 10)

    assert shown == "aaaaaa[… 110 characters left out …]bbbb"


@pytest.mark.parametrize("limit", [8, 20, 50, 99])
def test_what_is_elided_fits_and_uses_its_room(limit: int) -> None:
    shown = elide(" ".join(str(n) for n in range(1_000)), limit, Words())

    assert limit - 2 <= Words().count(shown) <= limit
    assert shown.startswith("0 ")
    assert shown.endswith("999")


def test_nothing_is_left_where_not_even_the_marker_fits() -> None:
    assert elide(words(100), 2, Words()) == ""
