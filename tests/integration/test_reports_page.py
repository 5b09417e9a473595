"""The reports page: each view empty and with figures, in both languages; what its buttons do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxcore.engine.alerts import AlertRules
from ctxcore.engine.policies import save_figures
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.values import CallInfo, Scope, SessionInfo
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import MODEL, WINDOW_TOKENS, Dashboard, open_dashboard

ME = Scope(kind="user", owner="local")
VIEWS = ("savings", "effects", "shadow", "changes", "audit", "alerts")
FOLDING: JsonObject = {"strategies": ["fold_oldest"], "check_at": "before_send"}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        prices = {"input_price": 3e-6, "output_price": 15e-6}
        save_figures(opened.engine.store, MODEL, {"window_tokens": WINDOW_TOKENS, **prices})
        yield opened


def talked(app: Dashboard, turns: int) -> SessionInfo:
    session = app.engine.create_session("boats")
    for turn in range(turns):
        for _ in app.engine.chat(session.id, f"pebble {turn} " + "word " * 60):
            pass
    app.engine.wait(session.id)
    return session


def opened(app: Dashboard, view: str, language: Language = "en") -> AppTest:
    app.engine.store.save_setting("language:local", language)
    app.run()
    app.at.query_params["view"] = view
    return app.go("reports")


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_without_figures_says_what_will_be_there(
    app: Dashboard, view: str, language: Language
) -> None:
    opened(app, view, language)

    assert translate(f"reports.{view}.empty", language) in app.texts()


@pytest.mark.parametrize("language", languages())
def test_savings_are_shown_with_their_sum_and_a_row_for_each_version(
    app: Dashboard, language: Language
) -> None:
    app.engine.save_policy(ME, FOLDING)
    talked(app, 14)
    [saving] = app.engine.reports.savings()
    assert saving.unsent_tokens > 0

    at = opened(app, "savings", language)

    metrics = {one.label: one.value for one in at.metric}
    assert metrics[translate("reports.savings.net", language)].startswith("$")
    table = at.dataframe[0].value
    assert list(table[translate("reports.savings.unsent", language)]) == [saving.unsent_tokens]
    named = translate("reports.version", language, who="local", number=1)
    assert list(table[translate("usage.signals.policy", language)]) == [named]


def test_an_unknown_price_is_unknown(app: Dashboard) -> None:
    save_figures(app.engine.store, MODEL, {"window_tokens": WINDOW_TOKENS})
    app.engine.save_policy(ME, FOLDING)
    talked(app, 14)

    at = opened(app, "savings")

    assert {one.label: one.value for one in at.metric}["Net saving"] == "unknown"
    assert "Some prices are not known" in app.texts()


@pytest.mark.parametrize("language", languages())
def test_an_effect_says_how_many_calls_there_are_before_it_compares(
    app: Dashboard, language: Language
) -> None:
    talked(app, 2)
    app.engine.save_policy(ME, {"trigger_ratio": 0.6})
    talked(app, 3)

    at = opened(app, "effects", language)

    for side, calls in (("before", "2"), ("under", "3")):
        text = translate(f"reports.effects.not_yet.{side}", language, calls=calls, least=50)
        assert text in app.texts()
    table = at.dataframe[0].value
    under = dict(
        zip(
            table[translate("reports.effects.figure", language)],
            table[translate("reports.effects.under", language)],
            strict=True,
        )
    )
    assert under[translate("reports.effects.calls", language)] == "3"
    assert under[translate("reports.effects.call_tokens", language)] == "–"


def test_an_effect_with_fifty_calls_on_both_sides_is_compared(app: Dashboard) -> None:
    session = app.engine.create_session("boats")
    version = app.engine.save_policy(ME, {"trigger_ratio": 0.6})
    calls = [
        CallInfo(
            id=f"c{number}",
            session_id=session.id,
            created_at=session.created_at,
            purpose="answer",
            policy_version_id=version.id if number < 50 else None,
            input_tokens=1_000 if number < 50 else 3_000,
            output_tokens=1,
            cost=0.25,
        )
        for number in range(100)
    ]
    app.engine.store.record_calls(calls)

    at = opened(app, "effects")

    assert "not yet" not in app.texts()
    table = at.dataframe[0].value
    assert list(table["Before it"])[:3] == ["50", "3,000", "$0.25"]
    assert list(table["Under it"])[:3] == ["50", "1,000", "$0.25"]


@pytest.mark.parametrize("language", languages())
def test_shadow_mode_is_switched_on_with_a_preview_and_taken_back(
    app: Dashboard, language: Language
) -> None:
    app.engine.save_policy(ME, {**FOLDING, "is_shadow": True})
    talked(app, 16)
    [result] = app.engine.reports.shadow()

    at = opened(app, "shadow", language)

    results, preview = (one.value for one in at.dataframe)
    assert list(results[translate("reports.shadow.with", language)]) == [result.with_tokens]
    assert list(preview[translate("reports.after", language)]) == [
        translate("settings.no", language)
    ]
    at.button(key="reports_switch_user_on").click()
    app.run()
    assert app.engine.store.policy(ME).overrides == FOLDING  # type: ignore[union-attr]
    assert not [one for one in at.button if one.key == "reports_switch_user_on"]
    at.button(key="reports_shadow_undo").click()
    app.run()
    assert app.engine.store.policy(ME).overrides["is_shadow"] is True  # type: ignore[union-attr]
    assert [one for one in at.button if one.key == "reports_switch_user_on"]


def test_undo_leaves_what_was_saved_since(app: Dashboard) -> None:
    app.engine.save_policy(ME, {**FOLDING, "is_shadow": True})
    talked(app, 16)
    at = opened(app, "shadow")
    at.button(key="reports_switch_user_on").click()
    app.run()
    app.engine.save_policy(ME, {"trigger_ratio": 0.4})

    at.button(key="reports_shadow_undo").click()
    app.run()

    assert app.engine.store.policy(ME).overrides == {"trigger_ratio": 0.4}  # type: ignore[union-attr]
    assert "Not undone" in app.texts()


@pytest.mark.parametrize("language", languages())
def test_changes_name_author_field_and_both_values(app: Dashboard, language: Language) -> None:
    app.engine.save_policy(ME, {"trigger_ratio": 0.6})
    app.engine.save_policy(ME, {"trigger_ratio": 0.7})

    table = opened(app, "changes", language).dataframe[0].value

    assert list(table[translate("reports.before", language)]) == [
        "60 %",
        translate("reports.inherited", language),
    ]
    assert list(table[translate("reports.after", language)]) == ["70 %", "60 %"]
    assert list(table[translate("reports.by", language)]) == ["local", "local"]


def test_an_operator_sets_alerts_sees_a_badge_and_marks_one_as_seen(app: Dashboard) -> None:
    at = opened(app, "alerts")
    at.number_input(key="reports_alert_rule_day_dollars").set_value(0.01)
    app.run()
    at.toggle(key="reports_alert_rule_rules_lost").set_value(True)
    app.run()
    assert app.engine.reports.alert_rules() == AlertRules(day_dollars=0.01, rules_lost=True)

    talked(app, 30)
    app.run()

    [alert] = app.engine.reports.alerts()
    assert f"{alert.user_id} cost $" in app.texts().replace("\\", "")
    badge = at.sidebar.get("page_link")
    assert [one.proto.label for one in badge] == ["New alerts: 1"]
    at.button(key=f"reports_alert_{alert.id}_see").click()
    app.run()
    assert app.engine.reports.unseen_alerts() == 0
    assert at.sidebar.get("page_link") == []


def test_a_budget_is_removed_by_clearing_it(app: Dashboard) -> None:
    app.engine.reports.save_alert_rules(AlertRules(day_dollars=1.0, month_dollars=5.0))
    at = opened(app, "alerts")

    at.number_input(key="reports_alert_rule_day_dollars").set_value(None)
    app.run()

    assert app.engine.reports.alert_rules() == AlertRules(month_dollars=5.0)


def test_who_is_no_operator_sees_what_is_theirs_alone(app: Dashboard) -> None:
    app.engine.save_policy(ME, FOLDING)
    talked(app, 14)
    app.engine.create_user("root")
    app.engine.store.update_user("root", is_operator=True)
    app.engine.store.update_user("local", is_operator=False)

    at = opened(app, "alerts")

    assert len(at.button_group(key="reports_view").options) == len(VIEWS) - 1
    assert translate("reports.own", "en") in app.texts()
    assert [one for one in at.selectbox if one.key == "reports_savings_user"] == []
    assert at.metric


@pytest.mark.parametrize("language", languages())
def test_a_policy_is_shown_as_a_file_and_one_that_is_uploaded_is_previewed_first(
    app: Dashboard, language: Language
) -> None:
    app.engine.save_policy(ME, {"trigger_ratio": 0.6})
    app.engine.store.save_setting("language:local", language)
    app.run()
    at = app.go("settings")
    at.button_group(key="settings_view").set_value("file")
    app.run()
    assert at.code[0].value == "policy:\n  trigger_ratio: 0.6"

    upload = at.file_uploader(key="settings_file_upload")
    upload.upload("mine.yaml", b"policy:\n  trigger_ratio: 0.7\n", "text/yaml")
    app.run()

    preview = at.dataframe[0].value
    assert list(preview[translate("reports.before", language)]) == ["60 %"]
    assert app.engine.store.policy(ME).overrides == {"trigger_ratio": 0.6}  # type: ignore[union-attr]
    at.button(key="settings_file_save").click()
    app.run()
    assert app.engine.store.policy(ME).overrides == {"trigger_ratio": 0.7}  # type: ignore[union-attr]
    at.button(key="settings_file_undo").click()
    app.run()
    assert app.engine.store.policy(ME).overrides == {"trigger_ratio": 0.6}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"policy:\n  trigger_ratio: 7\n", "line 2"),
        (b"policy: [", "YAML"),
        (b"\xff\xfe\xff", "mine.yaml"),
    ],
)
def test_a_file_that_is_no_policy_says_where(app: Dashboard, data: bytes, told: str) -> None:
    app.run()
    at = app.go("settings")
    at.button_group(key="settings_view").set_value("file")
    app.run()

    at.file_uploader(key="settings_file_upload").upload("mine.yaml", data, "text/yaml")
    app.run()

    assert told in at.error[0].value.replace("\\", "")
    assert not [one for one in at.button if one.key == "settings_file_save"]


@pytest.mark.parametrize("language", languages())
def test_the_usage_page_has_hints_that_lead_to_their_message(
    app: Dashboard, language: Language
) -> None:
    save_figures(app.engine.store, MODEL, {"window_tokens": 60_000})
    session = app.engine.create_session("boats")
    calls: list[JsonValue] = [
        {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    ]
    said: list[JsonObject] = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "line of code " * 500},
    ]
    app.engine.append(session.id, said)
    for turn in range(11):
        for _ in app.engine.chat(session.id, f"and {turn}?"):
            pass
    app.engine.store.save_setting("language:local", language)
    app.at.query_params["session"] = session.id
    app.run()

    at = app.go("usage")

    assert translate("usage.hints", language) in app.texts()
    name = translate("usage.hints.hint", language)
    [table] = [one.value for one in at.dataframe if name in one.value]
    assert "read_file" in table[name][0]
    assert "11" in table[name][0]
    assert list(table[translate("usage.message", language)]) == [3]
