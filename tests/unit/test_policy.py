"""Policies: presets, overrides, and a named refusal of every value outside its range."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ctxcore.errors import PolicyError
from ctxcore.policy.values import Policy

WRONG: dict[str, object] = {
    "name": "",
    "window_tokens": 0,
    "fallback_window_tokens": 0,
    "usable_ratio": 0,
    "learns_count_factor": "yes",
    "reserve_tokens": -1,
    "reserve_window_ratio": 1.5,
    "system_estimate_tokens": -1,
    "history_ratio": -0.1,
    "router_tokens": 0,
    "counting": "words",
    "check_at": "never",
    "trigger_on": "mood",
    "trigger_base": "history",
    "trigger_ratio": 0,
    "upper_tokens": 0,
    "remaining_ratio": 1.5,
    "max_turns": 2.0,
    "delete_after_days": 0,
    "summary_marker": "!",
    "min_messages": -1,
    "first_min_messages": -1,
    "next_min_messages": None,
    "next_min_ratio": -0.5,
    "lookback_messages": 0,
    "shorten_arguments_over_tokens": 39,
    "max_tokens_is_window": 1,
    "requires_confirmation": 1,
    "is_shadow": "no",
    "rebuild_after": 0,
    "strategies": (),
    "direct_strategies": ("hope",),
    "task_type": "poetry",
    "fold_as": "poem",
    "preference": "cheap",
    "max_summaries": -1,
    "target_ratio": 2,
    "lower_tokens": 0,
    "keep_turns": (1, 1),
    "keep_turns_by_messages": ((15, 8), (50, 4)),
    "keep_messages": 0,
    "importance_threshold": 5.5,
    "chunk_turns": 0,
    "min_fold_messages": 0,
    "min_gain_ratio": "10 %",
    "recent_ratio": float("nan"),
    "recent_history_ratio": 1.1,
    "skips_chains": None,
    "max_message_chars": 99,
    "goal_max_tokens": -1,
    "is_interactive": None,
    "working_state_ratio": 0.6,
    "facts_ratio": 0.6,
    "recall_ratio": 0,
    "recall_max_tokens": 59,
    "recalls_other_sessions": 1,
    "summary_model": "",
    "summary_instructions": " ",
    "unsupported_ratio": 1.5,
    "summary_form": "rhyming",
    "summary_place": "nowhere",
    "summary_max_tokens": 0,
    "summary_usable_ratio": 0,
    "summary_history_ratio": -0.1,
    "summary_source_ratio": None,
    "summary_chars_ratio": 0,
    "summary_asked_chars": 9,
    "summary_max_chars": 9,
    "shorten_over_tokens": 39,
    "shortens_always": 0,
    "fresh_turns": -1,
    "oversize_ratio": 0,
    "tool_limits": (("bash", 39),),
    "protected_tools": ("",),
    "offers_expand": "yes",
    "offers_recall": "yes",
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
    assert policy.lookback_messages == 40
    assert (policy.summary_max_tokens, policy.max_message_chars) == (1_024, 20_000)


@pytest.mark.parametrize(("ratio", "automatic"), [(0.99, True), (1.0, False)])
def test_a_trigger_ratio_of_one_switches_automatic_compaction_off(
    ratio: float, automatic: bool
) -> None:
    assert Policy(trigger_ratio=ratio).is_automatic is automatic


def test_dual_threshold_has_its_documents_values() -> None:
    policy = Policy.preset("dual-threshold")
    budget = policy.budget(system_tokens=2_000)

    assert (policy.upper_tokens, policy.lower_tokens) == (50_000, 30_000)
    assert (policy.first_min_messages, policy.next_min_messages, policy.next_min_ratio) == (
        20,
        10,
        0.5,
    )
    assert (budget.usable_tokens, budget.history_tokens) == (76_800, 74_800)
    assert (budget.summary_tokens, budget.recent_tokens) == (19_448, 48_620)
    assert policy.counting == "estimate"


def test_truncate_or_summarize_has_its_documents_values() -> None:
    policy = Policy.preset("truncate-or-summarize")

    assert policy.budget().usable_tokens == 4_096 - 2_000
    assert policy.keep_turns_by_messages == ((50, 4), (30, 6), (15, 8))
    assert (policy.max_summaries, policy.preference, policy.fold_as) == (3, "balanced", "choice")


def test_pi_has_its_documents_values() -> None:
    policy = Policy.preset("pi")

    assert policy.budget().trigger_tokens == 64_000
    assert policy.keep_turns == (2, 1, 0)
    assert policy.requires_confirmation
    assert (policy.summary_asked_chars, policy.summary_max_chars) == (500, 1_000)


def test_summary_and_recent_part_are_together_at_most_all() -> None:
    assert Policy(summary_history_ratio=0.35, recent_history_ratio=0.65).name == "default"
    with pytest.raises(PolicyError, match=r"at most 0\.4 with a recent_history_ratio of 0\.6"):
        Policy(summary_history_ratio=0.5, recent_history_ratio=0.6)
