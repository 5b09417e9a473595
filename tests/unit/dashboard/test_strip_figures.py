"""How far the strip says that the next compaction is."""

from __future__ import annotations

import pytest

from ctxcore.policy.values import Policy
from dashboard.chat_page.strip_figures import (
    MOST_TURNS,
    RECENT_TURNS,
    Distance,
    distance,
    turn_spans,
)

BUDGET = Policy(trigger_ratio=0.8, reserve_tokens=200).budget(window_tokens=1_200)


def test_the_budget_of_these_tests_triggers_at_800() -> None:
    assert BUDGET.trigger_tokens == 800


def test_the_pace_is_that_of_the_median_turn() -> None:
    assert distance(200, BUDGET, [100, 5_000, 250]) == Distance(state="turns", tokens=600, turns=3)


def test_a_part_of_a_turn_counts_as_one() -> None:
    assert distance(799, BUDGET, [100]).turns == 1


@pytest.mark.parametrize("tokens", [800, 9_000])
def test_at_the_trigger_and_above_it_compaction_is_due(tokens: int) -> None:
    assert distance(tokens, BUDGET, [100]) == Distance(state="due")


def test_without_turns_or_growth_there_is_no_estimate() -> None:
    assert distance(200, BUDGET, []) == Distance(state="tokens", tokens=600)
    assert distance(200, BUDGET, [0]) == Distance(state="tokens", tokens=600)


def test_a_far_trigger_is_not_counted_out() -> None:
    assert distance(200, BUDGET, [1]) == Distance(state="many", tokens=600, turns=MOST_TURNS)


def test_an_unknown_window_has_no_distance() -> None:
    assert distance(200, None, [100]) == Distance(state="unknown")


def test_nothing_is_foretold_where_nothing_compacts_by_itself() -> None:
    assert distance(200, BUDGET, [100], is_automatic=False) == Distance(state="off")


def test_a_turn_reaches_to_the_next_user_message() -> None:
    assert turn_spans([1, 4, 5], 9) == [(1, 3), (4, 4), (5, 9)]
    assert turn_spans([], 9) == []
    assert len(turn_spans(list(range(1, 40)), 40)) == RECENT_TURNS
