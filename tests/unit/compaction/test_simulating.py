"""Walking through a recording: when the rules are looked at, and what is told of each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ctxcore.compaction.incremental_context import IncrementalContext
from ctxcore.compaction.simulation import Recording, Simulation, Walk
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import TriggerCode
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import assistant, call, user


class Says:
    """A summarizer that says the same each time, and remembers what it stood for."""

    name = "says"

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> str:
        """Few words."""
        self.requests.append(request)
        return f"so far, {len(self.requests)}"


def turns(count: int, size: int = 60) -> list[Message]:
    """A system prompt, then turns of a question, a tool call and an answer."""
    history = [text_message("system", "You help.")]
    for turn in range(count):
        asked, found = call(f"c{turn}", q=turn), tool_result(f"c{turn}", "row " * size)
        history += [user(f"question {turn}"), assistant("", asked), found]
        history.append(assistant(f"answer {turn}: " + "word " * size))
    return history


def walk(history: list[Message], usable: int = 1_000, **overrides: object) -> Simulation:
    """A walk under `default` with some fields changed."""
    return Walk(Recording(history), Policy(**overrides), max_tokens=usable).result()  # type: ignore[arg-type]  # fields by name


def test_each_recorded_answer_is_a_call_with_what_came_before_it() -> None:
    walked = walk(turns(2), 9_000)

    assert [one.at for one in walked.calls] == [2, 4, 6, 8]
    assert [one.turn for one in walked.calls] == [1, 1, 2, 2]
    sizes = [one.tokens for one in walked.calls]
    assert sizes == sorted(sizes)
    assert walked.sent_tokens == sum(sizes)
    assert walked.peak_tokens == sizes[-1]


@pytest.mark.parametrize("check_at", ["background", "after_answer", "before_message"])
def test_between_turns_the_rules_are_looked_at_once_a_turn_is_answered(check_at: str) -> None:
    walked = walk(turns(12), check_at=check_at)

    assert walked.compactions
    assert all((one.at - 1) % 4 == 0 for one in walked.compactions)


def test_before_each_call_they_are_looked_at_within_a_turn_too() -> None:
    walked = walk(turns(12), check_at="before_send")

    assert {(one.at - 1) % 4 for one in walked.compactions} & {1, 3}


def test_an_input_that_is_too_large_does_not_wait_for_the_end_of_the_turn() -> None:
    history = [user("look"), *turns(1, 300)[2:4], *turns(1, 300)[2:4], *turns(1, 300)[2:4]]
    history.append(assistant("done"))

    walked = walk(history, 1_000, oversize_ratio=None)

    assert walked.compactions[0].trigger.rule == TriggerCode.OVERFLOW
    assert walked.compactions[0].at < len(history)


def test_a_call_tells_what_was_compacted_since_the_one_before() -> None:
    walked = walk(turns(12))

    told = [one for made in walked.calls for one in made.compactions]
    assert told == list(walked.compactions)[: len(told)]
    assert len(told) >= len(walked.compactions) - 1


def test_whoever_is_asked_agrees() -> None:
    assert walk(turns(12), requires_confirmation=True).compactions


def test_what_a_shadow_policy_plans_changes_nothing() -> None:
    walked = walk(turns(12), is_shadow=True)

    assert not walked.compactions
    assert walked.over_calls == 0


def test_summaries_and_truncations_are_counted_apart() -> None:
    summarized = walk(turns(12))
    truncated = walk(turns(12), fold_as="truncation")

    assert (summarized.summaries > 0, summarized.truncations) == (True, 0)
    assert (truncated.summaries, truncated.truncations > 0) == (0, True)
    assert truncated.verdicts["dropped"] > 0


def test_a_given_summarizer_writes_the_summaries() -> None:
    says = Says()

    walked = Walk(Recording(turns(12)), Policy(), max_tokens=1_000, summarizer=says).result()

    assert walked.state.active is not None
    assert walked.state.active.summary == f"so far, {len(says.requests)}"


def test_a_call_whose_must_keep_does_not_fit_is_told_and_the_walk_goes_on() -> None:
    history = [text_message("system", "rule " * 400), *turns(2)[1:]]

    walked = walk(history, 300)

    assert walked.over_calls == len(walked.calls) == 4
    assert (walked.context, walked.final_tokens, walked.sent_tokens) == (None, 0, 0)


def test_one_window_holds_for_policies_with_smaller_and_larger_ones_of_their_own() -> None:
    recording = Recording(turns(1), model="gpt-4o")

    for window in (16_000, 300_000):
        budgets = [
            Walk(recording, Policy.preset(name), window_tokens=window).result().budget
            for name in Policy.presets()
        ]
        assert {budget.window_tokens for budget in budgets if budget} == {window}


def test_absolute_thresholds_shrink_with_a_smaller_window() -> None:
    recording, policy = Recording(turns(1)), Policy.preset("dual-threshold")

    walked = Walk(recording, policy, window_tokens=32_000).result()

    assert walked.budget is not None
    assert walked.budget.trigger_tokens == 12_500  # 50,000 of 128,000


def start_counting(built: list[None]) -> Callable[..., None]:
    """`IncrementalContext.start`, writing down each use."""
    start = IncrementalContext.start

    def counting(*args: Any) -> None:
        built.append(start(*args))

    return counting


def test_most_contexts_are_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[None] = []
    monkeypatch.setattr(IncrementalContext, "start", start_counting(built))

    walked = walk(turns(100), 20_000)

    assert len(walked.calls) == 200
    assert len(built) < 20
