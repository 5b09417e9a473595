"""The shell holds on every page: language, session in hand, address, what belongs to whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from dashboard.texts import translate
from tests.dashboard_app import Dashboard, open_dashboard

DEMO_TITLES = 4


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def test_the_browser_decides_the_first_language(app: Dashboard) -> None:
    app.at.context = {"locale": "zh-CN"}
    app.run()

    assert app.at.sidebar.button(key="shell_new").label == translate("shell.new", "zh")


def test_a_chosen_language_is_remembered_for_later_visits(app: Dashboard) -> None:
    app.run()

    app.at.sidebar.selectbox(key="shell_language").select("zh").run()
    app.check()

    assert app.at.sidebar.button(key="shell_new").label == translate("shell.new", "zh")
    assert app.engine.store.setting("language:local") == "zh"


def test_an_address_takes_its_session_in_hand(app: Dashboard) -> None:
    wanted = app.engine.create_session("Older")
    app.engine.create_session("Newer")

    app.at.query_params["session"] = wanted.id
    app.run()

    assert app.at.sidebar.selectbox(key="shell_session").value == wanted.id


def test_an_address_with_someone_elses_session_shows_nothing_of_it(app: Dashboard) -> None:
    app.engine.user()
    other = ContextEngine(app.engine.store, user_id="someone-else")
    secret = other.create_session("Secret plans")
    other.append(secret.id, [{"role": "user", "content": "the secret word"}])
    app.engine.store.update_user("local", is_operator=False)

    app.at.query_params["session"] = secret.id
    app.run()

    assert [warning.value for warning in app.at.warning]
    assert "secret" not in app.texts()
    assert app.at.query_params.get("session") != secret.id


def test_sessions_of_the_same_title_are_told_apart(app: Dashboard) -> None:
    sessions = [app.engine.create_session("Same") for _ in range(3)]
    app.at.query_params["session"] = sessions[0].id
    app.run()
    app.run()

    picker = app.at.sidebar.selectbox(key="shell_session")
    assert len(set(picker.options)) == len(sessions)
    assert picker.value == sessions[0].id


def test_a_new_session_is_taken_in_hand(app: Dashboard) -> None:
    first = app.engine.create_session("First")
    app.run()

    app.at.sidebar.button(key="shell_new").click().run()
    app.check()

    assert app.at.sidebar.selectbox(key="shell_session").value != first.id


def test_a_session_can_be_renamed(app: Dashboard) -> None:
    session = app.engine.create_session("Old name")
    app.run()

    app.at.sidebar.text_input(key=f"shell_title_{session.id}").set_value("New name").run()
    app.check()

    assert app.engine.session(session.id).title == "New name"


def test_the_first_visit_brings_the_demo_sessions_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch, with_demo=True) as app:
        app.run()
        sessions = app.engine.sessions()
        assert len(sessions) == DEMO_TITLES
        for session in sessions:
            app.engine.purge(session.id)

    with open_dashboard(tmp_path, monkeypatch, with_demo=True) as again:
        again.run()
        assert again.engine.sessions() == []
