"""The five values of the bar: which fields they are, what typing them makes, and the search."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from dashboard.settings.drafts import MAIN, main_fields, with_draft
from dashboard.settings.fields import FIELDS
from dashboard.settings.saving import written
from dashboard.settings.searching import found_fields


@pytest.mark.parametrize("preset", Policy.presets())
def test_every_preset_has_its_five_values(preset: str) -> None:
    policy = Policy.preset(preset)

    found = main_fields(policy)

    assert tuple(found) == MAIN
    starts = found["trigger"].name
    assert starts == ("trigger_ratio" if policy.upper_tokens is None else "upper_tokens")


def test_a_draft_changes_only_what_was_typed() -> None:
    own: JsonObject = {"fresh_turns": 4, "trigger_ratio": 0.5}

    assert with_draft(own, {"trigger_ratio": (0.6,)}) == {"fresh_turns": 4, "trigger_ratio": 0.6}
    assert with_draft(own, {"trigger_ratio": ()}) == {"fresh_turns": 4}
    assert with_draft(own, {"trigger_ratio": (None,)}) == {"fresh_turns": 4, "trigger_ratio": None}


def test_values_are_written_as_they_are_typed() -> None:
    fields = {field.name: field for field in FIELDS}

    assert written(fields["trigger_ratio"], 0.8) == "80"
    assert written(fields["target_ratio"], 0.335) == "33.5"
    assert written(fields["reserve_tokens"], 4_096) == "4096"
    assert written(fields["trigger_ratio"], None) == "none"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("router_tokens", "router_tokens"),
        ("routing model", "router_tokens"),
        ("路由", "router_tokens"),
        ("SUMMARIES model writes", "summary_model"),
        ("forty-two", "chunk_turns"),
    ],
)
def test_a_field_is_found_by_its_name_meaning_or_value(query: str, found: str) -> None:
    values = {"chunk_turns": "forty-two"}

    fields = found_fields(FIELDS, query, lambda name: values.get(name, ""))

    assert found in [field.name for field in fields]
    assert len(fields) < len(FIELDS) / 4


def test_every_word_of_a_search_must_be_there() -> None:
    assert found_fields(FIELDS, "summary zebra", lambda _: "") == ()
    assert found_fields(FIELDS, "", lambda _: "") == FIELDS
