"""The sessions page: find, rename, fork, delete with a way back, erase, import, export, search."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.exports.registry import EXPORT_FORMS
from dashboard.housekeeping import keep_house
from dashboard.sessions_page.listing import PAGE_SESSIONS
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import Dashboard, open_dashboard
from tests.small_transcript import claude_code_lines

KEY = "AKIA" + "Q3EGRZ7WTN5X" + "2MLB"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch) as opened:
        yield opened


def opened(app: Dashboard, view: str = "list", language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.run()
    app.go("sessions")
    if view != "list":
        app.at.segmented_control(key="sessions_view").set_value(view).run()
        app.check()
    return app.at


def session_with(app: Dashboard, title: str, text: str = "hello") -> str:
    session = app.engine.create_session(title)
    app.engine.append(session.id, [{"role": "user", "content": text}])
    return session.id


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize(
    ("view", "key"),
    [
        ("list", "sessions.empty"),
        ("import", "sessions.import.empty"),
        ("search", "sessions.search.empty"),
        ("deleted", "sessions.deleted.empty"),
    ],
)
def test_every_view_has_words_for_nothing(
    app: Dashboard, view: str, key: str, language: Language
) -> None:
    at = opened(app, view, language)

    assert translate(key, language) in [info.value for info in at.info]


def test_the_list_is_filtered_by_title(app: Dashboard) -> None:
    session_with(app, "Trip to Kyoto")
    session_with(app, "Tax return")
    at = opened(app)

    at.text_input(key="sessions_filter").set_value("kyoto").run()
    app.check()

    assert list(at.dataframe[0].value["Title"]) == ["Trip to Kyoto"]


def test_a_long_list_has_pages(app: Dashboard) -> None:
    for number in range(PAGE_SESSIONS + 1):
        app.engine.create_session(f"Session {number}")

    at = opened(app)

    assert len(at.dataframe[0].value) == PAGE_SESSIONS


def test_renaming_saves_the_title(app: Dashboard) -> None:
    session_id = session_with(app, "Old")
    at = opened(app)

    at.text_input(key=f"sessions_title_{session_id}").set_value(" New ").run()
    app.check()

    assert app.engine.session(session_id).title == "New"


def test_a_fork_is_a_copy_and_is_taken_in_hand(app: Dashboard) -> None:
    session_id = session_with(app, "Plan")
    at = opened(app)

    at.button(key="sessions_fork").click().run()
    app.check()

    fork = next(one for one in app.engine.sessions() if one.id != session_id)
    assert (fork.title, fork.parent_id, fork.length) == ("Plan (copy)", session_id, 1)
    assert at.session_state["session_id"] == fork.id


def test_a_deleted_session_comes_back_at_once_or_from_the_list(app: Dashboard) -> None:
    session_id = session_with(app, "Keep me")
    at = opened(app)
    at.button(key="sessions_delete").click().run()
    app.check()
    assert app.engine.sessions() == []

    at.button(key="sessions_undo_delete").click().run()
    app.check()
    assert [one.id for one in app.engine.sessions()] == [session_id]

    app.engine.delete(session_id)
    at.segmented_control(key="sessions_view").set_value("deleted").run()
    at.button(key=f"sessions_restore_{session_id}").click().run()
    app.check()
    assert [one.id for one in app.engine.sessions()] == [session_id]


def test_erasing_asks_first(app: Dashboard) -> None:
    session_id = session_with(app, "Secret")
    app.engine.delete(session_id)
    at = opened(app, "deleted")

    at.button(key=f"sessions_purge_{session_id}").click().run()
    assert len(app.engine.sessions(deleted=True)) == 1
    assert any("Secret" in warning.value for warning in at.warning)
    at.button(key="sessions_purge_confirm").click().run()
    app.check()

    assert app.engine.sessions(deleted=True) == []


@pytest.mark.parametrize("language", languages())
def test_an_upload_is_shown_before_it_is_imported(app: Dashboard, language: Language) -> None:
    at = opened(app, "import", language)
    data = claude_code_lines().encode() + b'{"type": "user", "mess\n'

    at.file_uploader(key="sessions_upload_0").upload("small.jsonl", data, "text/plain").run()
    app.check()
    assert app.engine.sessions() == []
    assert at.dataframe[0].value.shape[0] == 1

    at.button(key="sessions_import_start").click().run()
    app.check()
    (session,) = app.engine.sessions()
    assert session.length == 8
    assert at.success[0].value
    assert link_labels(at) == [translate(f"shell.page.{name}", language) for name in LINKED]

    at.button(key=f"sessions_take_{session.id}").click().run()
    at.button(key="sessions_import_again").click().run()
    app.check()
    assert at.session_state["session_id"] == session.id


def test_a_file_without_a_conversation_says_why(app: Dashboard) -> None:
    at = opened(app, "import")

    at.file_uploader(key="sessions_upload_0").upload("x.json", b"{", "text/plain").run()
    app.check()

    assert "JSON" in at.error[0].value


def test_the_chosen_session_is_linked_to_every_page_that_shows_one(app: Dashboard) -> None:
    session_with(app, "Plan")

    assert link_labels(opened(app)) == [translate(f"shell.page.{name}", "en") for name in LINKED]


@pytest.mark.parametrize("language", languages())
def test_a_session_is_exported_in_every_form(app: Dashboard, language: str) -> None:
    session_with(app, "Plan")
    at = opened(app, language=language)

    options = at.selectbox(key="sessions_export_form").options
    assert options == [translate(f"sessions.export.{form}", language) for form in EXPORT_FORMS]
    at.selectbox(key="sessions_export_form").select("markdown").run()
    app.check()
    assert at.download_button(key="sessions_export_file")


@pytest.mark.parametrize("language", languages())
def test_an_export_says_how_many_secrets_it_leaves_out(app: Dashboard, language: str) -> None:
    session_with(app, "Keys", f"use {KEY} and {KEY}")
    at = opened(app, language=language)

    at.checkbox(key="sessions_export_redact").check().run()
    app.check()

    assert translate("sessions.export.secrets", language, count="1") in app.texts()


def test_messages_are_found_by_their_words(app: Dashboard) -> None:
    session_with(app, "Garden", "the heron stood in the pond")
    at = opened(app, "search")

    at.text_input(key="sessions_query").set_value("heron").run()
    app.check()

    assert "heron" in at.text[0].value
    link, why = (link.proto for link in at.get("page_link")[-2:])
    assert "m=1" in link.query_string
    assert why.label == translate("story.why.link", "en")
    assert "m=1" in why.query_string
    assert "why=1" in why.query_string
    at.text_input(key="sessions_query").set_value("pelican").run()
    app.check()
    assert translate("sessions.search.none", "en") in [info.value for info in at.info]


def test_operators_see_and_assign_the_sessions_of_others(app: Dashboard) -> None:
    app.engine.create_user("ana", name="Ana")
    theirs = ContextEngine(app.engine.store, user_id="ana").create_session("Ana's")
    at = opened(app)

    at.selectbox(key="sessions_by_user").set_value("*").run()
    app.check()
    assert list(at.dataframe[0].value["User"]) == ["ana"]

    at.selectbox(key=f"sessions_assign_{theirs.id}").set_value("local").run()
    app.check()
    assert app.engine.session(theirs.id).user_id == "local"


@pytest.mark.parametrize("language", languages())
def test_filters_narrow_the_list_and_are_cleared_together(
    app: Dashboard, language: Language
) -> None:
    session_with(app, "Own")
    (imported,) = app.engine.import_(claude_code_lines(), name="small.jsonl")
    at = opened(app, language=language)
    column = translate("sessions.name", language)

    at.segmented_control(key="sessions_by_imported").set_value("yes").run()
    app.check()
    assert list(at.dataframe[0].value[column]) == [imported.title]

    at.number_input(key="sessions_by_messages").set_value(1_000).run()
    app.check()
    assert translate("sessions.none_found", language) in [info.value for info in at.info]

    at.button(key="sessions_filters_clear").click().run()
    app.check()
    assert len(at.dataframe[0].value) == 2


def test_all_listed_sessions_are_exported_into_one_file(app: Dashboard) -> None:
    session_with(app, "One")
    session_with(app, "Two")
    at = opened(app)

    at.selectbox(key="sessions_export_all_form").select("usage-csv").run()
    at.button(key="sessions_export_all").click().run()
    app.check()

    assert at.get("download_button")
    at.button(key="sessions_export_dismiss").click().run()
    app.check()
    assert at.button(key="sessions_export_all")


@pytest.mark.parametrize("language", languages())
def test_two_sessions_stand_side_by_side_with_where_they_part(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Plan")
    said = [{"role": "user", "content": word} for word in ("one", "two", "three")]
    app.engine.append(session.id, said)
    branch = app.engine.branch(session.id, 2, title="Other plan")
    app.engine.append(branch.id, [{"role": "user", "content": "four"}])
    at = opened(app, language=language)
    app.open_row("sessions_list", session.id)

    at.selectbox(key=f"sessions_compare_{session.id}").set_value(branch.id).run()
    app.check()

    table = at.dataframe[1].value
    assert list(table.columns)[1:] == ["Plan", "Other plan"]
    assert translate("sessions.compare.parts", language, shared="2") in app.texts()
    assert {"three", "four"} <= {one.value for one in at.text}


def aged(app: Dashboard, title: str) -> str:
    """A session that was last changed long ago."""
    at = datetime(2020, 1, 1, tzinfo=UTC)
    store = app.engine.store
    return store.create_session(f"old {title}", user_id="local", at=at, title=title).id


@pytest.mark.parametrize("language", languages())
def test_what_retention_would_delete_is_shown_before_it_is_saved(
    app: Dashboard, language: Language
) -> None:
    old = aged(app, "Ancient")
    session_with(app, "Fresh")
    at = opened(app, "deleted", language)
    assert translate("sessions.keep.none", language) in app.texts()

    at.number_input(key="sessions_keep_days_user").set_value(90).run()
    app.check()
    assert list(at.dataframe[0].value[translate("sessions.name", language)]) == ["Ancient"]
    assert app.engine.delete_due() == []
    at.button(key="sessions_keep_save").click().run()
    app.check()

    assert at.button(key="sessions_keep_save").disabled
    keep_house(app.engine)
    assert [one.id for one in app.engine.sessions(deleted=True)] == [old]


@pytest.mark.parametrize("language", languages())
def test_all_deleted_sessions_are_erased_once_the_word_is_typed(
    app: Dashboard, language: Language
) -> None:
    for title in ("One", "Two"):
        app.engine.delete(session_with(app, title))
    kept = session_with(app, "Three")
    at = opened(app, "deleted", language)

    at.button(key="sessions_erase_all").click().run()
    assert at.button(key="sessions_erase_confirm").disabled
    word = translate("sessions.erase_all.word", language)
    at.text_input(key="sessions_erase_word").set_value(word).run()
    at.button(key="sessions_erase_confirm").click().run()
    app.check()

    assert app.engine.sessions(deleted=True) == []
    assert [one.id for one in app.engine.sessions()] == [kept]


def link_labels(at: Any) -> list[str]:
    """What the links on the page say."""
    return [link.proto.label for link in at.main.get("page_link")]


LINKED = ("chat", "context", "usage", "compaction")
