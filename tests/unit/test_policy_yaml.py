"""Policies as YAML: what is written is read again, and what is wrong is named by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxcore.errors import ConfigurationError, PolicyError
from ctxcore.json_types import JsonObject
from ctxcore.policy.changes import changed_fields
from ctxcore.policy.layers import to_policy
from ctxcore.policy.values import Policy
from ctxcore.reasons.storage_problems import SettingProblem
from ctxcore.settings.loading import load_policy, read_text
from ctxcore.settings.writing import to_yaml, whole_policy

OVERRIDES: JsonObject = {
    "trigger_ratio": 0.6,
    "name": "pi",
    "summary_instructions": "保留订单号\nkeep: all",
    "protected_tools": ["plan", "read"],
}


@pytest.mark.parametrize("preset", Policy.presets())
def test_a_whole_policy_is_read_as_it_was(preset: str) -> None:
    policy = Policy.preset(preset)

    read = read_text(to_yaml(whole_policy(policy)), name="policy.yaml").overrides

    assert to_policy(read) == policy
    assert read.keys() == whole_policy(policy).keys()


@pytest.mark.parametrize("overrides", [OVERRIDES, {}])
def test_overrides_are_read_as_they_were(overrides: JsonObject) -> None:
    assert read_text(to_yaml(overrides), name="policy.yaml").overrides == overrides


def test_a_file_has_a_line_for_each_field_and_the_preset_first() -> None:
    assert to_yaml({"trigger_ratio": 0.6, "name": "pi", "protected_tools": ["a", "b"]}) == (
        "policy:\n  name: pi\n  trigger_ratio: 0.6\n  protected_tools: [a, b]\n"
    )


def test_a_refused_value_is_named_with_its_file_line_and_field() -> None:
    with pytest.raises(PolicyError) as caught:
        read_text("policy:\n  name: pi\n  trigger_ratio: 7\n", name="mine.yaml")

    assert caught.value.field == "trigger_ratio"
    assert str(caught.value.source) == "mine.yaml, line 3"


def test_an_alias_is_refused_since_a_few_can_stand_for_very_much() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\npolicy: {protected_tools: *b}\n"

    with pytest.raises(ConfigurationError) as caught:
        read_text(bomb, name="mine.yaml")

    assert (caught.value.problem, caught.value.line) == (SettingProblem.ALIAS(), 2)


def test_changes_tell_new_gone_and_other_values() -> None:
    before: JsonObject = {"name": "pi", "trigger_ratio": 0.6, "max_turns": None}
    after: JsonObject = {"trigger_ratio": 0.7, "name": "pi", "is_shadow": False}

    changes = changed_fields(before, after)

    assert [(one.field, one.before, one.after, one.was_set, one.is_set) for one in changes] == [
        ("trigger_ratio", 0.6, 0.7, True, True),
        ("is_shadow", None, False, False, True),
        ("max_turns", None, None, True, False),
    ]
    assert changed_fields(before, before) == []


@pytest.mark.parametrize(
    "text",
    ["policy: " + "[" * 3_000, "policy: " + "{a: " * 3_000, "policy: " + "[" * 900 + "]" * 900],
    ids=["lists", "mappings", "closed"],
)
def test_a_file_that_nests_too_deeply_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationError, match="line 1: is nested deeper than 50 levels"):
        load_policy(config=path, env_file=None)
