"""Work grows as texts do, also with texts made of what patterns and parsers look at twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pytest

from ctxcore import compress, count_messages, fit
from ctxcore.facts.finding import find_facts
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.text.sentences import split_sentences
from tests.effort import slow_texts, superlinear_texts
from tests.hostile_texts import PAIRS, TEXTS

MODEL: Final = "gpt-4o"
QUERY: Final = "Why did the build of part 12 fail?"
CALL: Final[JsonObject] = {
    "id": "1",
    "type": "function",
    "function": {"name": "read", "arguments": "{}"},
}
CHARS: Final = 8_000
MOST_TIMES_PROSE: Final = 25  # chosen: lists in lists take 18, a text of quadratic work hundreds
MOST_GROWTH: Final = 1.2  # n log n up to 200,000 characters is 1.1; the rest is the clock's


def messages_of(output: str) -> list[JsonObject]:
    """A question, a call and its output."""
    return [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": output},
    ]


WORKS: Final[Mapping[str, Callable[[str], object]]] = {
    "compress": partial(compress, query=QUERY, model=MODEL),
    "lossless": partial(compress, lossless=True, model=MODEL),
    "fit": lambda output: fit(messages_of(output), max_tokens=500, model=MODEL),
    "count": lambda output: count_messages(messages_of(output), model=MODEL),
    "sentences": split_sentences,
    "facts": lambda output: find_facts(parse_messages(messages_of(output))[-1]),
}


def test_there_are_over_a_hundred_of_the_length_that_was_asked_for() -> None:
    assert len(TEXTS) > 150
    assert all(8_000 < len(make(10_000)) < 16_000 for make in TEXTS.values())


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(work, id=name, marks=[pytest.mark.slow] if name == "fit" else [])
        for name, work in WORKS.items()
    ],
)
def test_no_text_takes_many_times_the_work_of_prose(work: Callable[[str], object]) -> None:
    assert not slow_texts(work, TEXTS, CHARS, most=MOST_TIMES_PROSE)


@pytest.mark.measures
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_no_two_signs_in_turn_do(work: Callable[[str], object]) -> None:
    assert not slow_texts(work, PAIRS, CHARS, most=MOST_TIMES_PROSE)


@pytest.mark.measures
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_work_grows_as_texts_do(work: Callable[[str], object]) -> None:
    assert not superlinear_texts(work, TEXTS, 160_000, most=MOST_GROWTH)
