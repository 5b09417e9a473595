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
from tests.effort import forget, growth, processor_seconds
from tests.hostile_texts import TEXTS

MODEL: Final = "gpt-4o"
QUERY: Final = "Why did the build of part 12 fail?"
CALL: Final[JsonObject] = {
    "id": "1",
    "type": "function",
    "function": {"name": "read", "arguments": "{}"},
}
CHARS: Final = 16_000
MOST_TIMES_PROSE: Final = 25  # chosen: lists in lists take 18, a text of quadratic work hundreds
LEAST_SECONDS: Final = 0.004  # of prose; chosen: what takes less is measured too roughly
MOST_GROWTH: Final = 1.2  # n log n up to 200,000 characters is 1.1; the rest is the clock's
TRIES: Final = 6  # a busy machine adds to the time of some runs


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


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_no_text_takes_many_times_the_work_of_prose(work: Callable[[str], object]) -> None:
    prose = processor_seconds(work, TEXTS["prose"](CHARS))
    slow = {
        name: times
        for name, make in TEXTS.items()
        if (times := times_prose(work, make(CHARS), prose)) > MOST_TIMES_PROSE
    }
    assert not slow


def times_prose(work: Callable[[str], object], text: str, prose_seconds: float) -> float:
    """How often the time of prose one run takes; if that is too much, the least of a few beside
    prose, since a busy machine slows both.
    """
    best = processor_seconds(work, text, runs=1) / max(LEAST_SECONDS, prose_seconds)
    for _ in range(TRIES if best > MOST_TIMES_PROSE else 0):
        forget()
        prose = processor_seconds(work, TEXTS["prose"](CHARS), runs=1)
        forget()
        taken = processor_seconds(work, text, runs=1)
        best = min(best, taken / max(LEAST_SECONDS, prose))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKS)
def test_work_grows_as_texts_do(name: str) -> None:
    superlinear = {
        text: grown for text in TEXTS if (grown := least_growth(name, text)) > MOST_GROWTH
    }
    assert not superlinear


def least_growth(name: str, text: str) -> float:
    """The least exponent of a few tries, or the first that is small enough."""
    least = float("inf")
    for _ in range(TRIES):
        least = min(least, growth(WORKS[name], TEXTS[text], 160_000))
        if least <= MOST_GROWTH:
            break
    return least
