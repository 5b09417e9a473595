"""The Lab page: trials of sessions in both languages, a call in another world, apply and undo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.trials import TRIAL, TRIAL_CALL, start_trial
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy
from ctxcore.store.values import JobInfo, Scope
from ctxcore.trials.candidates import edited, last_messages, no_compaction, of_preset, today
from ctxcore.trials.report import WORDS
from ctxcore.trials.values import SentCall, Trial
from dashboard import texts
from dashboard.lab_page.applying import applied_overrides
from dashboard.lab_page.changing import choice_of
from dashboard.lab_page.charts import calls_figure, pareto_figure, trial_rows
from dashboard.lab_page.results import report_words
from dashboard.settings.fields import field_named
from dashboard.settings.inputs import field_name
from tests.dashboard_app import Dashboard, open_dashboard
from tests.limits import HANG_SECONDS

TITLE = {"en": "Lab", "zh": "实验室"}
CANDIDATES = [no_compaction(), last_messages(4), today(), of_preset("pi")]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def talk(app: Dashboard, title: str = "Orders", turns: int = 12) -> str:
    """A session whose messages do not fit the small window."""
    session = app.engine.create_session(title, system="You help.")
    for number in range(turns):
        app.engine.append(
            session.id,
            [
                {"role": "user", "content": f"Order ORD-{number} is late. " * 8},
                {"role": "assistant", "content": f"ORD-{number} is on its way. " * 8},
            ],
        )
    return session.id


def tried(app: Dashboard, session_id: str) -> JobInfo:
    """A trial of the session that is done."""
    job = start_trial(app.engine, [session_id], CANDIDATES, window_tokens=800)
    assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    return app.engine.jobs.job(job.id)


def trial_of(job: JobInfo) -> Trial:
    assert job.result is not None
    return Trial.from_dict(job.result)


def use(app: Dashboard, language: str) -> None:
    app.at.sidebar.selectbox(key="shell_language").set_value(language)
    app.run()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_sessions_the_page_says_what_to_do(app: Dashboard, language: str) -> None:
    app.run()
    use(app, language)
    at = app.go("lab")

    assert [one.value for one in at.title] == [TITLE[language]]
    assert len(at.info) == 2
    assert not [one for one in at.button if one.key == "lab_start"]


def test_a_trial_is_started_stored_and_shown_with_its_numbers(app: Dashboard) -> None:
    session_id = talk(app)
    app.run()
    app.go("lab")
    app.at.multiselect(key="lab_sessions").set_value([session_id])
    app.at.multiselect(key="lab_policies").set_value(["today", "pi"])
    app.at.number_input(key="lab_window").set_value(800)
    change(app, "trigger_ratio", 50)

    app.at.button(key="lab_start").click()
    app.run()
    (job,) = app.engine.jobs.recent(TRIAL)
    assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    at = app.run()

    trial = trial_of(app.engine.jobs.job(job.id))
    names = [one.name for one in trial.candidates]
    assert names == ["none", "last-messages=20", "today", "pi", "trigger_ratio=0.5"]
    table = at.dataframe[0].value
    assert list(table["Tokens sent"]) == [one.sent_tokens for one in trial.totals]
    assert list(table["Refused"]) == [one.refused for one in trial.totals]
    assert at.get("plotly_chart")


def test_an_address_chooses_the_session_and_the_preset_to_try(app: Dashboard) -> None:
    older, newer = talk(app, "Orders"), talk(app, "Returns")
    tried(app, newer)
    app.at.query_params["session"] = older
    app.run()
    app.go("lab")
    (form,) = [one for one in app.at.expander if one.label == "Try policies on sessions"]
    assert not form.proto.expanded  # there is a trial to look at

    app.at.query_params["try"] = "pi"
    at = app.run()

    assert "try" not in at.query_params
    assert at.multiselect(key="lab_sessions").value == [older]
    assert at.multiselect(key="lab_policies").value == ["today", "pi"]
    (form,) = [one for one in at.expander if one.label == "Try policies on sessions"]
    assert form.proto.expanded
    at.button(key="lab_start").click()
    app.run()
    job = app.engine.jobs.recent(TRIAL)[0]
    assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    names = [one.name for one in trial_of(app.engine.jobs.job(job.id)).candidates]
    assert names == ["none", "last-messages=20", "today", "pi"]


@pytest.mark.parametrize("wrong", ["", "nobody", "pi;x"])
def test_an_address_that_names_no_preset_chooses_nothing(app: Dashboard, wrong: str) -> None:
    talk(app)
    app.at.query_params["try"] = wrong
    app.run()
    at = app.go("lab")

    assert at.multiselect(key="lab_policies").value == ["today", "default", "pi"]


def change(app: Dashboard, field: str, value: object, *, to: float | None = None) -> None:
    """Chooses a numeric field to change, and types its value and the end of a range."""
    chosen = app.at.multiselect(key="lab_fields")
    chosen.set_value([*chosen.value, field])
    app.run()
    app.at.number_input(key=f"lab_field_{field}_value").set_value(value)  # type: ignore[arg-type]
    app.at.number_input(key=f"lab_field_{field}_to").set_value(to)
    app.run()


def errors(app: Dashboard) -> str:
    return " ".join(str(one.value) for one in app.at.error)


def test_a_range_tries_every_value_and_several_fields_their_combinations(app: Dashboard) -> None:
    session_id = talk(app)
    app.run()
    app.go("lab")
    app.at.multiselect(key="lab_policies").set_value([])
    change(app, "trigger_ratio", 50, to=80)
    at = app.at
    at.multiselect(key="lab_fields").set_value(["trigger_ratio", "offers_recall"])
    app.run()
    at.toggle(key="lab_field_offers_recall_value").set_value(False)
    app.run()
    assert at.multiselect(key="lab_sessions").value == [session_id]

    at.button(key="lab_start").click()
    app.run()

    (job,) = app.engine.jobs.recent(TRIAL)
    assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    names = [one.name for one in trial_of(app.engine.jobs.job(job.id)).candidates][2:]
    shares = (0.5, 0.6, 0.7, 0.8)
    assert names == [f"trigger_ratio={share} offers_recall=False" for share in shares]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_not_allowed_stays_typed_with_its_reason_and_nothing_starts(
    app: Dashboard, language: str
) -> None:
    talk(app)
    app.run()
    use(app, language)
    app.go("lab")
    change(app, "trigger_ratio", 700)
    assert field_name("trigger_ratio")[:3] in errors(app)
    assert "700 %" in errors(app)
    assert app.at.number_input(key="lab_field_trigger_ratio_value").value == 700
    assert app.at.button(key="lab_start").disabled

    app.at.number_input(key="lab_field_trigger_ratio_value").set_value(80)
    app.at.number_input(key="lab_field_trigger_ratio_to").set_value(50)
    app.run()
    assert len(app.at.error) == 1
    assert app.at.button(key="lab_start").disabled

    app.at.multiselect(key="lab_fields").set_value([])
    app.run()
    assert not app.at.error
    assert not app.at.button(key="lab_start").disabled


def test_fields_are_found_by_meaning_in_any_language(app: Dashboard) -> None:
    talk(app)
    app.run()
    app.go("lab")
    everything = app.at.multiselect(key="lab_fields").options

    app.at.text_input(key="lab_field_search").set_value("步骤")
    found = app.run().multiselect(key="lab_fields").options

    assert field_name("strategies") in found
    assert 0 < len(found) < len(everything)


@pytest.mark.parametrize(
    ("name", "value", "to", "step", "tried_with"),
    [
        ("trigger_ratio", 0.5, 0.7, 0.1, [0.5, 0.6, 0.7]),
        ("trigger_ratio", None, 0.7, None, [None]),
        ("importance_threshold", 1.0, 2.0, 0.5, [1.0, 1.5, 2.0]),
        ("min_messages", 4, 6, 1, [4, 5, 6]),
        ("recent_ratio", 0.00001, None, None, [0.00001]),
        ("strategies", ["truncate"], None, None, [["truncate"]]),
        ("fold_as", "truncation", None, None, ["truncation"]),
    ],
)
def test_a_field_stands_for_its_value_or_for_those_of_its_range(
    name: str, value: JsonValue, to: float | None, step: float | None, tried_with: list[JsonValue]
) -> None:
    field = field_named(name)
    assert field is not None

    assert choice_of(field, value, to, step) == (name, tried_with)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_stored_trial_is_there_in_either_language(app: Dashboard, language: str) -> None:
    tried(app, talk(app))
    app.run()
    use(app, language)
    at = app.go("lab")

    assert not at.error
    assert len(at.dataframe[0].value) == len(CANDIDATES)
    assert at.get("plotly_chart")


def test_a_call_of_another_world_shows_what_it_would_have_been_sent(app: Dashboard) -> None:
    session_id = talk(app)
    tried(app, session_id)
    app.run()
    (stored,) = app.engine.jobs.recent(TRIAL)
    app.at.session_state[f"lab_rows_{stored.id}_pick"] = "0"
    app.go("lab")
    app.at.button(key="lab_call_show").click()
    app.run()
    (job,) = app.engine.jobs.recent(TRIAL_CALL)
    assert app.engine.jobs.wait(job.id, HANG_SECONDS)
    at = app.run()

    result = app.engine.jobs.job(job.id).result
    assert result is not None
    sent = SentCall.from_dict(result)
    assert not sent.messages  # without compaction the last call does not fit
    assert any("could not be made" in one.value for one in at.warning)


def test_applying_says_what_changes_for_whom_and_can_be_undone(app: Dashboard) -> None:
    job = tried(app, talk(app))
    before = {"name": "ladder"}
    app.engine.save_policy(Scope(kind="user", owner="local"), dict(before))
    app.run()
    app.at.session_state[f"lab_rows_{job.id}_pick"] = "3"  # the row of `pi`
    at = app.go("lab")

    changes = at.dataframe[-1].value
    assert list(changes.columns) == ["Setting", "Before", "After"]
    ladder, pi = Policy.preset("ladder"), Policy.preset("pi")
    different = [name for name in fields_of(Policy) if getattr(ladder, name) != getattr(pi, name)]
    assert len(changes) == len(different)
    app.at.button(key="lab_apply").click()
    app.run()
    assert app.engine.store.policy(Scope(kind="user", owner="local")).overrides == {"name": "pi"}  # type: ignore[union-attr]
    app.at.button(key="lab_undo").click()
    at = app.run()

    saved = app.engine.store.policy(Scope(kind="user", owner="local"))
    assert saved is not None
    assert saved.overrides == before
    assert not [one for one in at.button if one.key == "lab_undo"]


def test_changed_fields_join_what_a_scope_has_and_a_whole_policy_replaces_it() -> None:
    own: JsonObject = {"name": "pi", "min_messages": 4}

    assert applied_overrides(edited({"trigger_ratio": 0.6}), own) == {
        **own,
        "trigger_ratio": 0.6,
    }
    assert applied_overrides(of_preset("ladder"), own) == {"name": "ladder"}


def test_the_charts_say_what_the_tables_say(app: Dashboard) -> None:
    trial = trial_of(tried(app, talk(app)))
    names = [one.name for one in trial.candidates]

    rows = trial_rows(trial, names.__getitem__, "today")
    figure = pareto_figure(trial, names.__getitem__)
    calls = calls_figure(trial.sessions[0].tried[1], trial.sessions[0].tried[2], ["a", "b"])

    assert [row["#"] for row in rows] == [1, 2, 3, 4]
    assert figure is not None
    dots = figure["data"][1]  # type: ignore[index]
    assert dots["customdata"] == [1, 2, 3]
    assert [trace["name"] for trace in calls["data"]] == ["a", "b"]  # type: ignore[attr-defined]
    drawn = calls["data"][0]["y"]  # type: ignore[index]
    assert drawn == [call[1] for call in trial.sessions[0].tried[1].calls]


def test_the_same_trial_again_is_the_same_job_until_a_policy_changes(app: Dashboard) -> None:
    session_id = talk(app)
    job = tried(app, session_id)

    assert tried(app, session_id).id == job.id
    app.engine.save_policy(Scope(kind="user", owner="local"), {"trigger_ratio": 0.5})
    assert tried(app, session_id).id != job.id


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_has_all_its_words_in_every_language(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(texts, "OUTSIDE", language)

    words = report_words()

    for key, english in WORDS.items():
        assert (words[key] == english) == (language == "en"), key
        assert set(re.findall(r"{\w+}", words[key])) == set(re.findall(r"{\w+}", english))
