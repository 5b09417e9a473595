"""The thresholds a person may change: shown, stored, inherited, and for whom."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.messages.values import JsonObject
from ctxcore.policy import Policy
from ctxcore.store.values import PolicyVersion, Scope, SessionInfo, UserInfo
from ctxcore.tokens.catalog import ModelInfo
from dashboard.settings.fields import (
    FIELDS,
    GROUPS,
    budget_for,
    changed,
    layered,
    scope_names,
    target_of,
    tokens_of,
    without,
)

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ME = UserInfo(id="me", name="Me", group="team", is_operator=True, created_at=NOW)
YOU = UserInfo(id="you", name="You", group="", is_operator=False, created_at=NOW)
MODEL = ModelInfo(model="m", counter_id="c", window_tokens=128_000, max_output_tokens=16_000)
SESSION = SessionInfo(
    id="s1",
    user_id="you",
    title="",
    model=None,
    origin="chat",
    tools=(),
    parent_id=None,
    parent_seq=None,
    created_at=NOW,
    updated_at=NOW,
    deleted_at=None,
    length=0,
    goal_seq=None,
    last_user_seq=None,
    counter_id=None,
    active_compaction_id=None,
    indexed_until=0,
)


def version(scope: Scope, overrides: JsonObject, number: int = 1) -> PolicyVersion:
    return PolicyVersion(
        id=number,
        scope=scope,
        version=1,
        overrides=overrides,
        created_by="me",
        created_at=NOW,
    )


def test_every_field_is_one_of_a_policy_and_stands_in_a_group() -> None:
    names = [field.name for field in FIELDS]

    assert set(names) <= set(Policy.__dataclass_fields__)
    assert len(names) == len(set(names))
    assert {field.group for field in FIELDS} == set(GROUPS)


@given(st.integers(1, 1_000))
def test_a_percentage_survives_being_shown_and_stored(tenths: int) -> None:
    (field,) = (one for one in FIELDS if one.name == "trigger_ratio")
    ratio = tenths / 1_000

    assert field.stored(field.shown(ratio)) == pytest.approx(ratio)


def test_an_empty_field_is_stored_as_nothing() -> None:
    (field,) = (one for one in FIELDS if one.name == "oversize_ratio")

    assert field.stored(None) is None
    assert field.shown(None) is None


def test_a_value_the_parent_has_anyway_is_left_to_it() -> None:
    assert changed({"fresh_turns": 3}, "fresh_turns", 2, inherited=2) == {}
    assert changed({}, "fresh_turns", 3, inherited=2) == {"fresh_turns": 3}
    assert without({"fresh_turns": 3, "name": "default"}, "fresh_turns") == {"name": "default"}


def test_the_narrower_scope_wins_and_the_parent_is_told_alone() -> None:
    everybody = version(Scope(), {"trigger_ratio": 0.5, "fresh_turns": 5}, 1)
    mine = version(Scope(kind="user", owner="me"), {"trigger_ratio": 0.9}, 2)

    effective, inherited = layered([everybody, None], mine)

    assert effective.policy.trigger_ratio == 0.9
    assert effective.sources == {"trigger_ratio": "user", "fresh_turns": "default"}
    assert inherited.policy.trigger_ratio == 0.5


def test_scopes_inherit_from_the_wider_ones() -> None:
    mine = target_of("me", user=ME, session=None, model="m", owner=ME)
    theirs = target_of("session", user=ME, session=SESSION, model="m", owner=YOU)
    model = target_of("model", user=ME, session=SESSION, model="m", owner=YOU)

    assert mine.scope == Scope(kind="user", owner="me")
    assert mine.parents == (Scope(), Scope(kind="group", owner="team"))
    assert theirs.scope == Scope(kind="session", owner="s1")
    assert [scope.kind for scope in theirs.parents] == ["default", "group", "user", "user_model"]
    assert model.scope == Scope(kind="user_model", owner="you", model="m")
    assert target_of("everybody", user=ME, session=None, model="m", owner=ME).parents == ()
    assert target_of("group", user=ME, session=None, model="m", owner=ME).scope.owner == "team"


def test_only_operators_are_offered_the_scopes_of_others() -> None:
    assert scope_names(is_operator=False, has_session=True) == ["me", "session", "model"]
    assert "everybody" in scope_names(is_operator=True, has_session=False)
    assert "session" not in scope_names(is_operator=True, has_session=False)


def test_shares_are_told_in_tokens_of_the_model() -> None:
    policy = Policy()
    budget = budget_for(policy, MODEL)

    assert budget is not None
    assert budget.usable_tokens == 128_000 - 4_096
    assert tokens_of("trigger_ratio", policy, budget) == 99_123
    assert tokens_of("oversize_ratio", policy, budget) == 30_976
    assert tokens_of("fresh_turns", policy, budget) is None


def test_an_unknown_window_has_no_numbers() -> None:
    assert budget_for(Policy(), ModelInfo(model="x", counter_id="c")) is None
    assert tokens_of("trigger_ratio", Policy(), None) is None
