"""What a person gives beside a message: knowledge for one turn, and a file as a tool's output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.gateway.scripted import ScriptedReply
from dashboard.texts import languages, translate
from tests.dashboard_app import Dashboard, open_dashboard

FAQ = "Shops open at nine."
RECORDS = json.dumps([{"id": at, "state": "ok", "note": "nothing to see"} for at in range(200)])


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def give(app: Dashboard, name: str, text: str) -> None:
    app.at.button(key="chat_knowledge_add").click().run()
    app.check()
    app.at.text_input(key="chat_knowledge_name").set_value(name).run()
    app.at.text_area(key="chat_knowledge_text").set_value(text).run()
    app.at.button(key="chat_knowledge_give").click().run()
    app.check()


def say(app: Dashboard, text: str) -> None:
    app.at.chat_input(key="chat_ask").set_value(text).run()
    app.check()


def attach(app: Dashboard, name: str, data: bytes, text: str = "") -> None:
    app.at.chat_input(key="chat_ask").upload(name, data)
    say(app, text)


def chips(app: Dashboard) -> list[str]:
    return [
        button.label
        for button in app.at.button
        if (button.key or "").removeprefix("chat_knowledge_").isdigit()
    ]


def sent(app: Dashboard, call: int) -> str:
    return json.dumps(app.model.requests[call].messages)


def test_knowledge_goes_with_the_next_turn_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ScriptedReply(text="At nine."), ScriptedReply(text="At ten.")]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        app.engine.create_session("Chat")
        app.run()
        give(app, "faq", FAQ)
        [chip] = chips(app)
        assert chip.startswith("faq · ")
        assert "tokens" in chip

        say(app, "When?")
        assert FAQ in sent(app, 0)
        assert chips(app) == []
        say(app, "And then?")

        assert FAQ not in sent(app, 1)


def test_knowledge_is_kept_until_a_failed_turn_has_gone_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ScriptedReply(error="auth"), ScriptedReply(text="At nine.")]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        app.engine.create_session("Chat")
        app.run()
        give(app, "faq", FAQ)
        say(app, "When?")
        assert len(chips(app)) == 1

        app.at.button(key="chat_retry").click().run()
        app.check()

        assert FAQ in sent(app, -1)
        assert "At nine." in app.texts()
        assert chips(app) == []


def test_knowledge_can_start_a_session(app: Dashboard) -> None:
    app.run()
    give(app, "", FAQ)
    assert chips(app)[0].startswith("Text 1 · ")

    say(app, "When?")

    assert FAQ in sent(app, 0)
    assert chips(app) == []


def test_the_window_counts_the_knowledge_before_it_is_sent(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    list(app.engine.chat(session.id, "Hello"))
    app.run()
    before = app.texts()

    give(app, "faq", FAQ * 20)

    tokens = app.engine.context(session.id, knowledge={"faq": FAQ * 20}).breakdown.input_tokens
    assert f"**≈{tokens:,}**" not in before
    assert f"**≈{tokens:,}**" in app.texts()


def test_a_second_text_of_a_name_does_not_replace_the_first(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()

    give(app, "notes", "One.")
    give(app, "notes", "Two.")

    assert [chip.split(" · ")[0] for chip in chips(app)] == ["notes", r"notes \(2\)"]


@pytest.mark.parametrize("language", languages())
def test_knowledge_that_does_not_fit_is_told_before_it_is_sent(
    app: Dashboard, language: str
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = app.engine.create_session("Chat")
    list(app.engine.chat(session.id, "Hello"))
    app.run()
    give(app, "faq", FAQ)
    told = translate("chat.knowledge.cut", language).split("{")[0]
    assert told not in app.texts()

    give(app, "manual", FAQ * 1_000)

    sent = app.engine.context(
        session.id, knowledge={"faq": FAQ, "manual": FAQ * 1_000}
    ).breakdown.knowledge
    [line] = [one.value for one in app.at.caption if told in one.value]
    assert f"≈{sent:,}" in line


def test_a_chip_removes_its_text(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()
    give(app, "one", "Something.")
    give(app, "two", "Something else.")

    app.at.button(key="chat_knowledge_0").click().run()
    app.check()

    assert [chip.split(" · ")[0] for chip in chips(app)] == ["two"]


def test_a_file_is_read_by_a_call_before_the_question(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.run()

    attach(app, "records.json", RECORDS.encode(), "How many are not ok?")

    stored = [info.message for info in app.engine.store.messages(session.id)]
    roles = [message.role for message in stored]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert json.loads(stored[1].calls[0].arguments) == {"path": "records.json"}
    assert stored[2].answers == stored[1].calls[0].id
    assert stored[2].text == RECORDS
    assert stored[4].text == "How many are not ok?"


def test_the_question_is_the_goal_and_not_the_words_around_its_file(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.run()

    attach(app, "records.json", RECORDS.encode(), "How many are not ok?")
    attach(app, "more.json", RECORDS.encode(), "And of these?")

    assert app.engine.session(session.id).goal_seq == 5


def test_a_file_does_not_change_what_a_session_is_for(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    list(app.engine.chat(session.id, "Sort my records."))
    app.run()

    attach(app, "records.json", RECORDS.encode(), "How many are not ok?")

    assert app.engine.session(session.id).goal_seq == 1


def test_the_transcript_shows_the_file_and_what_is_sent_of_it(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.run()

    attach(app, "records.json", RECORDS.encode(), "How many are not ok?")
    app.run()

    verdict = app.engine.context(session.id).verdict(2)
    assert verdict.verdict == "compressed"
    sizes = f"≈{verdict.before_tokens:,} → ≈{verdict.after_tokens:,} tokens"
    assert any(sizes in expander.label for expander in app.at.expander)
    app.at.session_state["chat_tool_2_0"] = True
    app.run()
    assert [tab.label for tab in app.at.tabs] == ["Original", "What is sent"]
    original, short = (tab.code[0].value for tab in app.at.tabs)
    assert original.startswith(RECORDS[:100])
    assert len(short) < len(original)


def test_a_file_alone_is_asked_about(app: Dashboard) -> None:
    session = app.engine.create_session("Chat")
    app.run()

    attach(app, "notes.txt", "Grüße".encode())

    texts = [info.message.text for info in app.engine.store.messages(session.id)]
    assert texts[2] == "Grüße"
    assert texts[4] == "What does notes.txt say?"


@pytest.mark.parametrize("language", languages())
def test_a_file_that_is_no_text_is_refused_and_the_message_kept(
    app: Dashboard, language: str
) -> None:
    app.engine.store.save_setting("language:local", language)
    session = app.engine.create_session("Chat")
    app.run()

    attach(app, "cat.png", b"\x89PNG\x00\xff", "What is it?")

    assert app.engine.session(session.id).length == 0
    assert "cat" in app.at.error[0].value
    assert "What is it?" in app.texts()
    button = app.at.button(key="chat_unsent_send")
    assert button.label == translate("chat.file.send_without", language)
    button.click().run()
    app.check()
    first = app.engine.store.messages(session.id)[0]
    assert first.message.text == "What is it?"
    assert not [one for one in app.at.button if one.key == "chat_unsent_send"]
