"""What is learned from reported usage, and how a factor scales a budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.fitting import fit
from ctxcore.compaction.advising import check_tool_safety, recommend
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.tokens.factors import HIGH, LOW, NO_FACTOR, is_cut, learn_factor

HISTORY: list[JsonObject] = [
    {"role": "assistant" if at % 2 else "user", "content": f"{at}: " + "some plain words " * 12}
    for at in range(60)
]


def test_the_median_of_ratios_is_learned_with_the_error_of_nine_in_ten() -> None:
    pairs = [(1_000, reported) for reported in (1_100, 1_090, 1_110, 1_100, 1_100)]

    learned = learn_factor(pairs)

    assert (learned.value, learned.calls) == (1.1, 5)
    assert learned.error_ratio == pytest.approx(0.0091, abs=1e-4)


def test_two_calls_teach_nothing() -> None:
    assert learn_factor([(1_000, 1_200), (1_000, 1_200)]) == NO_FACTOR


@pytest.mark.parametrize("wrong", [(1_000, 0), (1_000, 1), (1_000, 90_000), (0, 12), (40, 60)])
def test_wrong_reports_and_small_inputs_are_ignored(wrong: tuple[int, int]) -> None:
    right = [(1_000, 1_050)] * 3

    assert learn_factor([wrong] * 9 + right) == learn_factor(right)


def test_only_the_newest_calls_count() -> None:
    assert learn_factor([(1_000, 1_200)] * 20 + [(1_000, 800)] * 80).value == 1.2


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), max_size=60))
def test_whatever_is_reported_the_factor_stays_in_bounds(pairs: list[tuple[int, int]]) -> None:
    learned = learn_factor(pairs)

    assert LOW - 1e-4 <= learned.value <= HIGH + 1e-4
    assert (learned.error_ratio is None) == (learned.calls == 0)


def test_a_cut_input_is_one_of_which_far_less_is_reported() -> None:
    assert is_cut(8_000, 2_048, 1.0)
    assert not is_cut(8_000, 7_000, 1.0)
    assert not is_cut(900, 100, 1.0)  # too small to be sure
    assert not is_cut(8_000, 5_000, 0.8)  # 6,400 are expected
    assert not is_cut(8_000, 1, 1.0)  # no window is that small


def test_a_larger_factor_is_no_reason_for_an_alarm() -> None:
    assert not is_cut(8_000, 7_800, 1.9)  # learned of Chinese, and this one is English


def test_a_budget_is_divided_by_the_factor_and_the_reserve_is_not() -> None:
    plain = Policy().budget(window_tokens=10_000)
    scaled = Policy().budget(window_tokens=10_000, count_factor=1.25)

    assert scaled.usable_tokens == int(plain.usable_tokens / 1.25)
    assert scaled.reserve_tokens == plain.reserve_tokens
    assert scaled.window_tokens == scaled.usable_tokens + scaled.reserve_tokens
    assert scaled.trigger_tokens < plain.trigger_tokens


@pytest.mark.parametrize("preset", Policy.presets())
@pytest.mark.parametrize("factor", [0.8, 1.3])
def test_every_threshold_of_every_preset_is_divided(preset: str, factor: float) -> None:
    policy = Policy.preset(preset)
    for plain, scaled in (
        (policy.budget(window_tokens=w), policy.budget(window_tokens=w, count_factor=factor))
        for w in (20_000, 80_000, 200_000)
    ):
        for name in ("usable_tokens", "history_tokens", "trigger_tokens", "target_tokens"):
            true = getattr(scaled, name) * factor
            assert true == pytest.approx(getattr(plain, name), rel=0.1), name
    plain, scaled = (policy.input_budget(9_000, count_factor=by) for by in (1.0, factor))
    assert scaled.target_tokens * factor == pytest.approx(plain.target_tokens, rel=0.1)


def test_fit_keeps_the_true_size_within_the_budget() -> None:
    plain, scaled = (
        fit(HISTORY, max_tokens=1_500, model="claude-opus-4-8", count_factor=factor)
        for factor in (1.0, 1.3)
    )

    assert plain.tokens * 1.3 > 1_500
    assert scaled.tokens * 1.3 <= 1_500


def test_compact_plans_within_the_scaled_budget() -> None:
    policy = Policy()
    whole = fit(HISTORY, max_tokens=100_000, model="claude-opus-4-8").tokens
    budget = int(whole * 1.3)  # below its trigger, but not with the factor

    assert not compact(HISTORY, max_tokens=budget, model="claude-opus-4-8").applied
    result = compact(HISTORY, max_tokens=budget, model="claude-opus-4-8", count_factor=1.3)
    plan = plan_compaction(
        HISTORY, policy=policy, max_tokens=budget, model="claude-opus-4-8", count_factor=1.3
    )

    assert result.applied
    assert plan is not None
    assert plan.before_tokens == whole  # counts are never scaled
    assert result.context.tokens * 1.3 <= budget


def test_recommend_compares_the_true_size() -> None:
    whole = fit(HISTORY, max_tokens=100_000, model="claude-opus-4-8").tokens
    budget = int(whole * 1.3) + 2_000  # the design keeps these free for the reply

    assert not recommend(HISTORY, max_tokens=budget, model="claude-opus-4-8").needs_optimization
    assert recommend(
        HISTORY, max_tokens=budget, model="claude-opus-4-8", count_factor=1.5
    ).needs_optimization


def test_tool_calls_are_compared_with_the_true_size() -> None:
    whole = fit(HISTORY, max_tokens=100_000, model="claude-opus-4-8").tokens
    budget = int(whole * 1.3) + 2_500

    plain, scaled = (
        check_tool_safety(
            HISTORY,
            max_tokens=budget,
            tools_count=1,
            model="claude-opus-4-8",
            count_factor=factor,
        )
        for factor in (1.0, 1.5)
    )

    assert plain.is_safe
    assert not scaled.is_safe


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_factor_is_a_positive_number(factor: float) -> None:
    with pytest.raises(ValueError, match="count_factor"):
        fit(HISTORY, max_tokens=1_500, count_factor=factor)
