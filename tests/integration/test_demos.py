"""Demo sessions and the guided path on the pages, in every language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.store.sql import open_store
from ctxcore.tokens.catalog import READER_WINDOWS
from dashboard.chat_page import actions
from dashboard.demos import answers, demos, offer_demos, tries_of
from dashboard.guide import comparing_page
from dashboard.page_registry import PAGES
from dashboard.texts import languages, translate
from tests.dashboard_app import Dashboard, open_dashboard

NEAR = 0.6  # of what is usable


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch, with_demo=True) as opened:
        opened.engine.store.save_setting("language:local", "en")
        yield opened


def test_each_demo_nearly_fills_the_window_of_its_model(app: Dashboard) -> None:
    app.run()
    used = {}
    for session in app.engine.sessions():
        assert session.model in READER_WINDOWS
        target = app.engine.call_target(session.id)
        context = build_context(target.view, target.call, target.record)
        assert context.budget is not None
        used[session.title] = context.tokens / (context.budget.usable_tokens or 1)

    assert len(used) == len(demos())
    assert min(used.values()) > NEAR


@pytest.mark.parametrize("language", languages())
def test_the_newest_demo_is_in_the_language_of_the_user(tmp_path: Path, language: str) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    engine = ContextEngine(store)
    offer_demos(engine, language)
    (newest,) = engine.sessions(limit=1)

    assert next(demo for demo in demos() if demo.title == newest.title).language == language
    store.close()


def test_every_question_to_try_has_an_answer_in_the_whole_conversation(app: Dashboard) -> None:
    app.run()
    for session in app.engine.sessions():
        for question in tries_of(session):
            [*app.engine.chat(session.id, question)]
            newest = app.engine.store.messages(session.id)[-1].message.text
            said = {one.says for one in answers()}
            assert any(newest.startswith(text) for text in said), (question, newest)


@pytest.mark.parametrize("language", languages())
def test_the_guide_advances_by_what_is_done(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    at = app.run()
    assert translate("guide.send.do", language) in app.texts()

    at.button(key="guide_send").click().run()
    app.run()
    assert translate("guide.watch.do", language) in app.texts()

    app.go("context")
    app.go("chat")
    assert translate("guide.compact.do", language) in app.texts()

    at.button(key="guide_compact").click().run()
    at.button(key="compact_confirm").click().run()
    app.run()
    assert translate("guide.undo.do", language) in app.texts()

    at.button(key="guide_undo").click().run()
    app.run()
    assert translate("guide.compare.do", language) in app.texts()

    app.go(comparing_page(PAGES))
    app.go("chat")
    assert translate("guide.end", language) in app.texts()


def test_a_closed_guide_stays_closed_and_is_opened_again(app: Dashboard) -> None:
    at = app.run()
    at.button(key="guide_close").click().run()
    app.check()
    assert not [button for button in at.button if button.key == "guide_send"]
    assert (app.engine.store.setting("guide:local") or {})["closed"] is True  # type: ignore[call-overload,index]

    at.sidebar.button(key="guide_restart").click().run()
    app.check()
    assert at.button(key="guide_send").label


def test_demo_sessions_are_added_again_on_request(app: Dashboard) -> None:
    app.run()
    app.go("sessions")
    app.at.segmented_control(key="sessions_view").set_value("import").run()
    app.at.button(key="sessions_demos_add").click().run()
    app.check()

    assert len(app.engine.sessions()) == 2 * len(demos())


@pytest.mark.parametrize("language", languages())
def test_the_built_in_model_says_what_it_is_and_offers_a_small_session(
    app: Dashboard, language: str
) -> None:
    app.engine.store.save_setting("language:local", language)
    at = app.run()
    session = str(at.sidebar.selectbox(key="shell_session").value)
    app.engine.set_model(session, LOCAL_MODEL)
    app.run()

    assert translate("models.local.slow", language) in app.texts()
    at.button(key="chat_local_new").click().run()
    app.check()
    shown = app.engine.session(str(at.sidebar.selectbox(key="shell_session").value))
    assert (shown.length, shown.model) == (0, LOCAL_MODEL)
    assert translate("chat.local_note", language) in app.texts()


@pytest.mark.parametrize("language", languages())
def test_what_is_known_of_any_name_is_shown(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    at = app.run()
    session = str(at.sidebar.selectbox(key="shell_session").value)

    app.engine.set_model(session, "openai/gpt-4o-mini")
    app.run()
    assert "128,000" in app.texts()
    assert "OPENAI" in app.texts()

    app.engine.set_model(session, "model-of-nobody")
    app.run()
    assert translate("models.no_provider", language) in app.texts()
    assert translate("models.window.unknown", language) in app.texts()
    assert at.selectbox(key=f"chat_model_{session}").value == "model-of-nobody"


def test_a_name_with_a_blank_changes_nothing_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = {"picked": " two words "}
    monkeypatch.setattr(st, "session_state", state)

    actions.choose_model(None, "picked")
    assert "two words" in state[actions.PROBLEM]
    assert actions.NEW_MODEL not in state

    state["picked"] = "ollama/llama3"
    actions.choose_model(None, "picked")
    assert state[actions.NEW_MODEL] == "ollama/llama3"


def test_someone_who_was_never_new_has_no_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch) as app:
        app.run()
        assert not [button for button in app.at.button if button.key == "guide_close"]
