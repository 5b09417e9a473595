"""Carrying out a plan: what a summarizer is given, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact
from ctxcore.errors import SummarizerError, UnknownWindowError
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, VerdictCode
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import assistant, call, user
from tests.words import words


class Says:
    """A summarizer that says what it is told to, and remembers what it was asked."""

    name = "says"

    def __init__(self, answer: Callable[[SummaryRequest], object] | str = "so far") -> None:
        self._answer = answer
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> str:
        """The answer."""
        self.requests.append(request)
        said = self._answer if isinstance(self._answer, str) else self._answer(request)
        return cast("str", said)  # some tests say something else

    @property
    def seen(self) -> str:
        """All that it was given to summarize."""
        return " ".join(message.text for request in self.requests for message in request.messages)


def raising(error: Exception) -> Says:
    """A summarizer that raises `error`."""

    def answer(request: SummaryRequest) -> object:
        raise error

    return Says(answer)


def remarks(count: int) -> list[Message]:
    """User messages of 100 tokens."""
    return [user(f"r{n} " + words(94)) for n in range(count)]


FAILING = [
    (raising(SummarizerError(problem="away")), "away"),
    (raising(TimeoutError("60 s")), "TimeoutError: 60 s"),
    (raising(UnknownWindowError(model="m")), "UnknownWindowError"),
    (Says(lambda request: None), "NoneType, not text"),
    (Says("  "), "empty"),
    (Says("Error: overloaded"), "an error"),
    (Says('{"name": "search", "arguments": {}}'), "a tool call"),
]


@pytest.mark.parametrize(("summarizer", "problem"), FAILING, ids=[case[1] for case in FAILING])
def test_a_failing_summarizer_changes_nothing_where_the_input_fits(
    summarizer: Says, problem: str
) -> None:
    result = compact(remarks(9), max_tokens=1_000, summarizer=summarizer)

    assert not result.applied
    assert problem in str(result.reason)
    assert result.state == CompactionState(failures=1)
    assert len(result.context.messages) == 1  # nine user messages, merged
    assert "r0" in str(result.context.messages)


@pytest.mark.parametrize(("summarizer", "problem"), FAILING, ids=[case[1] for case in FAILING])
def test_a_failing_summarizer_leaves_a_truncation_where_the_input_does_not_fit(
    summarizer: Says, problem: str
) -> None:
    result = compact(remarks(15), max_tokens=1_000, summarizer=summarizer)

    assert result.applied
    assert problem in str(result.reason)
    assert result.reason.code == OutcomeCode.TRUNCATED_INSTEAD
    assert result.summary == ""
    assert (result.state.failures, result.state.truncations) == (1, 1)
    assert result.context.verdict(3).reason.code == VerdictCode.TRUNCATED
    assert "earlier messages are not shown" in str(result.context.messages)


def test_the_next_summary_stands_for_what_was_truncated_too() -> None:
    first = compact(remarks(15), max_tokens=1_000, summarizer=raising(TimeoutError()))
    summarizer = Says()

    second = compact(remarks(24), max_tokens=1_000, summarizer=summarizer, state=first.state)

    assert second.applied
    assert "r3 " in summarizer.seen
    assert second.context.verdict(3).verdict == "summarized"
    assert second.state.truncations == 1


def test_a_summary_that_gains_nothing_is_replaced_by_a_truncation_where_one_is_needed() -> None:
    history = [user(words(500)), user("x " * 60), user("y " * 40), user(words(430))]
    policy = Policy(strategies=("fold_oldest",), recent_ratio=0)

    def longest(request: SummaryRequest) -> object:
        return words(request.max_tokens)

    result = compact(history, max_tokens=1_000, policy=policy, summarizer=Says(longest))

    assert result.before_tokens > 1_000
    assert result.applied


def test_the_last_user_message_is_summarized_with_the_rest() -> None:
    """It is shown while its calls run, but no longer once the next one comes."""
    calls = ((assistant("", call(f"c{n}")), tool_result(f"c{n}", words(80))) for n in range(12))
    history = [user("fix the bug"), assistant("done"), user("and use the blue theme")]
    history += [message for pair in calls for message in pair]
    summarizer = Says()

    policy = Policy(strategies=("fold_oldest",))
    result = compact(history, max_tokens=1_200, summarizer=summarizer, policy=policy)

    assert result.state.active is not None
    assert result.state.active.covered_until > 3
    assert "blue theme" in summarizer.seen
    assert "blue theme" in str(result.context.messages)


def test_a_short_goal_stays_verbatim_and_is_not_summarized() -> None:
    summarizer = Says()

    compact([user("fix the bug"), *remarks(10)], max_tokens=1_000, summarizer=summarizer)

    assert "fix the bug" not in summarizer.seen


def test_of_a_long_goal_the_summary_holds_what_the_excerpt_does_not() -> None:
    summarizer = Says()
    goal = user(words(700) + " the blue theme " + words(700))

    compact([goal, *remarks(30)], max_tokens=4_000, summarizer=summarizer)

    assert "blue theme" in summarizer.seen


def test_a_pin_that_was_taken_back_is_summarized_at_the_next_compaction() -> None:
    history = [user("go on"), user("never call me"), *remarks(10)]
    pinned = CompactionState(pinned=frozenset({1}))
    policy = Policy(strategies=("fold_oldest",))
    first = compact(history, policy=policy, max_tokens=1_000, summarizer=Says(), state=pinned)
    state = CompactionState(active=first.state.active)
    summarizer = Says("so far and more")

    second = compact(
        [*history, *remarks(8)],
        policy=policy,
        max_tokens=1_000,
        summarizer=summarizer,
        state=state,
    )

    assert second.applied
    assert "never call me" in summarizer.seen
    assert second.context.verdict(1).verdict == "summarized"


def test_an_excluded_message_is_not_summarized() -> None:
    summarizer = Says()
    history = [user("go on"), user("the password"), *remarks(10)]
    state = CompactionState(excluded=frozenset({1}))

    compact(history, max_tokens=1_000, summarizer=summarizer, state=state)

    assert "password" not in summarizer.seen


def test_a_summarizer_is_given_the_summary_so_far_and_its_limit() -> None:
    first = compact(remarks(10), max_tokens=1_000, summarizer=Says("one"))
    summarizer = Says("two")

    second = compact(remarks(18), max_tokens=1_000, summarizer=summarizer, state=first.state)

    (request,) = summarizer.requests
    assert request.previous == "one"
    assert 48 <= request.max_tokens <= 100  # 10 % of usable
    assert second.state.active is not None
    assert (second.state.active.generation, second.state.summaries) == (1, 2)
    assert second.summary == "two"


def test_a_summary_over_its_limit_is_cut_at_a_sentence_end() -> None:
    result = compact(remarks(10), max_tokens=1_000, summarizer=Says("A short sentence. " * 100))

    assert result.applied
    assert result.summary.endswith("sentence.")


def test_too_little_gain_is_refused_unless_a_person_asked() -> None:
    policy = Policy(min_gain_ratio=0.9)

    refused = compact(remarks(9), max_tokens=1_000, policy=policy, summarizer=Says())
    asked = compact(remarks(9), max_tokens=1_000, policy=policy, summarizer=Says(), force=True)

    assert refused.reason.code == OutcomeCode.LITTLE_GAIN
    assert refused.state.failures == 1
    assert asked.applied


def test_a_result_adds_up() -> None:
    result = compact(remarks(10), max_tokens=1_000, summarizer=Says())

    assert result.messages_removed == len(result.folded) > 0
    assert result.tokens_saved == result.before_tokens - result.after_tokens
    assert result.after_tokens == result.context.tokens
    assert result.summary_written
    assert [step.outcome.code for step in result.steps] == [OutcomeCode.DONE]


def test_a_summary_of_summaries_is_made_from_the_messages_again_after_three() -> None:
    history, state, previous = [user("go on")], None, []
    policy = Policy(strategies=("fold_oldest",), facts_ratio=None)

    class Notes:
        name = "notes"

        def summarize(self, request: SummaryRequest) -> str:
            previous.append((request.previous, len(request.messages)))
            return f"summary {len(previous)}"

    for _ in range(5):
        history += remarks(20)
        result = compact(
            history, policy=policy, max_tokens=1_000, summarizer=Notes(), state=state, force=True
        )
        state = result.state

    assert [said for said, _ in previous] == ["", "summary 1", "summary 2", "summary 3", ""]
    assert previous[4][1] > previous[3][1]
    assert state is not None
    assert state.active is not None
    assert state.active.generation == 0


def test_a_summary_that_a_caller_gives_is_carried_on_however_often() -> None:
    policy = Policy(strategies=("fold_oldest",), facts_ratio=None, rebuild_after=1)
    summarizer = Says("more")

    first = compact(
        [user("go on"), *remarks(20)],
        policy=policy,
        max_tokens=1_000,
        summarizer=summarizer,
        state="what was said before",
        force=True,
    )

    assert first.state.active is not None
    assert first.state.active.generation < 0


GUESSED = (
    "<previous_summary>\nWelcome to Lisbon, Alejandro!",
    "I'm sorry, but I can't summarize this.",
    "The order is ORD-9917, for Katarzyna Nowak in Lisbon.",
)


@pytest.mark.parametrize("text", GUESSED)
@pytest.mark.parametrize("max_tokens", [1_000, 500])
def test_quotes_take_the_place_of_a_summary_that_the_check_refuses(
    text: str, max_tokens: int
) -> None:
    result = compact(remarks(9), max_tokens=max_tokens, summarizer=Says(text))

    assert result.applied
    assert result.reason.code == OutcomeCode.QUOTED_INSTEAD
    assert result.steps[-1].outcome.code == OutcomeCode.QUOTED
    assert result.check is not None
    assert result.reason.facts["why"] == result.check.refused
    assert result.summary.startswith("user: r")
    assert result.state.active is not None
    assert (result.state.active.summarizer, result.state.failures) == ("extractive", 0)


def test_a_refused_summary_lists_what_its_source_lacks() -> None:
    result = compact(remarks(9), max_tokens=1_000, summarizer=Says(GUESSED[2]))

    assert result.check is not None
    assert [one.text for one in result.check.unsupported] == [
        "Katarzyna Nowak",
        "Lisbon",
        "ORD-9917",
    ]
    assert "ORD-9917" in str(result.reason)


def test_a_summary_within_the_share_is_used_and_its_additions_are_listed() -> None:
    policy = Policy(unsupported_ratio=1.0)

    result = compact(remarks(9), max_tokens=1_000, summarizer=Says(GUESSED[2]), policy=policy)

    assert result.summary == GUESSED[2]
    assert result.check is not None
    assert result.check.refused is None
    assert result.check.share == 1.0


def test_what_the_summary_so_far_and_the_facts_beside_it_say_is_no_addition() -> None:
    policy = Policy(unsupported_ratio=1.0)
    first = compact(remarks(9), max_tokens=1_000, summarizer=Says(GUESSED[2]), policy=policy)

    second = compact(remarks(18), max_tokens=1_000, summarizer=Says(GUESSED[2]), state=first.state)

    assert second.summary == GUESSED[2]
    assert second.check is not None
    assert second.check.unsupported == ()


def test_quotes_are_not_checked() -> None:
    assert compact(remarks(9), max_tokens=1_000).check is None
