"""System prompt and tool definitions on the pages: given to a new session, and changed in one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore import count_messages
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.exact import weights_path
from dashboard.texts import languages, translate
from tests.dashboard_app import MODEL, Dashboard, open_dashboard


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def tool(name: str, told: str = "Reads.") -> JsonObject:
    function: JsonObject = {"name": name, "description": told, "parameters": {"type": "object"}}
    return {"type": "function", "function": function}


SMALL, LARGE = tool("small"), tool("large", "Reads a file. " * 20)


def talked(app: Dashboard, system: str | None = "Be brief.") -> SessionInfo:
    """A session in which one call was made."""
    session = app.engine.create_session("Chat", system=system)
    list(app.engine.chat(session.id, "Hello"))
    return session


def open_fields(app: Dashboard) -> None:
    app.at.button(key="instructions_open").click().run()
    app.check()


def write(app: Dashboard, key: str, text: str) -> None:
    app.at.text_area(key=key).set_value(text).run()
    app.check()


def save(app: Dashboard) -> None:
    app.at.button(key="instructions_save").click().run()
    app.check()


def test_one_click_still_makes_an_empty_session(app: Dashboard) -> None:
    app.run()

    app.at.button(key="shell_new").click().run()
    app.check()

    [session] = app.engine.sessions()
    assert (session.length, session.tools, session.model) == (0, (), None)


@pytest.mark.parametrize("page", ["chat", "usage"])
def test_a_session_is_created_with_prompt_tools_and_model(app: Dashboard, page: str) -> None:
    app.run()
    app.go(page)
    app.at.button(key="shell_new_with").click().run()
    app.check()
    app.at.text_input(key="new_session_title").set_value("Mine").run()
    write(app, "new_session_system", "Be brief.")
    write(app, "new_session_tools", json.dumps([SMALL]))

    app.at.button(key="new_session_create").click().run()
    app.check()

    [session] = app.engine.sessions()
    assert session.title == "Mine"
    assert app.engine.system(session.id) == "Be brief."
    assert session.tools == (SMALL,)
    assert not app.at.text_area


def test_a_definition_file_becomes_the_tools_of_a_new_session(app: Dashboard) -> None:
    app.run()
    app.at.button(key="shell_new_with").click().run()
    data = json.dumps({"model": "x", "tools": [SMALL, LARGE]}).encode()
    app.at.file_uploader(key="new_session_upload").upload("tools.json", data, "application/json")
    app.at.run()
    app.check()

    app.at.button(key="new_session_create").click().run()
    app.check()

    [session] = app.engine.sessions()
    assert session.tools == (SMALL, LARGE)


def test_tokens_stand_beside_each_definition_the_largest_first(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", tools=[SMALL, LARGE])
    app.run()

    open_fields(app)

    shown = app.at.dataframe[0].value
    assert list(shown["Tool"]) == ["large", "small"]
    empty = count_messages([], model=MODEL)
    whole = count_messages([], model=MODEL, tools=[SMALL, LARGE]) - empty
    assert sum(shown["Tokens · estimated"]) < whole
    assert f"2 definitions, with the frame they share: ≈{whole} tokens" in app.texts()
    assert "of the window" in app.texts()
    assert app.engine.session(session.id).tools == (SMALL, LARGE)


@pytest.mark.skipif(weights_path() is None, reason="the weights are not installed")
def test_a_model_that_takes_only_texts_still_shows_what_the_tools_would_take(
    app: Dashboard,
) -> None:
    app.engine.create_session("Chat", model=LOCAL_MODEL, tools=[SMALL, LARGE])
    app.run()
    unsent = translate("instructions.has_unsent_tools", "en").format(count=2)
    assert unsent in app.texts()

    open_fields(app)

    assert translate("instructions.not_sent", "en") in app.texts()
    shown = app.at.dataframe[0].value
    assert list(shown["Tool"]) == ["large", "small"]
    assert min(shown["Tokens · estimated"]) > 0


def test_what_the_engine_adds_to_the_tools_is_told_beside_them(app: Dashboard) -> None:
    session = app.engine.create_session("Chat", tools=[SMALL])
    app.run()

    open_fields(app)

    whole = app.engine.call_target(session.id).call.tools_tokens
    own = whole - count_messages([], model=MODEL, tools=[SMALL]) + count_messages([], model=MODEL)
    assert translate("instructions.expand", "en").format(tokens=f"≈{own}") in app.texts()


def test_the_tokens_follow_what_is_written(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()
    open_fields(app)
    before = app.texts()

    write(app, "instructions_system", "Be brief, and always answer in English. " * 5)

    assert before != app.texts()
    assert app.at.session_state["instructions_system"].startswith("Be brief")


def test_a_saved_prompt_is_in_force_and_earlier_ones_can_be_taken_back(app: Dashboard) -> None:
    session = talked(app)
    app.run()
    open_fields(app)
    write(app, "instructions_system", "Be long.")
    save(app)
    assert app.engine.system(session.id) == "Be long."
    assert not app.at.text_area

    open_fields(app)
    assert "Be brief\\." in app.texts()
    app.at.button(key="instructions_back_0").click().run()
    app.check()

    assert app.engine.system(session.id) == "Be brief."
    assert [version.in_force for version in app.engine.system_versions(session.id)] == [
        *(False, False),
        True,
    ]


def test_a_replaced_prompt_is_not_told_as_a_message_that_does_not_fit(app: Dashboard) -> None:
    session = talked(app)
    app.engine.set_system(session.id, "Be long.")

    app.run()

    assert app.engine.context(session.id).verdict(0).reason.code == "verdict.system_replaced"
    assert "do not fit" not in app.texts()


def test_an_emptied_field_leaves_no_prompt(app: Dashboard) -> None:
    session = talked(app)
    app.run()
    open_fields(app)
    write(app, "instructions_system", "  ")

    save(app)

    assert app.engine.system(session.id) is None
    assert translate("instructions.has_no_system", "en") in app.texts()


def test_the_broken_cache_is_told_with_the_input_of_the_next_call(app: Dashboard) -> None:
    session = talked(app)
    app.run()
    open_fields(app)
    assert not app.at.warning

    write(app, "instructions_system", "Be long, please.")
    write(app, "instructions_tools", json.dumps([SMALL]))
    [told] = [warning.value for warning in app.at.warning]
    save(app)

    tokens = app.engine.context(session.id).breakdown.input_tokens
    assert f"≈{tokens:,} tokens anew" in told


def test_nothing_is_told_of_a_cache_before_the_first_call(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()
    open_fields(app)

    write(app, "instructions_system", "Be long.")

    assert not app.at.warning


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[{"name": ]', "Line 1, column 11"),
        ("[1]", "tools[0]"),
        ('{"name": "one"}', "tools"),
        (json.dumps([SMALL, {"type": "function"}]), "definition 2"),
    ],
)
def test_a_mistake_in_the_definitions_names_its_place(
    app: Dashboard, text: str, place: str
) -> None:
    app.engine.create_session("Chat")
    app.run()
    open_fields(app)

    write(app, "instructions_tools", text)

    [error] = [error.value for error in app.at.error]
    assert place in error.replace("\\", "")
    assert app.at.button(key="instructions_save").disabled


def test_a_file_that_is_no_text_is_refused(app: Dashboard) -> None:
    app.engine.create_session("Chat")
    app.run()
    open_fields(app)

    app.at.file_uploader(key="instructions_upload").upload("x.json", b"\xff\x00", "text/plain")
    app.at.run()
    app.check()

    assert "not text" in app.at.error[0].value


def test_nothing_is_saved_while_a_turn_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ScriptedReply(text="One."), ScriptedReply(text="Two.", first_delay_seconds=2)]
    with open_dashboard(tmp_path, monkeypatch, replies=replies) as app:
        session = talked(app)
        app.run()
        open_fields(app)
        write(app, "instructions_system", "Be long.")
        app.turn_runner.start(app.engine, session.id, "Go on")  # in another tab

        save(app)

        assert app.engine.system(session.id) == "Be brief."
        assert "a turn is running" in app.texts().lower()


@pytest.mark.parametrize("language", languages())
def test_the_fields_speak_the_language_of_the_page(app: Dashboard, language: str) -> None:
    app.engine.store.save_setting("language:local", language)
    app.engine.create_session("Chat", tools=[SMALL])
    app.run()

    open_fields(app)

    assert app.at.text_area(key="instructions_system").label == translate(
        "instructions.system", language
    )
    assert translate("instructions.told", language) in app.texts()
