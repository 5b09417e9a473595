"""What pages show of others by role, who read what, and what is shown before a login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.store.values import SessionInfo
from dashboard import login, services
from dashboard.codes import LoginProblem
from dashboard.login import Login
from dashboard.texts import STATE_KEY, Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard

SECRET = "orchids of the north"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


@pytest.fixture
def theirs(app: Dashboard) -> SessionInfo:
    """A session of Ann's, who is no operator."""
    app.engine.create_user("ann", name="Ann")
    ann = ContextEngine(app.engine.store, user_id="ann")
    session = ann.create_session(SECRET)
    ann.append(session.id, [{"role": "user", "content": SECRET}])
    return session


def as_operator(app: Dashboard) -> None:
    """Takes the right to read what others said from the user."""
    app.engine.create_user("boss", name="Boss")
    app.engine.people.set_roles("boss", is_operator=True, is_auditor=True)
    ContextEngine(app.engine.store, user_id="boss").people.set_roles("local", is_operator=True)


@pytest.mark.parametrize("language", languages())
def test_an_operator_sees_figures_of_others_under_a_neutral_name(
    app: Dashboard, theirs: SessionInfo, language: Language
) -> None:
    as_operator(app)
    app.at.session_state[STATE_KEY] = language
    app.run()
    at = app.go("sessions")
    at.selectbox(key="sessions_by_user").set_value("*").run()
    app.check()

    name = translate("shell.session_of_other", language, id=theirs.id[:8])
    assert name in list(at.dataframe[0].value[translate("sessions.name", language)])
    assert translate("sessions.figures_alone", language) in app.texts()
    assert not [button for button in at.button if button.key == "sessions_export_all"]
    assert SECRET not in app.texts()
    at.text_input(key="sessions_filter").set_value("orchids").run()
    app.check()
    assert translate("sessions.none_found", language) in app.texts()
    assert ContextEngine(app.engine.store, user_id="ann").people.audit() == []


def test_a_link_to_a_session_that_may_not_be_read_says_why(
    app: Dashboard, theirs: SessionInfo
) -> None:
    as_operator(app)
    app.at.query_params["session"] = theirs.id
    app.run()

    assert translate("reason.turn.not_auditor", "en") in app.texts().replace("\\", "")
    assert SECRET not in app.texts()


@pytest.mark.parametrize("language", languages())
def test_what_was_read_is_shown_to_its_owner_with_the_title(
    app: Dashboard, theirs: SessionInfo, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.engine.session(theirs.id)
    app.engine.store.update_user("local", name="Lo")
    monkeypatch.setattr(services, "user_id", lambda: "ann")
    app.at.session_state[STATE_KEY] = language
    app.run()
    app.at.session_state["reports_view"] = "audit"
    at = app.go("reports")

    row = at.dataframe[0].value.iloc[0]
    assert row[translate("audit.who", language)] == "Lo"
    assert row[translate("audit.action", language)] == translate("audit.action.open", language)
    assert row[translate("audit.session", language)] == SECRET


def test_roles_are_set_on_the_settings_page(app: Dashboard, theirs: SessionInfo) -> None:
    app.run()
    app.at.session_state["settings_view"] = "users"
    at = app.go("settings")
    app.open_row("settings_users", "ann")
    assert at.toggle(key="settings_user_auditor_ann").disabled

    at.toggle(key="settings_user_operator_ann").set_value(True).run()
    at.toggle(key="settings_user_auditor_ann").set_value(True).run()
    app.check()

    assert app.engine.store.user("ann").reads_others
    app.open_row("settings_users", "local")
    at.toggle(key="settings_user_auditor_local").set_value(False).run()
    app.check()
    assert at.toggle(key="settings_user_auditor_local").disabled
    assert [one.action for one in app.engine.people.audit()] == ["roles"] * 3


def test_roles_that_follow_from_the_login_are_not_set_here(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged_in(monkeypatch, {"sub": "eve", "name": "Eve", "groups": ["ops"]})
    monkeypatch.setenv("CTXCORE_ROLES_CLAIM", "groups")
    monkeypatch.setenv("CTXCORE_OPERATORS", "ops")
    app.run()
    app.at.session_state["settings_view"] = "users"
    at = app.go("settings")

    eve = app.engine.user()
    assert (eve.id, eve.name, eve.is_operator, eve.is_auditor) == ("eve", "Eve", True, False)
    assert not [toggle for toggle in at.toggle if "settings_user" in str(toggle.key)]
    told = translate("settings.user.roles.login", "en", claim="groups")
    assert told in app.texts().replace("\\", "")
    assert at.button(key="shell_logout").label == translate("login.logout", "en")


@pytest.mark.parametrize("language", languages())
def test_before_a_login_there_is_a_button_and_nothing_else(
    app: Dashboard, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.at.session_state[STATE_KEY] = language
    app.at.query_params["login"] = "refused"
    with monkeypatch.context() as patched:
        logged_in(patched, {"is_logged_in": False})
        at = app.at.run()

    assert [button.key for button in at.button] == ["shell_login"]
    assert [error.value for error in at.error] == [translate("login.refused", language)]
    assert not at.exception


@pytest.mark.parametrize("language", languages())
def test_a_login_that_is_incomplete_is_told_and_lets_nobody_in(
    app: Dashboard, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = LoginProblem.LACKS(section="auth", names=("client_id", "client_secret"))
    app.at.session_state[STATE_KEY] = language
    with monkeypatch.context() as patched:
        patched.setattr(login, "_configured", lambda files: Login(problem=problem))
        at = app.at.run()

    assert not at.button
    assert [error.value for error in at.error] == [translate("login.incomplete", language)]
    assert "client_secret" in at.markdown[-1].value.replace("\\", "")


def logged_in(monkeypatch: pytest.MonkeyPatch, claims: Mapping[str, object]) -> None:
    """Puts a login with these claims in the place of the configured one."""
    monkeypatch.setattr(login, "_configured", lambda files: Login(providers=("default",)))
    monkeypatch.setattr(st, "user", Claims({"is_logged_in": True, **claims}))


class Claims(dict[str, object]):
    """What Streamlit knows of a person."""

    def to_dict(self) -> dict[str, object]:
        return dict(self)
