"""What holds for every step of the ladder, whatever the history and the window."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.errors import BudgetError, SummarizerError
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Message
from ctxcore.policy.names import StrategyName
from ctxcore.policy.values import Policy
from ctxcore.summarizers.protocol import SummaryRequest
from tests.histories import sound_histories

LADDER = Policy.preset("ladder")
steps = st.sampled_from([*LADDER.strategies, "truncate"])
budgets = st.integers(min_value=300, max_value=3_000)


class Broken:
    """A summarizer that always fails."""

    name = "broken"

    def summarize(self, request: SummaryRequest) -> str:
        """Nothing."""
        raise SummarizerError(problem="the model is away")


@given(sound_histories(), budgets, steps)
@settings(max_examples=40)
def test_each_step_alone_is_within_budget_legal_and_keeps_calls_with_their_results(
    history: list[Message], window: int, step: StrategyName
) -> None:
    policy = LADDER.override(strategies=(step,), chunk_turns=2)
    try:
        result = compact(history, max_tokens=window, policy=policy)
    except BudgetError:
        return

    assert result.context.tokens <= window
    assert [lint(result.context.messages, provider) for provider in PROVIDERS] == [[]] * 4
    record = result.state.active
    if record is not None:
        assert result.after_tokens < result.before_tokens
        legal = set(cut_points(history))
        edges = {seq for seq in record.kept if seq - 1 not in record.kept and seq - 1 not in legal}
        assert edges == set()


@given(sound_histories(), budgets)
@settings(max_examples=30)
def test_every_step_of_a_plan_folds_at_least_what_the_one_before_folds(
    history: list[Message], window: int
) -> None:
    plan = plan_compaction(history, max_tokens=window, policy=LADDER)

    while plan is not None and plan.instead is not None:
        assert plan.instead.covered_until >= plan.covered_until
        plan = plan.instead


@given(sound_histories(), budgets)
@settings(max_examples=30)
def test_a_ladder_whose_summaries_all_fail_changes_nothing_while_the_input_fits(
    history: list[Message], window: int
) -> None:
    try:
        result = compact(history, max_tokens=window, policy=LADDER, summarizer=Broken())
    except BudgetError:
        return

    if result.before_tokens <= window:
        assert not result.applied
    assert result.summary == ""
