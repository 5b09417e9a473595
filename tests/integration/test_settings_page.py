"""The settings page: thresholds by scope, versions, connections without keys, users, language."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ctxcore.engine.policies import save_connections
from ctxcore.gateway.values import Connection
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.places import PlaceCode
from ctxcore.store.values import Scope
from dashboard import policy_saving, services
from dashboard.texts import Language, about, languages, translate
from tests.dashboard_app import MODEL, WINDOW_TOKENS, Dashboard, open_dashboard, rendered

USABLE = WINDOW_TOKENS - 200  # the model of these tests writes at most 200 tokens
MINE = Scope(kind="user", owner="local")


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def opened(app: Dashboard, view: str = "thresholds", language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.run()
    app.go("settings")
    if view == "thresholds":
        app.at.segmented_control(key="settings_shown").set_value("all").run()
        app.check()
    else:
        app.at.segmented_control(key="settings_view").set_value(view).run()
        app.check()
    return app.at


def overrides(app: Dashboard, scope: Scope = MINE) -> dict[str, object]:
    found = app.engine.store.policy(scope)
    return dict(found.overrides) if found else {}


def typed(app: Dashboard, field: str, value: float | int | None) -> None:
    app.at.number_input(key=f"settings_{field}").set_value(value).run()
    app.check()


def main_key(field: str) -> str:
    return f"settings_main_user_local__{field}"


def drafted(app: Dashboard, field: str, text: str) -> None:
    """Types one of the five values of the bar, without saving it."""
    app.at.text_input(key=main_key(field)).set_value(text).run()
    app.check()


def saved(app: Dashboard, field: str, text: str) -> None:
    drafted(app, field, text)
    app.at.button(key="settings_save").click().run()
    app.check()


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize(
    "view", ["thresholds", "assigning", "connections", "models", "users", "language"]
)
def test_every_view_opens(app: Dashboard, view: str, language: Language) -> None:
    at = opened(app, view, language)

    assert at.title[0].value == translate("settings.title", language)
    assert not at.error


def test_a_threshold_is_saved_and_told_in_tokens(app: Dashboard) -> None:
    at = opened(app)

    drafted(app, "trigger_ratio", "50")
    assert overrides(app) == {}
    assert f"compacts at {USABLE // 2:,} of {USABLE:,} usable" in app.texts()
    told = translate("settings.main.saved", "en", trigger="1,440", target="720")
    assert told in app.texts()
    at.button(key="settings_save").click().run()
    app.check()

    assert overrides(app) == {"trigger_ratio": 0.5}
    assert f"compacts at {USABLE // 2:,} of {USABLE:,} usable" in app.texts()
    at.button(key="settings_save").click().run()
    app.check()
    assert "no value was changed" in at.toast[0].value
    assert len(app.engine.store.policy_versions(MINE)) == 1


def test_a_run_that_changes_no_value_leaves_alone_what_is_being_typed(app: Dashboard) -> None:
    at = opened(app)

    at.run()

    inputs = [*at.text_input, *at.number_input]
    assert len(inputs) >= 5
    assert not [one.key for one in inputs if one.proto.set_value]


def test_typed_values_are_saved_together_discarded_or_taken_back(app: Dashboard) -> None:
    at = opened(app)
    drafted(app, "trigger_ratio", "50")
    drafted(app, "reserve_tokens", "1,00")
    at.button(key="settings_discard").click().run()
    app.check()
    assert at.text_input(key=main_key("trigger_ratio")).value == "80"

    drafted(app, "trigger_ratio", "60 %")
    drafted(app, "recent_ratio", "10")
    at.button(key="settings_save").click().run()
    app.check()
    assert overrides(app) == {"trigger_ratio": 0.6, "recent_ratio": 0.1}
    assert len(app.engine.store.policy_versions(MINE)) == 1

    at.button(key="settings_undo").click().run()
    app.check()
    assert overrides(app) == {}
    assert at.button(key="settings_undo").disabled


def test_undo_keeps_what_was_saved_elsewhere_since(app: Dashboard) -> None:
    at = opened(app)
    drafted(app, "trigger_ratio", "60 %")
    at.button(key="settings_save").click().run()
    app.engine.save_policy(MINE, {"trigger_ratio": 0.4})

    at.button(key="settings_undo").click().run()
    app.check()

    assert overrides(app) == {"trigger_ratio": 0.4}
    assert "Not undone" in app.texts()
    assert at.button(key="settings_undo").disabled


@pytest.mark.parametrize("language", languages())
def test_the_current_session_says_what_would_happen_to_it(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Chat")
    said = [{"role": "user", "content": f"Question {at}: " + "what? " * 60} for at in range(12)]
    app.engine.append(session.id, said)
    opened(app, language=language)
    later = translate("settings.main.now.later", language, session="Chat", used="", left="")
    assert later[:12] in app.texts()

    drafted(app, "trigger_ratio", "20")

    foreseen = app.engine.foresee(session.id, Policy(trigger_ratio=0.2, target_ratio=0.4))
    assert foreseen.plan is not None
    due = translate(
        "settings.main.now.due",
        language,
        session="Chat",
        messages=len(foreseen.plan.fold),
        shortened=len(foreseen.plan.shorten),
        used=f"{foreseen.context.tokens:,}",
        after=f"≈{foreseen.plan.expected_tokens:,}",
    )
    assert due in app.texts().replace(
        f"≈{foreseen.context.tokens:,}", f"{foreseen.context.tokens:,}"
    )
    assert app.engine.compactions(session.id) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("shadow", "is_shadow"),
        ("影子", "is_shadow"),
        ("never shortened", "protected_tools"),
        ("fresh_turns", "fresh_turns"),
        ("130", "offers_expand"),
    ],
)
def test_a_setting_is_found_by_name_or_meaning_in_both_languages(
    app: Dashboard, query: str, field: str
) -> None:
    at = opened(app)

    at.text_input(key="settings_search").set_value(query).run()
    app.check()

    drawn = [one.key for group in (at.number_input, at.text_input, at.toggle) for one in group]
    assert f"settings_{field}" in drawn
    assert "settings_keep_messages" not in drawn


def test_a_search_without_a_find_says_so(app: Dashboard) -> None:
    at = opened(app)

    at.text_input(key="settings_search").set_value("aardvark").run()
    app.check()

    assert translate("settings.search.none", "en") in [info.value for info in at.info]


def test_what_differs_from_the_preset_is_shown_without_a_search(app: Dashboard) -> None:
    app.engine.save_policy(MINE, {"fresh_turns": 7})
    at = opened(app)

    at.segmented_control(key="settings_shown").set_value("changed").run()
    app.check()

    assert [one.key for one in at.number_input] == ["settings_fresh_turns"]


def test_it_holds_for_the_next_turn(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.engine.append(session.id, [{"role": "user", "content": "hello"}])
    opened(app)

    saved(app, "trigger_ratio", "25")

    budget = app.engine.context(session.id).budget
    assert budget is not None
    assert budget.trigger_tokens == USABLE // 4


def test_a_value_outside_its_range_is_refused_with_what_is_allowed(app: Dashboard) -> None:
    at = opened(app)

    drafted(app, "target_ratio", "150")

    assert overrides(app) == {}
    assert "150 %" in at.error[0].value
    assert "from 1 % to 100 %" in at.error[0].value
    assert at.text_input(key=main_key("target_ratio")).value == "150"
    at.button(key="settings_save").click().run()
    assert "Nothing is saved" in at.error[1].value
    assert overrides(app) == {}

    drafted(app, "target_ratio", "soon")
    assert "soon" in at.error[0].value
    drafted(app, "target_ratio", "40")
    assert not at.error


def test_typing_the_inherited_value_leaves_it_to_the_parent(app: Dashboard) -> None:
    opened(app)
    typed(app, "fresh_turns", 5)

    typed(app, "fresh_turns", 2)

    assert overrides(app) == {}


def test_each_value_says_which_layer_it_comes_from(app: Dashboard) -> None:
    app.engine.save_policy(Scope(), {"fresh_turns": 7})

    at = opened(app)

    assert at.number_input(key="settings_fresh_turns").value == 7
    assert translate("settings.source.default", "en") in app.texts()


def test_one_field_or_all_go_back_to_the_parent(app: Dashboard) -> None:
    at = opened(app)
    typed(app, "fresh_turns", 5)
    typed(app, "min_messages", 9)

    at.button(key="settings_fresh_turns_reset").click().run()
    app.check()
    assert overrides(app) == {"min_messages": 9}

    at.button(key="settings_reset").click().run()
    app.check()
    assert overrides(app) == {}


def test_a_cleared_field_has_the_inherited_value(app: Dashboard) -> None:
    opened(app)
    saved(app, "trigger_ratio", "50")
    typed(app, "keep_messages", 12)

    saved(app, "trigger_ratio", "")
    typed(app, "keep_messages", None)

    assert overrides(app) == {}
    assert app.at.text_input(key=main_key("trigger_ratio")).value == "80"
    assert app.at.number_input(key="settings_keep_messages").value == Policy().keep_messages
    typed(app, "keep_messages", None)
    assert app.at.number_input(key="settings_keep_messages").value == Policy().keep_messages


def test_a_field_is_set_to_none_by_its_button(app: Dashboard) -> None:
    at = opened(app)

    at.button(key="settings_rebuild_after_none").click().run()
    app.check()

    assert overrides(app) == {"rebuild_after": None}
    assert not [one for one in app.at.button if one.key == "settings_rebuild_after_none"]
    saved(app, "trigger_ratio", translate("settings.none", "en"))
    assert overrides(app) == {"rebuild_after": None, "trigger_ratio": None}
    saved(app, "trigger_ratio", "60")
    assert overrides(app) == {"rebuild_after": None, "trigger_ratio": 0.6}


def test_tokens_are_those_of_the_session_as_on_the_other_pages(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", system="Rule: be as brief as you can. " * 150)
    app.at.query_params["session"] = session.id
    opened(app)

    budget = app.engine.call_target(session.id).call.budget

    assert budget is not None
    told = app.texts()
    assert f"leaves about **{budget.target_tokens:,}**" in told
    assert f"compacts at {budget.trigger_tokens:,} of {budget.usable_tokens:,} usable" in told


def test_an_older_version_can_be_brought_back(app: Dashboard) -> None:
    at = opened(app)
    typed(app, "fresh_turns", 5)
    typed(app, "fresh_turns", 6)
    oldest = app.engine.store.policy_versions(MINE)[-1]

    at.button(key=f"settings_restore_{oldest.id}").click().run()
    app.check()

    assert overrides(app) == {"fresh_turns": 5}
    assert len(app.engine.store.policy_versions(MINE)) == 3


def test_automatic_compaction_is_switched_off_and_on(app: Dashboard) -> None:
    at = opened(app)

    at.toggle(key="settings_automatic").set_value(False).run()
    app.check()
    assert overrides(app) == {"trigger_ratio": 1.0}
    assert at.text_input(key=main_key("trigger_ratio")).disabled

    at.toggle(key="settings_automatic").set_value(True).run()
    app.check()
    assert overrides(app) == {}


def test_a_preset_is_picked(app: Dashboard) -> None:
    at = opened(app)

    at.selectbox(key="settings_preset").set_value("sliding-summary").run()
    app.check()

    assert overrides(app) == {"name": "sliding-summary"}
    assert at.number_input(key="settings_min_messages").value == 6


@pytest.mark.parametrize(
    ("scope", "saved"),
    [
        ("everybody", Scope()),
        ("user", MINE),
        ("model", Scope(kind="user_model", owner="local", model=MODEL)),
    ],
)
def test_each_scope_saves_its_own(app: Dashboard, scope: str, saved: Scope) -> None:
    at = opened(app)
    at.segmented_control(key="settings_scope").set_value(scope).run()

    typed(app, "fresh_turns", 4)

    assert overrides(app, saved) == {"fresh_turns": 4}


def test_a_session_has_thresholds_of_its_own(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    at = opened(app)
    at.segmented_control(key="settings_scope").set_value("session").run()

    typed(app, "fresh_turns", 4)

    assert overrides(app, Scope(kind="session", owner=session.id)) == {"fresh_turns": 4}
    assert app.engine.policy(session.id).source("fresh_turns") == "session"


def test_a_group_without_a_name_has_no_thresholds(app: Dashboard) -> None:
    at = opened(app)

    at.segmented_control(key="settings_scope").set_value("group").run()
    app.check()

    assert translate("settings.no_group", "en") in [info.value for info in at.info]


def test_others_edit_only_what_is_theirs(app: Dashboard) -> None:
    app.engine.create_user("boss")
    app.engine.store.update_user("boss", is_operator=True)
    app.engine.store.update_user("local", is_operator=False)

    at = opened(app)

    assert at.segmented_control(key="settings_scope").options == ["Me", "This model"]
    at.segmented_control(key="settings_view").set_value("connections").run()
    app.check()
    assert not at.text_input


def test_a_connection_is_added_edited_and_removed_without_a_key(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXCORE_TEST_KEY", "very secret")
    at = opened(app, "connections")
    fields = {"name": "work", "model": "openai/gpt-4o", "key_env": "CTXCORE_TEST_KEY"}
    for name, value in fields.items():
        at.text_input(key=f"settings_connection_field_{name}").set_value(value)

    at.button(key="settings_connection_save").click().run()
    app.check()
    (made,) = app.engine.models().connections
    assert (made.name, made.key_env) == ("work", "CTXCORE_TEST_KEY")
    assert "is set" in app.texts()
    assert "very secret" not in app.texts()

    at.button(key="settings_edit_0").click().run()
    at.text_input(key="settings_connection_field_name").set_value("office")
    at.button(key="settings_connection_save").click().run()
    app.check()
    assert [one.name for one in app.engine.models().connections] == ["office"]

    at.button(key="settings_remove_0").click().run()
    app.check()
    assert app.engine.models().connections == ()


def test_a_key_in_place_of_a_name_is_refused(app: Dashboard) -> None:
    at = opened(app, "connections")
    fields = {"name": "work", "model": "openai/gpt-4o", "key_env": "sk-0123456789"}
    for name, value in fields.items():
        at.text_input(key=f"settings_connection_field_{name}").set_value(value)

    at.button(key="settings_connection_save").click().run()
    app.check()

    assert app.engine.models().connections == ()
    assert at.error[0].value == translate("settings.key.invalid", "en")


def test_a_connection_is_tested_with_one_short_call(app: Dashboard) -> None:
    save_connections(app.engine.store, [Connection(name="demo", model=MODEL)])
    at = opened(app, "connections")

    at.button(key="settings_test_0").click().run()
    app.check()

    assert "demo answered" in at.success[0].value


def test_windows_and_prices_of_a_model_are_its_own(app: Dashboard) -> None:
    at = opened(app, "models")

    at.number_input(key="settings_figure_window_tokens").set_value(5_000).run()
    at.number_input(key="settings_figure_input_price").set_value(2.5).run()
    app.check()

    info = app.engine.models().info(MODEL)
    assert (info.window_tokens, info.input_price) == (5_000, 2.5e-6)

    at.button(key="settings_figures_reset").click().run()
    app.check()
    assert app.engine.models().overrides == {}


def test_users_are_added_grouped_and_made_operators(app: Dashboard) -> None:
    at = opened(app, "users")
    assert at.toggle(key="settings_user_operator_local").disabled
    for name, value in (("id", "ana"), ("name", "Ana"), ("group", "team")):
        at.text_input(key=f"settings_new_user_{name}").set_value(value)

    at.button(key="settings_user_add").click().run()
    app.open_row("settings_users", "ana")
    at.text_input(key="settings_user_group_ana").set_value("lab").run()
    at.toggle(key="settings_user_operator_ana").set_value(True).run()
    app.check()

    ana = app.engine.store.user("ana")
    assert (ana.name, ana.group, ana.is_operator) == ("Ana", "lab", True)


def test_the_language_is_kept_for_the_user(app: Dashboard) -> None:
    at = opened(app, "language")

    at.radio(key="settings_language").set_value("zh").run()
    app.check()

    assert at.title[0].value == "设置"
    assert app.engine.store.setting("language:local") == "zh"


def configured(monkeypatch: pytest.MonkeyPatch, **environ: str) -> None:
    """Lets the dashboard read the environment anew, as at a start."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    services._layers.clear()
    services._engine.clear()


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("preset", Policy.presets())
def test_every_preset_shows_its_form(app: Dashboard, preset: str, language: Language) -> None:
    app.engine.save_policy(MINE, {"name": preset})

    at = opened(app, language=language)

    assert at.selectbox(key="settings_preset").value == preset
    assert not at.error


def test_what_the_environment_says_is_shown_with_its_variable(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(monkeypatch, CTXCORE_POLICY="pi", CONTEXT_COMPACTION_KEEP_RECENT_ROUNDS="3")

    at = opened(app)

    assert at.selectbox(key="settings_preset").value == "pi"
    assert at.text_input(key="settings_keep_turns").value == "3, 1, 0"
    captions = {caption.value: caption.help for caption in at.caption}
    told = translate("settings.source.environment", "en")
    assert captions[told]
    assert any("KEEP" in (caption.help or "") for caption in at.caption)


def test_what_the_environment_says_anyway_is_not_saved(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(monkeypatch, CTXCORE_POLICY_FRESH_TURNS="4")
    opened(app)

    typed(app, "fresh_turns", 5)
    typed(app, "fresh_turns", 4)

    assert overrides(app) == {}


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_a_wrong_environment_is_told_in_place_of_the_pages_until_it_is_corrected(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    configured(monkeypatch, SUMMARIZATION_TRIGGER_RATIO="80%")
    app.at.context = {"locale": locale}
    language: Language = "zh" if locale == "zh-CN" else "en"

    app.at.run()

    assert not app.at.exception
    assert app.at.title[0].value == translate("settings.problem.title", language)
    shown = app.at.error[0].value.replace("\\", "")
    variable = "SUMMARIZATION_TRIGGER_RATIO"
    assert rendered(PlaceCode.VARIABLE(variable=variable), language) in shown
    assert {"en": "Compact at (%)", "zh": "达到多少时压缩（%）"}[language] in shown
    assert rendered(AllowedCode.NUMBER(low=0.01, high=1), language) in shown

    monkeypatch.setenv("SUMMARIZATION_TRIGGER_RATIO", "0.8")
    app.run()
    assert not app.at.error


def test_each_kind_of_threshold_is_saved_as_the_policy_stores_it(app: Dashboard) -> None:
    at = opened(app)

    at.text_input(key="settings_keep_turns").set_value("3, 1").run()
    at.selectbox(key="settings_counting").set_value("chars/2").run()
    at.toggle(key="settings_is_shadow").set_value(True).run()
    at.selectbox(key="settings_summary_model").set_value(MODEL).run()
    app.check()

    assert overrides(app) == {
        "keep_turns": [3, 1],
        "counting": "chars/2",
        "is_shadow": True,
        "summary_model": MODEL,
    }
    assert translate("settings.live.shadow", "en") in app.texts()


@pytest.mark.parametrize("language", languages())
def test_a_stored_field_that_is_gone_is_told_until_the_next_save(
    app: Dashboard, language: Language
) -> None:
    store, at = app.engine.store, datetime(2026, 3, 2, tzinfo=UTC)
    store.save_policy(MINE, {"max_failures": 5, "fresh_turns": 4}, by="local", at=at)

    page = opened(app, language=language)
    before = [one.value for one in page.info]
    saved(app, "trigger_ratio", "50")

    assert len(before) == 1
    assert "max" in before[0]
    assert "0.1.0" in before[0].replace("\\", "")
    assert not page.info
    assert overrides(app) == {"fresh_turns": 4, "trigger_ratio": 0.5}


def test_a_list_that_is_none_is_refused(app: Dashboard) -> None:
    at = opened(app)

    at.text_input(key="settings_keep_turns").set_value("1, 2").run()
    app.check()

    assert overrides(app) == {}
    assert "each smaller" in at.error[0].value


@pytest.mark.parametrize("language", languages())
def test_a_refused_list_is_told_as_it_was_typed(app: Dashboard, language: Language) -> None:
    at = opened(app, language=language)

    at.text_input(key="settings_tool_limits").set_value("bash: 400, read").run()

    told = at.error[0].value.replace("\\", "")
    assert "bash: 400, read" in told.split("bash: 400, read: 800")[0]
    assert "(" not in told


def test_what_contradicts_a_wider_layer_is_refused(app: Dashboard) -> None:
    app.engine.save_policy(Scope(), {"name": "dual-threshold"})
    at = opened(app)

    drafted(app, "recent_history_ratio", "80")

    assert overrides(app) == {}
    assert "at most 20 %" in at.error[0].value


def test_several_get_the_same_at_once(app: Dashboard) -> None:
    app.engine.create_user("ana", name="Ana", group="team")
    app.engine.create_user("ben", name="Ben")
    at = opened(app, "assigning")
    assert at.button(key="settings_assign_save").disabled

    at.multiselect(key="settings_assign_who").set_value(["group:team", "user:ben"]).run()
    at.selectbox(key="settings_assign_preset").set_value("dual-threshold").run()
    at.multiselect(key="settings_assign_fields").set_value(["upper_tokens", "counting"]).run()
    at.number_input(key="settings_assign_upper_tokens").set_value(40_000).run()
    at.selectbox(key="settings_assign_counting").set_value("tiktoken").run()
    at.button(key="settings_assign_save").click().run()
    app.check()

    assert at.success[0].value == "Set for group team (1 user), Ben."
    given = {"name": "dual-threshold", "upper_tokens": 40_000, "counting": "tiktoken"}
    for scope in (Scope(kind="group", owner="team"), Scope(kind="user", owner="ben")):
        assert overrides(app, scope) == given
    table = at.dataframe[0].value
    assert list(table["Who"]) == ["Group team"] * 3 + ["Ben"] * 3
    assert list(table["Value"])[:3] == ["dual threshold", "tiktoken", "40,000"]


def test_what_several_got_is_taken_back_for_all_each_to_its_own_former_values(
    app: Dashboard,
) -> None:
    at, team, ben = assigned_to_two(app)

    at.button(key="settings_assign_undo").click().run()
    app.check()

    assert not at.success
    assert (overrides(app, team), overrides(app, ben)) == ({"fresh_turns": 3}, {})


@pytest.mark.parametrize("language", languages())
def test_a_save_can_be_taken_back_after_the_tab_was_reloaded(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch, language: Language
) -> None:
    _, team, ben = assigned_to_two(app)
    app.engine.save_policy(MINE, {"fresh_turns": 7})  # nothing of this page

    again = Dashboard(app.model, monkeypatch)
    at = opened(again, "assigning", language)
    told = [one.value for one in at.success]
    who = translate("settings.whom.group_of_one", language, owner="team")
    between = about(language).between_words
    assert told == [translate("settings.assign.done", language, who=f"{who}{between}Ben")]
    at.button(key="settings_assign_undo").click().run()
    again.check()

    assert (overrides(app, team), overrides(app, ben)) == ({"fresh_turns": 3}, {})
    assert not at.success
    assert overrides(app) == {"fresh_turns": 7}


def test_the_last_save_of_the_form_can_be_taken_back_after_a_reload_and_for_a_day(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(app)
    typed(app, "fresh_turns", 5)
    typed(app, "fresh_turns", 6)

    again = Dashboard(app.model, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(policy_saving, "UNDO_FOR", timedelta())
        assert opened(again).button(key="settings_undo").disabled
    opened(again).button(key="settings_undo").click().run()
    again.check()

    assert overrides(app) == {"fresh_turns": 5}
    assert again.at.button(key="settings_undo").disabled


def test_what_is_set_for_many_names_groups_with_their_users(app: Dashboard) -> None:
    for number in range(30):
        app.engine.create_user(f"u{number}", name=f"User {number}", group="support")
    at = opened(app, "assigning")

    at.multiselect(key="settings_assign_who").set_value(["group:support"]).run()
    assert at.button(key="settings_assign_save").label == "Set for group support (30 users)"
    many = [f"user:u{number}" for number in range(6)]
    at.multiselect(key="settings_assign_who").set_value(["group:support", *many]).run()
    assert at.button(key="settings_assign_save").label == (
        "Set for group support (30 users), User 0, User 1, User 2, User 3, 2 more"
    )


def test_nobody_is_taken_back_once_one_of_several_was_changed_again(app: Dashboard) -> None:
    at, team, ben = assigned_to_two(app)
    app.engine.save_policy(ben, {"fresh_turns": 5})

    at.button(key="settings_assign_undo").click().run()
    app.check()

    assert at.error[0].value.startswith("Not undone")
    assert (overrides(app, team), overrides(app, ben)) == ({"name": "pi"}, {"fresh_turns": 5})


def assigned_to_two(app: Dashboard) -> tuple[AppTest, Scope, Scope]:
    """The page after a group with settings and a user without got a preset."""
    app.engine.create_user("ana", name="Ana", group="team")
    app.engine.create_user("ben", name="Ben")
    team, ben = Scope(kind="group", owner="team"), Scope(kind="user", owner="ben")
    app.engine.save_policy(team, {"fresh_turns": 3})
    at = opened(app, "assigning")
    at.multiselect(key="settings_assign_who").set_value(["group:team", "user:ben"]).run()
    at.selectbox(key="settings_assign_preset").set_value("pi").run()
    at.button(key="settings_assign_save").click().run()
    app.check()
    assert overrides(app, team) == overrides(app, ben) == {"name": "pi"}
    return at, team, ben


def test_a_wrong_value_for_several_changes_nobody(app: Dashboard) -> None:
    at = opened(app, "assigning")
    at.multiselect(key="settings_assign_who").set_value(["user:local"]).run()
    at.multiselect(key="settings_assign_fields").set_value(["target_ratio"]).run()

    at.number_input(key="settings_assign_target_ratio").set_value(150.0).run()
    app.check()

    assert "150 %" in at.error[0].value
    assert at.number_input(key="settings_assign_target_ratio").value == 40.0
    assert overrides(app) == {}


def test_others_do_not_see_who_has_what(app: Dashboard) -> None:
    app.engine.create_user("boss")
    app.engine.store.update_user("boss", is_operator=True)
    app.engine.store.update_user("local", is_operator=False)

    at = opened(app, "assigning")

    assert [info.value for info in at.info] == [translate("settings.assign.operators", "en")]
    assert not at.multiselect
