"""The strip above the chat input and the commands in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.events import TurnEnded
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import ModelUsage
from ctxcore.store.values import SessionInfo
from dashboard.chat_page.following import has_changed
from dashboard.chat_page.turn_runner import RunningTurn
from dashboard.safe_markdown import plain_label
from dashboard.texts import languages, translate
from tests.dashboard_app import MODEL, Dashboard, open_dashboard, say, talked


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def session_of(app: Dashboard, turns: int) -> SessionInfo:
    return talked(app, "Chat", turns)


def strip(app: Dashboard) -> str:
    """The HTML of the strip."""
    (found,) = [
        one.proto.body for one in app.at.get("html") if 'class="ctx-strip-words"' in one.proto.body
    ]
    return str(found)


@pytest.mark.parametrize("language", languages())
def test_a_small_session_is_some_turns_from_a_compaction(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    session_of(app, 3)

    app.run()

    turns = translate("chat.strip.turns", language, turns="!").split("!")
    assert all(part in strip(app) for part in turns)
    assert 'role="img"' in strip(app)


@pytest.mark.parametrize("language", languages())
def test_above_the_trigger_compaction_is_due(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    session = session_of(app, 20)

    app.run()

    assert translate("chat.strip.due", language) in strip(app)
    outside = app.engine.context(session.id).outside_tokens
    assert outside
    assert translate("chat.strip.outside", language, tokens=outside) in strip(app)


@pytest.mark.parametrize("language", languages())
def test_an_unknown_window_has_no_bar(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    session = session_of(app, 2)
    app.engine.set_model(session.id, "nobody/knows")

    app.run()

    assert translate("chat.strip.unknown", language) in strip(app)
    assert 'role="img"' not in strip(app)


def test_an_empty_session_has_no_strip_and_can_be_set_up(app: Dashboard) -> None:
    app.engine.create_session("Empty")

    app.run()

    assert not [one for one in app.at.get("html") if 'class="ctx-strip-words"' in one.proto.body]
    assert app.at.button(key="instructions_open").disabled is False


def test_the_reserve_stands_at_the_right_edge(app: Dashboard) -> None:
    session_of(app, 2)

    app.run()

    names = [piece.split(":")[0] for piece in strip(app).split('title="')[1:]]
    assert names[:2] == ["System", "Recent"]
    assert names[-2:] == ["Reserve for the reply", "Compacts at"]


def test_the_strip_says_what_was_paid_and_what_was_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = ModelUsage(input_tokens=400, output_tokens=100, cached_tokens=100)
    reply = ScriptedReply(text="Hello", usage=usage)
    with open_dashboard(tmp_path, monkeypatch, replies=[reply]) as app:
        prices = {"input_price": 0.001, "output_price": 0.001}
        save_figures(app.engine.store, MODEL, {"window_tokens": 2_000, **prices})
        app.engine.create_session("Paid")
        app.run()

        say(app, "Hello there")

        assert "$0.50 so far · 25\u00a0% cached" in strip(app)


# commands


@pytest.mark.parametrize("language", languages())
def test_an_unknown_command_is_answered_with_the_list_and_never_sent(
    app: Dashboard, language: str
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = app.engine.create_session("Chat")
    app.run()

    say(app, "/comapct the port")

    assert app.engine.session(session.id).length == 0
    assert app.model.requests == ()
    assert translate("chat.command.unknown", language, text="/comapct the port") in app.texts()
    assert translate("chat.command.recall.about", language) in app.texts()


def test_what_was_taken_for_a_command_can_be_sent_as_text(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.run()
    say(app, "/tmp is full")

    app.at.button(key="chat_help_send").click().run()
    app.check()

    assert app.engine.store.messages(session.id)[0].message.text == "/tmp is full"
    assert not [one for one in app.at.button if one.key == "chat_help_send"]


@pytest.mark.parametrize(
    ("typed", "sent"), [("//compact it", "/compact it"), ("/etc/hosts?", "/etc/hosts?")]
)
def test_a_slash_can_be_said(app: Dashboard, typed: str, sent: str) -> None:
    session = app.engine.create_session("Chat")
    app.run()

    say(app, typed)

    assert app.engine.store.messages(session.id)[0].message.text == sent


def test_help_is_shown_until_it_is_dismissed(app: Dashboard) -> None:
    app.run()
    say(app, "/help")
    assert translate("chat.command.literal", "en") in app.texts()

    app.at.button(key="chat_help_dismiss").click().run()
    app.check()

    assert translate("chat.command.literal", "en") not in app.texts()
    assert app.engine.sessions() == []


@pytest.mark.parametrize("typed", ["/compact", "/undo", "/pin", "/recall ferry", "/retry"])
def test_a_command_that_needs_messages_says_so(app: Dashboard, typed: str) -> None:
    app.run()

    say(app, typed)

    name = typed.split()[0][1:]
    assert app.at.error[0].value == plain_label(
        translate("chat.command.no_messages", "en", name=name), max_chars=600
    )
    assert app.engine.sessions() == []


def test_a_compaction_is_undone_and_redone_by_command(app: Dashboard) -> None:
    session = session_of(app, 12)
    app.engine.confirm(app.engine.propose(session.id))
    app.run()

    say(app, "/undo")
    assert app.engine.session(session.id).active_compaction_id is None
    say(app, "/undo")
    assert app.at.error[0].value == plain_label(
        translate("chat.command.nothing_to_undo", "en"), max_chars=600
    )
    say(app, "/redo")
    assert app.engine.session(session.id).active_compaction_id is not None
    say(app, "/redo")
    assert app.at.error[0].value == plain_label(
        translate("chat.command.nothing_to_redo", "en"), max_chars=600
    )


def test_messages_are_pinned_by_number_the_newest_without_one(app: Dashboard) -> None:
    session = session_of(app, 2)
    app.run()

    say(app, "/pin #2")
    say(app, "/pin")
    assert {mark.seq for mark in app.engine.store.marks(session.id)} == {2, 4}
    say(app, "/unpin 2")
    assert {mark.seq for mark in app.engine.store.marks(session.id)} == {4}
    say(app, "/pin 9")

    expected = translate("chat.command.no_message", "en", name="pin", count="4")
    assert app.at.error[0].value == plain_label(expected, max_chars=600)


def test_new_opens_an_empty_session(app: Dashboard) -> None:
    session_of(app, 1)
    app.run()

    say(app, "/new")

    assert len(app.engine.sessions()) == 2
    assert app.at.button(key="chat_suggest_first")


# after a compaction by itself


@pytest.mark.parametrize("language", languages())
def test_a_compaction_by_itself_is_told_at_the_bottom_and_undone_there(
    app: Dashboard, language: str
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = session_of(app, 20)
    app.run()

    say(app, "Go on")

    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    count = f"{active.compaction.covered_messages:,}"
    assert translate("chat.folded", language, count=count) in app.texts()

    app.at.button(key="chat_folded_undo").click().run()
    app.check()

    assert app.engine.session(session.id).active_compaction_id is None
    assert translate("chat.folded", language, count=count) not in app.texts()


def test_a_compaction_that_a_person_made_is_not_told(app: Dashboard) -> None:
    session = session_of(app, 12)
    app.engine.confirm(app.engine.propose(session.id))

    app.run()

    assert not [one for one in app.at.button if one.key == "chat_folded_undo"]


# answers that were cut


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("why", ["length", "content_filter"])
def test_a_cut_answer_says_so_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, why: str
) -> None:
    reply = ScriptedReply(text="Once upon", finish_reason=why)
    with open_dashboard(tmp_path, monkeypatch, replies=[reply]) as app:
        app.engine.store.save_setting("language:local", language)
        app.engine.create_session("Story")
        app.run()

        say(app, "Tell me a story")

        told = translate(f"chat.cut.{why}", language)
        assert told in app.texts()
        say(app, "Go on")
        assert app.texts().count(told) == 1


# another tab


def test_a_tab_follows_what_another_one_did(app: Dashboard) -> None:
    session = session_of(app, 2)
    drawn = app.engine.session_stamp(session.id)
    assert not has_changed(session.id, drawn)

    app.engine.pin(session.id, 0)

    assert has_changed(session.id, drawn)


def test_a_tab_follows_a_turn_that_runs_elsewhere(app: Dashboard) -> None:
    session = session_of(app, 2)
    drawn = app.engine.session_stamp(session.id)
    turn = RunningTurn(session.id, "Hello", session.length)

    app.turn_runner._turns[session.id] = turn
    assert has_changed(session.id, drawn)
    turn.run(lambda: iter([TurnEnded(turn_id="t", state="done", text="")]))
    assert not has_changed(session.id, drawn)


def test_a_session_that_was_erased_is_a_change(app: Dashboard) -> None:
    session = session_of(app, 1)
    drawn = app.engine.session_stamp(session.id)
    app.engine.delete(session.id)
    app.engine.purge(session.id)

    assert has_changed(session.id, drawn)
