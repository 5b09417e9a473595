"""The arithmetic of a window, with numbers that can be checked by hand."""

from __future__ import annotations

import pytest

from ctxcore.budget import clamp
from ctxcore.errors import UnknownWindowError
from ctxcore.policy.values import Policy


def test_the_default_at_128_000_tokens() -> None:
    budget = Policy().budget(window_tokens=128_000)

    assert budget.reserve_tokens == 4_096
    assert budget.usable_tokens == 123_904
    assert budget.trigger_tokens == 99_123
    assert budget.target_tokens == 49_561
    assert budget.recent_tokens == 12_390
    assert budget.summary_tokens == 12_390


def test_the_default_at_4_000_tokens() -> None:
    budget = Policy().budget(window_tokens=4_000)

    assert budget.reserve_tokens == 1_000
    assert budget.usable_tokens == 3_000
    assert budget.trigger_tokens == 2_400
    assert budget.target_tokens == 1_200
    assert budget.recent_tokens == 300


def test_a_small_system_prompt_leaves_the_target_where_it_is() -> None:
    budget = Policy().budget(window_tokens=128_000, system_tokens=8_000, tools_tokens=4_000)

    assert budget.target_tokens == 49_561


def test_a_third_of_what_system_prompt_and_tools_leave_stays() -> None:
    some = Policy().budget(window_tokens=32_000, tools_tokens=5_000)
    many = Policy().budget(window_tokens=32_000, tools_tokens=12_000)

    assert (some.usable_tokens, some.trigger_tokens) == (27_904, 22_323)
    assert some.target_tokens == 5_000 + (27_904 - 5_000) // 3
    assert many.target_tokens == (12_000 + 22_323) // 2  # half-way to the trigger


@pytest.mark.parametrize("name", Policy.presets())
@pytest.mark.parametrize("tools_tokens", [0, 5_000, 12_000, 20_000, 24_000, 40_000])
def test_a_compaction_stops_below_its_trigger_however_much_tools_take(
    name: str, tools_tokens: int
) -> None:
    budget = Policy.preset(name).budget(window_tokens=32_000, tools_tokens=tools_tokens)

    assert 0 <= budget.target_tokens <= budget.trigger_tokens


def test_sliding_summary_at_128_000_tokens() -> None:
    budget = Policy.preset("sliding-summary").budget(window_tokens=1_000_000)

    assert budget.window_tokens == 128_000
    assert budget.history_tokens == 73_142
    assert budget.trigger_tokens == 58_513
    assert budget.target_tokens == 29_256
    assert budget.summary_tokens == 1_024


def test_a_measured_system_prompt_replaces_the_estimate() -> None:
    policy = Policy.preset("sliding-summary")

    budget = policy.budget(window_tokens=128_000, system_tokens=5_000, tools_tokens=1_000)

    assert budget.history_tokens == int((128_000 - 4_096 - 6_000) * 0.60)


def test_an_estimate_of_a_preset_scales_with_a_smaller_window() -> None:
    budget = Policy.preset("sliding-summary").budget(window_tokens=12_800)

    assert budget.history_tokens == int((12_800 - 3_200 - 200) * 0.60)


def test_a_model_that_writes_less_needs_less_reserve() -> None:
    assert Policy().budget(window_tokens=128_000, max_output_tokens=1_000).reserve_tokens == 1_000


def test_a_window_that_does_not_share_its_output_needs_no_reserve() -> None:
    budget = Policy().budget(window_tokens=128_000, shares_output=False)

    assert budget.reserve_tokens == 0
    assert budget.usable_tokens == 128_000


def test_an_input_budget_is_usable_whole() -> None:
    budget = Policy().input_budget(1_000)

    assert (budget.usable_tokens, budget.reserve_tokens, budget.trigger_tokens) == (1_000, 0, 800)


def test_no_window_is_no_budget() -> None:
    with pytest.raises(UnknownWindowError, match="pass window_tokens or max_tokens"):
        Policy().budget()


def test_the_reserve_is_the_smallest_of_its_limits() -> None:
    small, large = (Policy().budget(window_tokens=tokens) for tokens in (8_000, 80_000))
    short = Policy().budget(window_tokens=80_000, max_output_tokens=99)

    assert [budget.reserve_tokens for budget in (small, large, short)] == [2_000, 4_096, 99]


@pytest.mark.parametrize(("value", "moved"), [(1, 2), (3, 3), (9, 5)])
def test_clamping_moves_into_the_range(value: int, moved: int) -> None:
    assert clamp(value, 2, 5) == moved
