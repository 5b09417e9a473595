"""Policies: presets, overrides, and a named refusal of every value outside its range."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ctxcore.errors import PolicyError
from ctxcore.policy import Policy

WRONG: dict[str, object] = {
    "name": "",
    "window_tokens": 0,
    "reserve_tokens": -1,
    "reserve_window_ratio": 1.5,
    "system_estimate_tokens": -1,
    "history_ratio": -0.1,
    "trigger_on": "mood",
    "trigger_ratio": 0,
    "min_messages": -1,
    "min_fold_messages": 0,
    "check_at": "never",
    "strategies": (),
    "target_ratio": 2,
    "recent_ratio": float("nan"),
    "recent_min_tokens": -1,
    "recent_max_tokens": 1.5,
    "lookback_messages": 0,
    "lookback_target_messages": -1,
    "summary_place": "nowhere",
    "summary_max_tokens": 0,
    "summary_usable_ratio": 0,
    "summary_source_ratio": None,
    "min_gain_ratio": "10 %",
    "max_failures": True,
    "shorten_over_tokens": 39,
    "fresh_turns": -1,
    "oversize_ratio": 0,
    "max_message_chars": 99,
    "goal_max_tokens": -1,
}


def test_every_field_has_a_wrong_value_here() -> None:
    assert set(WRONG) == {field.name for field in fields(Policy)}


@pytest.mark.parametrize("field", WRONG)
def test_a_value_outside_its_range_is_refused_by_name(field: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy().override(**{field: WRONG[field]})

    assert caught.value.field == field
    assert repr(caught.value.value) == repr(WRONG[field])
    assert caught.value.allowed
    assert repr(field) in str(caught.value)


def test_a_refusal_says_what_is_allowed() -> None:
    with pytest.raises(PolicyError, match="at least 40"):
        Policy(shorten_over_tokens=5)
    with pytest.raises(PolicyError, match=r"a number from 0\.01 to 1"):
        Policy(target_ratio=1.01)


def test_an_unknown_field_is_refused_with_those_there_are() -> None:
    with pytest.raises(PolicyError, match="one of check_at"):
        Policy().override(windw_tokens=5)


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(PolicyError, match="default, sliding-summary"):
        Policy.preset("sliding")


def test_a_preset_takes_overrides() -> None:
    policy = Policy.preset("sliding-summary", target_ratio=0.5)

    assert policy.name == "sliding-summary"
    assert policy.target_ratio == 0.5
    assert policy.lookback_messages == 40


def test_sliding_summary_has_its_documents_values() -> None:
    policy = Policy.preset("sliding-summary")

    assert (policy.window_tokens, policy.reserve_tokens) == (128_000, 4_096)
    assert (policy.min_messages, policy.min_fold_messages) == (6, 2)
    assert (policy.trigger_ratio, policy.target_ratio) == (0.80, 0.40)
    assert (policy.lookback_messages, policy.lookback_target_messages) == (40, 20)
    assert (policy.summary_max_tokens, policy.max_message_chars) == (1_024, 20_000)


@pytest.mark.parametrize(("ratio", "automatic"), [(0.99, True), (1.0, False), (2, False)])
def test_a_trigger_ratio_of_one_switches_automatic_compaction_off(
    ratio: float, automatic: bool
) -> None:
    assert Policy(trigger_ratio=ratio).is_automatic is automatic
