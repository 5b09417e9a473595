"""Drawing a message takes work as its length does, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pytest

from dashboard.context_page.marking import mark_missing
from dashboard.nesting import is_beyond_browsers
from dashboard.safe_markdown import marked_text, plain_label, safe_markdown, with_line_breaks
from tests.effort import slow_texts, superlinear_texts
from tests.hostile_texts import PAIRS, TEXTS

CHARS: Final = 8_000
MOST_TIMES_PROSE: Final = 20  # chosen: signs that are all escaped take 6, quadratic work hundreds
MOST_GROWTH: Final = 1.25  # one linear work has 1.21 beyond a cache; the rest is the clock's

WORKS: Final[Mapping[str, Callable[[str], object]]] = {
    "markdown": safe_markdown,
    "label": plain_label,
    "marked": partial(marked_text, words=["part 12", "[[", "!?"]),
    "nesting": is_beyond_browsers,
}
OTHERS: Final[Mapping[str, Callable[[str], object]]] = {
    "line breaks": with_line_breaks,
    "left out": partial(mark_missing, sent="a short text"),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_no_message_takes_many_times_the_work_of_prose(work: Callable[[str], object]) -> None:
    assert not slow_texts(work, TEXTS, CHARS, most=MOST_TIMES_PROSE)


@pytest.mark.measures
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_no_two_signs_in_turn_do(work: Callable[[str], object]) -> None:
    assert not slow_texts(work, PAIRS, CHARS, most=MOST_TIMES_PROSE)


@pytest.mark.measures
@pytest.mark.parametrize("work", [*WORKS.values(), *OTHERS.values()], ids=[*WORKS, *OTHERS])
def test_work_grows_as_messages_do(work: Callable[[str], object]) -> None:
    assert not superlinear_texts(work, TEXTS, 320_000, most=MOST_GROWTH)
