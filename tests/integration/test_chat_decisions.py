"""The chat page asks before a compaction that needs consent, and follows what a person decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply, ScriptedRequest
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import Scope, SessionInfo
from dashboard import background
from dashboard.chat_page.turn_runner import RunningTurn, TurnRunner
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard
from tests.limits import HANG_SECONDS

ANSWERS = ("compact", "drop_oldest", "new_session", "refuse")


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def finish(turn: RunningTurn) -> str:
    return "".join(turn.follow(interval_seconds=0))


def full_session(app: Dashboard, turns: int = 8, **overrides: object) -> SessionInfo:
    """A session under a preset that asks, fuller than it may be."""
    session = app.engine.create_session("Full", system="You plan trips.")
    said: list[JsonObject] = []
    for number in range(turns):
        said.append({"role": "user", "content": f"Question {number}: " + "what about it? " * 12})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "It is so. " * 25})
    app.engine.append(session.id, said)
    policy: JsonObject = {"name": "pi", **overrides}  # type: ignore[dict-item]  # JSON in a test
    app.engine.save_policy(Scope(kind="session", owner=session.id), policy)
    return session


def say(app: Dashboard, text: str) -> None:
    app.at.chat_input(key="chat_ask").set_value(text).run()
    app.check()


def asked(app: Dashboard) -> SessionInfo:
    """A session whose last turn waits for a decision, on the page."""
    session = full_session(app)
    app.run()
    say(app, "Where do we go?")
    assert app.engine.pending(session.id) is not None
    return session


def choose(app: Dashboard, answer: str) -> None:
    app.at.button(key=f"chat_answer_{answer}").click().run()
    app.check()


def keys(app: Dashboard) -> set[str]:
    return {str(button.key) for button in app.at.button}


@pytest.mark.parametrize("language", languages())
def test_the_question_names_its_numbers_and_four_answers(
    app: Dashboard, language: Language
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = asked(app)

    pending = app.engine.pending(session.id)
    assert pending is not None
    said = app.texts()
    for number in (pending.current_tokens, pending.max_tokens, pending.expected_tokens):
        assert f"{number:,}" in said
    assert translate("chat.question.waits", language) in said
    assert [app.at.button(key=f"chat_answer_{answer}").label for answer in ANSWERS] == [
        translate(f"chat.answer.{answer}", language) for answer in ANSWERS
    ]
    assert "chat_retry" not in keys(app)  # it would send the message without an answer
    assert app.model.requests == ()


def test_the_question_is_there_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch) as before:
        asked(before)

    with open_dashboard(tmp_path, monkeypatch) as after:
        after.run()
        choose(after, "compact")

        assert "You said: Where do we go?" in after.texts()


def test_compact_folds_and_answers(app: Dashboard) -> None:
    session = asked(app)

    choose(app, "compact")

    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    assert active.compaction.summary
    assert "You said: Where do we go?" in app.texts()
    assert "chat_answer_compact" not in keys(app)


def test_drop_the_oldest_leaves_messages_out_without_a_summary(app: Dashboard) -> None:
    session = asked(app)

    choose(app, "drop_oldest")

    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    assert active.compaction.is_truncation
    assert "You said: Where do we go?" in app.texts()


def test_a_new_session_is_opened_and_the_old_one_links_to_it(app: Dashboard) -> None:
    old = asked(app)

    choose(app, "new_session")

    new = app.engine.session(str(app.at.session_state["session_id"]))
    assert new.id != old.id
    assert app.at.query_params["session"] == new.id
    assert "You said: Where do we go?" in app.texts()
    app.at.sidebar.selectbox(key="shell_session").select(old.id).run()
    app.check()
    assert translate("chat.ended.stopped", "en") not in app.texts()
    app.at.button(key="chat_moved").click().run()
    app.check()
    assert app.at.session_state["session_id"] == new.id


def test_a_turn_that_moves_while_the_page_is_drawn_is_followed(
    app: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = asked(app)
    running = TurnRunner.running

    def too_late(self: TurnRunner, session_id: str) -> RunningTurn | None:
        found = running(self, session_id)
        return running(self, session_id) if found and finish(found) else found

    monkeypatch.setattr(TurnRunner, "running", too_late)

    choose(app, "new_session")

    assert app.at.session_state["session_id"] != old.id
    assert "You said: Where do we go?" in app.texts()


@pytest.mark.parametrize("language", languages())
def test_a_refusal_changes_nothing_and_says_how_to_go_on(
    app: Dashboard, language: Language
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = asked(app)

    choose(app, "refuse")

    assert app.engine.compactions(session.id) == []
    assert app.model.requests == ()
    [told] = [warning.value for warning in app.at.warning]
    assert told.startswith("Refused at" if language == "en" else "已在")
    assert [error.value for error in app.at.error] == []
    assert app.at.button(key="chat_retry").label == translate("chat.retry_refused", language)

    app.at.button(key="chat_retry").click().run()
    app.check()
    assert "You said: Where do we go?" in app.texts()


def test_more_may_be_said_while_it_waits(app: Dashboard) -> None:
    session = asked(app)

    say(app, "By train, please.")

    assert app.engine.pending(session.id) is not None
    waits = translate("chat.ended.awaiting_confirmation", "en")
    assert app.texts().count(waits) == 1
    choose(app, "compact")
    assert "By train, please." in app.texts()
    assert app.engine.session(session.id).length == 1 + 16 + 3


def test_what_changed_meanwhile_is_told_and_nothing_is_done(app: Dashboard) -> None:
    session = asked(app)
    changed: JsonObject = {"name": "pi", "chunk_turns": 9}
    app.engine.save_policy(Scope(kind="session", owner=session.id), changed)

    choose(app, "compact")

    assert app.engine.compactions(session.id) == []
    assert [error.value for error in app.at.error] == [translate("chat.question.stale", "en")]
    assert app.at.button(key="chat_retry").label == translate("chat.retry_stopped", "en")


def test_a_question_answered_elsewhere_is_not_answered_twice(app: Dashboard) -> None:
    session = asked(app)
    pending = app.engine.pending(session.id)
    assert pending is not None
    list(app.engine.answer(session.id, pending.plan_id, "compact"))

    choose(app, "drop_oldest")

    assert len(app.engine.compactions(session.id)) == 1
    assert translate("chat.question.answered", "en") in app.at.error[0].value.replace("\\", "")


def test_a_question_without_a_turn_does_not_promise_to_send_anything(app: Dashboard) -> None:
    session = full_session(app, check_at="background")
    app.run()
    say(app, "Where do we go?")
    assert app.engine.wait(session.id, HANG_SECONDS)
    app.run()

    assert app.engine.pending(session.id) is not None
    assert translate("chat.question.waits", "en") not in app.texts()
    choose(app, "compact")
    assert app.engine.store.active_compaction(session.id) is not None
    assert "chat_answer_compact" not in keys(app)


# the command


@pytest.mark.parametrize("typed", ["/compact", " /Compact "])
def test_the_command_opens_the_dialog_and_is_not_sent(app: Dashboard, typed: str) -> None:
    session = full_session(app)
    app.run()

    say(app, typed)

    assert app.at.text_area(key="compact_summary").value
    assert app.engine.session(session.id).length == 17
    assert app.model.requests == ()


@pytest.mark.parametrize("typed", ["/compact the notes", "/COMPACT  the\nnotes"])
def test_words_behind_the_command_are_what_to_keep(app: Dashboard, typed: str) -> None:
    session = full_session(app)
    app.run()

    say(app, typed)
    assert str(app.at.text_input(key="compact_focus").value).split() == ["the", "notes"]
    app.at.button(key="compact_confirm").click().run()

    active = app.engine.store.active_compaction(session.id)
    assert active is not None
    assert str(active.details["focus"]).split() == ["the", "notes"]
    assert app.model.requests == ()


# compactions behind the page


def test_a_background_compaction_is_shown_while_it_runs_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def held(_: ScriptedRequest) -> ScriptedReply:
        assert may_end.wait(HANG_SECONDS)
        return ScriptedReply(text="They asked questions.")

    with (
        open_dashboard(tmp_path, monkeypatch) as app,
        ScriptedModel("held", [held]) as summarizer,
    ):
        monkeypatch.setattr(background, "GRACE_SECONDS", 0)
        session = full_session(app, turns=16, name="default", summary_model=summarizer.model)
        app.run()

        say(app, "Where do we go?")

        assert translate("compact.background", "en") in app.texts()
        assert app.at.chat_input(key="chat_ask").disabled is False
        may_end.set()
        assert app.engine.wait(session.id, HANG_SECONDS)
        app.run()
        assert translate("compact.background", "en") not in app.texts()
        assert any(e.label.startswith("Compacted here") for e in app.at.expander)


def test_a_compaction_that_failed_is_told_beside_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        open_dashboard(tmp_path, monkeypatch) as app,
        ScriptedModel("bad", otherwise=ScriptedReply(error="auth")) as summarizer,
    ):
        session = full_session(app, turns=16, name="default", summary_model=summarizer.model)
        app.run()
        say(app, "Where do we go?")
        assert app.engine.wait(session.id, HANG_SECONDS)

        app.run()

        assert "The last compaction failed: no usable summary" in app.texts().replace("\\", "")


def test_the_gauge_counts_as_the_trigger_does(app: Dashboard) -> None:
    full_session(app)
    app.run()

    assert "counted by the preset's rule (chars/2)" in app.texts()
    assert "compaction due" in app.texts()
