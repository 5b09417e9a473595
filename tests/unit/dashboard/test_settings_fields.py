"""The thresholds a person may change: shown, stored, inherited, and for whom."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy import markers
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import Layer, to_json
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import as_reason
from ctxcore.store.values import PolicyVersion, Scope, SessionInfo, UserInfo
from ctxcore.tokens.catalog import ModelInfo
from dashboard import texts
from dashboard.settings.assigning import options_for, scopes_of
from dashboard.settings.fields import (
    FIELDS,
    GROUPS,
    Field,
    field_named,
    form_fields,
    rows_of,
    shown_first,
)
from dashboard.settings.inputs import field_help, field_name, group_name, preset_line, value_text
from dashboard.settings.saving import as_typed, typed
from dashboard.settings.scopes import (
    budget_for,
    changed,
    layered,
    scope_names,
    target_of,
    tokens_of,
    without,
)
from dashboard.texts import Language, catalogue, languages
from dashboard.wording import reason_text
from tests.unit.test_policy_fields import Bolder

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


def named(name: str) -> Field:
    found = field_named(name)
    assert found is not None
    return found


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


def test_the_fields_of_a_group_stand_together() -> None:
    assert len(list(groupby(FIELDS, key=lambda field: field.group))) == len(GROUPS)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_field_says_in_which_unit_it_is(
    field: Field, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "OUTSIDE", language)
    label = field_name(field.name)

    assert ("%" in label) is (field.kind == "percent")
    assert ("tokens" in label) is (field.kind == "tokens")


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_what_is_allowed_is_told_in_the_language_of_the_page(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = fields_of(Policy)[field.name].allowed

    told = {}
    for language in languages():
        monkeypatch.setattr(texts, "OUTSIDE", language)
        told[language] = reason_text(as_typed(said, field))

    assert told["zh"] not in (str(said), told["en"])
    assert "(" not in told["en"]


def test_a_field_is_told_in_english_by_its_declaration_and_in_chinese_by_the_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = fields_of(Policy).values()
    english = [(field_name(one.name), field_help(one.name)) for one in declared]
    monkeypatch.setattr(texts, "OUTSIDE", "zh")
    chinese = [(field_name(one.name), field_help(one.name)) for one in declared]
    titles = [group_name(group) for group in GROUPS]

    assert english == [(one.label, one.help) for one in declared]
    assert [pair for pair in chinese if pair in english] == []
    assert [title for title in titles if title in markers.GROUPS.values()] == []


def test_a_new_field_stands_in_the_form_without_another_line() -> None:
    (boldness,) = set(form_fields(fields_of(Bolder).values())) - set(FIELDS)

    assert (boldness.kind, boldness.group, boldness.is_optional) == ("count", "when", True)
    assert field_named("boldness") is None


def test_no_text_is_of_a_field_that_there_is_not() -> None:
    keys = {key for key in catalogue("zh") if key.startswith("settings.field.")}
    known = {f"settings.field.{name}{end}" for name in fields_of(Policy) for end in ("", ".help")}

    assert keys == known
    assert not [key for key in catalogue("en") if key.startswith("settings.field.")]


def test_a_share_is_told_as_the_percentages_that_are_typed() -> None:
    share = AllowedCode.NUMBER(low=0.001, high=1)
    ratio = field_named("facts_ratio")

    assert reason_text(as_typed(AllowedCode.OR_NONE(allowed=share), ratio)) == (
        "a number from 0.1 % to 100 %, or none"
    )
    assert reason_text(as_typed(share, None)) == "a number from 0.001 to 1"
    assert reason_text(as_typed(as_reason("something new"), ratio)) == "something new"


def test_only_what_makes_a_preset_what_it_is_cannot_be_changed() -> None:
    left = set(Policy.__dataclass_fields__) - {field.name for field in FIELDS}

    assert left == {
        *("name", "strategies", "direct_strategies"),
        *("summary_place", "trigger_base", "trigger_on"),
    }


@pytest.mark.parametrize("preset", Policy.presets())
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_value_of_every_preset_survives_being_shown_and_stored(
    field: Field, preset: str
) -> None:
    value = getattr(Policy.preset(preset), field.name)

    assert field.stored(field.shown(value)) == to_json(value)
    assert value_text(field.name, value)


@pytest.mark.parametrize("preset", Policy.presets())
def test_what_a_preset_is_made_of_is_shown_first(preset: str) -> None:
    names = [field.name for field in shown_first(preset, ())]

    assert "summary_model" in names
    assert len(names) < len(FIELDS) / 2
    assert names == [field.name for field in FIELDS if field.name in names]


@pytest.mark.parametrize(
    ("preset", "shown", "hidden"),
    [
        ("default", "fresh_turns", "upper_tokens"),
        ("sliding-summary", "router_tokens", "upper_tokens"),
        ("dual-threshold", "lower_tokens", "target_ratio"),
        ("truncate-or-summarize", "preference", "trigger_ratio"),
        ("pi", "keep_turns", "router_tokens"),
        ("ladder", "chunk_turns", "trigger_ratio"),
    ],
)
def test_each_preset_shows_its_own_thresholds_first(preset: str, shown: str, hidden: str) -> None:
    names = [field.name for field in shown_first(preset, ())]

    assert shown in names
    assert hidden not in names
    assert hidden in [field.name for field in shown_first(preset, [hidden])]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("keep_turns", "3, 1,0", [3, 1, 0]),
        ("keep_turns", "3，0", [3, 0]),
        ("keep_turns_by_messages", "50: 4, 15:8", [[50, 4], [15, 8]]),
        ("keep_turns_by_messages", "", []),
        ("tool_limits", "bash: 400, mcp:search:120", [["bash", 400], ["mcp:search", 120]]),
        ("tool_limits", "", []),
        ("protected_tools", "read， mcp:plan", ["read", "mcp:plan"]),
        ("summary_marker", "  ", None),
    ],
)
def test_lists_are_typed_as_they_are_shown(name: str, text: str, value: JsonValue) -> None:
    assert typed(named(name), text) == value


@pytest.mark.parametrize(
    ("name", "text"), [("keep_turns", "two"), ("keep_turns", "0, 2"), ("keep_turns", "")]
)
def test_what_is_no_list_is_refused(name: str, text: str) -> None:
    with pytest.raises(PolicyError, match="each smaller than the one before"):
        typed(named(name), text)


@given(st.integers(1, 1_000))
def test_a_percentage_survives_being_shown_and_stored(tenths: int) -> None:
    field = named("trigger_ratio")
    ratio = tenths / 1_000

    stored = field.stored(field.shown(ratio))

    assert isinstance(stored, float)
    assert abs(stored - ratio) < 1e-9


def test_an_empty_field_is_stored_as_nothing() -> None:
    field = named("oversize_ratio")

    assert field.stored(None) is None
    assert field.shown(None) is None


def test_a_value_the_parent_has_anyway_is_left_to_it() -> None:
    assert changed({"fresh_turns": 3}, "fresh_turns", 2, inherited=2) == {}
    assert changed({}, "fresh_turns", 3, inherited=2) == {"fresh_turns": 3}
    assert without({"fresh_turns": 3, "name": "default"}, "fresh_turns") == {"name": "default"}


def test_the_narrower_scope_wins_and_the_parent_is_told_alone() -> None:
    everybody = version(Scope(), {"trigger_ratio": 0.5, "fresh_turns": 5}, 1)
    mine = version(Scope(kind="user", owner="me"), {"trigger_ratio": 0.9}, 2)

    outer = Layer(name="environment", overrides={"fresh_turns": 9, "min_messages": 4})

    effective = layered([everybody, None], mine, [outer])
    inherited = layered([everybody, None], None)

    assert effective.policy.trigger_ratio == 0.9
    assert effective.sources == {
        "trigger_ratio": "user",
        "fresh_turns": "default",
        "min_messages": "environment",
    }
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


def test_absolute_thresholds_are_told_as_they_shrink_with_a_smaller_window() -> None:
    policy = Policy.preset("dual-threshold")
    small = budget_for(policy, replace(MODEL, window_tokens=12_800))

    assert tokens_of("upper_tokens", policy, small) == 5_000
    assert tokens_of("lower_tokens", policy, small) == 3_000
    assert tokens_of("upper_tokens", policy, budget_for(policy, MODEL)) is None


def test_small_groups_stand_side_by_side() -> None:
    one, two, four = (
        [field for field in FIELDS if field.group == group][:count]
        for group, count in (("window", 1), ("target", 2), ("tools", 4))
    )

    assert rows_of([*one, *two, *four]) == [[*one, *two], four[:3], four[3:]]
    assert rows_of([]) == []


def test_an_unknown_window_has_no_numbers() -> None:
    assert budget_for(Policy(), ModelInfo(model="x", counter_id="c")) is None
    assert tokens_of("trigger_ratio", Policy(), None) is None


def test_users_and_groups_can_be_chosen_together() -> None:
    options = options_for([ME, YOU])

    assert options == ["group:team", "user:me", "user:you"]
    assert scopes_of(options) == [
        Scope(kind="group", owner="team"),
        Scope(kind="user", owner="me"),
        Scope(kind="user", owner="you"),
    ]
    assert scopes_of(["user:a:b"]) == [Scope(kind="user", owner="a:b")]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("name", "pi", "pi"),
        ("trigger_ratio", 0.75, "75 %"),
        ("trigger_ratio", None, "none"),
        ("upper_tokens", 50_000, "50,000"),
        ("is_shadow", True, "yes"),
        ("counting", "chars/2.5", "characters ÷ 2.5"),
        ("keep_turns", [2, 1], "2, 1"),
        ("strategies", ("keep_turns",), "keep_turns"),
    ],
)
def test_a_value_is_told_in_words(name: str, value: object, told: str) -> None:
    assert value_text(name, value) == told


def test_a_preset_is_offered_with_what_it_does() -> None:
    assert preset_line("pi").startswith("pi – ")
    assert preset_line("of-tomorrow") == "of-tomorrow"
