"""Edit and send again, answer anew, switch between the branches: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import SessionInfo
from dashboard.texts import languages, translate
from tests.dashboard_app import Dashboard, open_dashboard

SAID: list[JsonObject] = [
    {"role": "user", "content": "One"},
    {"role": "assistant", "content": "First."},
    {"role": "user", "content": "Two"},
    {"role": "assistant", "content": "Second."},
]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def talked(app: Dashboard) -> SessionInfo:
    session = app.engine.create_session("Chat")
    app.engine.append(session.id, SAID)
    app.run()
    return session


def act(app: Dashboard, seq: int, action: str) -> None:
    app.at.menu_button(key=f"chat_menu_{seq}").click(action).run()
    app.check()


def edit(app: Dashboard, seq: int, text: str) -> None:
    act(app, seq, "edit")
    app.at.text_area(key="chat_edit_text").set_value(text).run()
    app.at.button(key="chat_edit_send").click().run()
    app.check()


def shown(app: Dashboard) -> str:
    return str(app.at.session_state["session_id"])


def texts(app: Dashboard, session_id: str) -> list[str]:
    return [info.message.text for info in app.engine.store.messages(session_id)]


def test_an_edited_message_is_answered_in_a_branch(app: Dashboard) -> None:
    session = talked(app)

    edit(app, 3, "Three")

    assert texts(app, shown(app)) == ["One", "First.", "Three", "You said: Three"]
    assert texts(app, session.id) == ["One", "First.", "Two", "Second."]
    assert "2 of 2" in app.texts()


def test_the_first_message_can_be_edited(app: Dashboard) -> None:
    session = talked(app)

    edit(app, 1, "Zero")

    assert texts(app, shown(app)) == ["Zero", "You said: Zero"]
    assert app.engine.session(session.id).length == 4


def test_an_image_stays_with_the_edited_message(app: Dashboard) -> None:
    image: JsonObject = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    session = app.engine.create_session("Chat")
    parts = [{"type": "text", "text": "What is it?"}, image]
    app.engine.append(session.id, [{"role": "user", "content": parts}])
    app.run()

    edit(app, 1, "Who is it?")

    [first, _] = app.engine.store.messages(shown(app))
    [text, media] = first.message.content
    assert (getattr(text, "text", ""), getattr(media, "kind", "")) == ("Who is it?", "image")


def test_an_answer_is_made_anew_in_a_branch(app: Dashboard) -> None:
    session = talked(app)

    act(app, 4, "regenerate")

    assert texts(app, shown(app)) == ["One", "First.", "Two", "You said: Two"]
    assert texts(app, session.id)[-1] == "Second."


def test_an_answer_to_nothing_cannot_be_made_anew(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.engine.append(session.id, [{"role": "assistant", "content": "Welcome."}])
    app.run()

    act(app, 1, "regenerate")

    assert "precedes message 1" in app.at.error[0].value
    assert shown(app) == session.id


def test_the_branches_are_switched_at_the_message_where_they_part(app: Dashboard) -> None:
    session = talked(app)
    edit(app, 3, "Three")
    second = shown(app)
    app.at.button(key="chat_previous_3").click().run()
    app.check()
    assert shown(app) == session.id
    assert "1 of 2" in app.texts()
    edit(app, 3, "Four")
    third = shown(app)
    assert "3 of 3" in app.texts()
    assert app.at.button(key="chat_next_3").disabled

    app.at.button(key="chat_previous_3").click().run()
    app.check()

    assert shown(app) == second
    assert third != second


def test_a_cancelled_edit_changes_nothing(app: Dashboard) -> None:
    session = talked(app)
    act(app, 3, "edit")

    app.at.button(key="chat_edit_cancel").click().run()
    app.check()

    assert not app.at.text_area
    assert [one.id for one in app.engine.sessions()] == [session.id]


def test_a_failed_branch_leaves_the_original_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ScriptedReply(error="auth")]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        session = talked(app)
        edit(app, 3, "Three")  # fails, and can be tried again in its branch

        assert app.at.error
        assert texts(app, shown(app)) == ["One", "First.", "Three"]
        assert texts(app, session.id) == ["One", "First.", "Two", "Second."]


def test_the_list_of_sessions_does_not_drown_in_branches(app: Dashboard) -> None:
    session = talked(app)
    edit(app, 3, "Three")
    branch = shown(app)
    app.go("sessions")

    titles = translate("sessions.name", "en")
    assert list(app.at.dataframe[0].value[titles]) == ["Chat"]
    assert "Branches of this session: 1" in app.texts()

    app.at.toggle(key="sessions_branches").set_value(True).run()
    app.check()
    assert len(app.at.dataframe[0].value) == 2
    app.open_row("sessions_list", branch)
    assert "Branch of Chat, from message 3 on" in app.texts()
    assert session.id != branch


def test_a_branch_of_a_deleted_session_is_listed(app: Dashboard) -> None:
    session = talked(app)
    edit(app, 3, "Three")

    app.engine.delete(session.id)

    assert [one.id for one in app.engine.sessions(branches=False)] == [shown(app)]


@pytest.mark.parametrize("language", languages())
def test_the_dialog_speaks_the_language_of_the_page(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    talked(app)

    act(app, 3, "edit")

    assert translate("chat.edit.told", language) in app.texts()
