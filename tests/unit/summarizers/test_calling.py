"""A plain function as a summarizer, and what is refused as one before anything is done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import pytest

from ctxcore import open_store
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError, MessageError, SummarizerTypeError
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.summarizers.calling import SummarizerLike, to_summarizer
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.tokens.count import counter_for

TALK = [
    text_message("assistant" if at % 2 else "user", f"word {at} " + "so it goes on " * 30)
    for at in range(40)
]


def shortly(messages: Sequence[Message], previous: str) -> str:
    """A summary of its own."""
    return f"{previous} They talked, {len(messages)} times.".strip()


def test_a_function_writes_the_summary_and_gives_its_name() -> None:
    result = compact(TALK, max_tokens=1_500, summarizer=shortly)

    assert result.summary.startswith("They talked, ")
    assert result.state.active is not None
    assert result.state.active.summarizer == "shortly"


def test_a_function_is_given_the_summary_so_far() -> None:
    seen: list[str] = []

    def noting(messages: Sequence[Message], previous: str) -> str:
        seen.append(previous)
        return "They talked."

    first = compact(TALK[:30], max_tokens=1_500, summarizer=noting)
    compact([*TALK[:30], *TALK], max_tokens=1_500, summarizer=noting, state=first.state)

    assert seen == ["", "They talked."]


def takes_one(messages: object) -> str:
    return ""


async def later(messages: object, previous: str) -> str:
    return ""


class Nameless:
    """Has no name to store a summary under, and cannot be called."""

    def summarize(self, request: object) -> str:
        """Nothing."""
        return ""


class Later:
    """Is called like a function, and gives a coroutine."""

    async def __call__(self, messages: object, previous: str) -> str:
        """A text that nobody awaits."""
        return "They talked."


class SummarizesLater:
    """Has a name, and a method that gives a coroutine."""

    name = "later"

    async def summarize(self, request: object) -> str:
        """A text that nobody awaits."""
        return "They talked."


class TakesNothing:
    """Has a name, and a method that takes no request."""

    name = "nothing"

    def summarize(self) -> str:
        """A text of nothing."""
        return "They talked."


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (Later(), "coroutine"),
        (partial(later), "coroutine"),
        (SummarizesLater(), "coroutine"),
        (TakesNothing(), "other arguments"),
        ("gpt-4o", "got str"),
        (7, "got int"),
        (ExtractiveSummarizer, "the class ExtractiveSummarizer"),
        (Nameless(), "got Nameless"),
        (takes_one, "other arguments"),
        (partial(shortly, [], ""), "other arguments"),
        (later, "coroutine"),
    ],
)
def test_what_is_no_summarizer_is_refused_before_anything_is_done(wrong: object, told: str) -> None:
    given = cast("SummarizerLike", wrong)
    store = open_store("sqlite://")
    for use in (
        lambda: compact(TALK, max_tokens=1_500, summarizer=given),
        lambda: compact(TALK[:1], max_tokens=100_000, summarizer=given),
        lambda: Walk(Recording(TALK), Policy(), max_tokens=1_500, summarizer=given),
        lambda: ContextEngine(store, summarizer=given),
    ):
        with pytest.raises(SummarizerTypeError, match=told) as caught:
            use()
        assert isinstance(caught.value, TypeError)
        assert isinstance(caught.value, ContextError)
    store.close()


def test_summarizers_stay_as_they_are_and_other_callables_have_a_name() -> None:
    quotes = ExtractiveSummarizer(counter_for(None))

    assert to_summarizer(quotes) is quotes
    assert to_summarizer(partial(shortly)).name == "partial"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda messages, previous: b"They talked.", "bytes"),
        (lambda messages, previous: ["They talked."], "list"),
        (lambda messages, previous: 7, "int"),
        (lambda messages, previous: later(messages, previous), "coroutine"),
    ],
)
def test_a_value_that_is_no_text_raises_and_nothing_is_left_out(
    given: SummarizerLike, told: str
) -> None:
    with pytest.raises(SummarizerTypeError, match=f"it is {told}, not text"):
        compact(TALK, max_tokens=1_500, summarizer=given)


@pytest.mark.parametrize("focus", [7, b"port", ["port"]])
def test_a_focus_is_a_text(focus: object) -> None:
    wrong = cast("str", focus)
    store = open_store("sqlite://")
    engine = ContextEngine(store)
    session = engine.create_session("t")
    for use in (
        lambda: compact(TALK[:1], max_tokens=100_000, focus=wrong),
        lambda: plan_compaction(TALK, policy=Policy(), max_tokens=1_500, focus=wrong),
        lambda: engine.propose(session.id, focus=wrong),
    ):
        with pytest.raises(MessageError, match=r"focus: expected text"):
            use()
    store.close()
