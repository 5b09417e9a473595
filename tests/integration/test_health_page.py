"""The health page: versions, database, backup, running turns, failed calls, models, counters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.sql import open_store
from dashboard.health_page.upkeep import backup_bytes
from dashboard.texts import Language, languages, translate
from tests.dashboard_app import MODEL, WINDOW_TOKENS, Dashboard, open_dashboard


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    with open_dashboard(tmp_path, monkeypatch, replies=[ScriptedReply(error="auth")]) as opened:
        yield opened


def opened(app: Dashboard, language: Language = "en") -> Any:
    app.engine.store.save_setting("language:local", language)
    app.run()
    return app.go("health")


@pytest.mark.parametrize("language", languages())
def test_an_empty_installation_says_what_there_is(app: Dashboard, language: Language) -> None:
    at = opened(app, language)

    assert at.title[0].value == translate("health.title", language)
    versions = at.dataframe[-1].value
    assert "streamlit" in list(versions[translate("health.package", language)])
    assert translate("health.errors.none", language) in [info.value for info in at.info]
    assert translate("health.turns.none", language) in app.texts()
    assert at.code[0].value.startswith("sqlite:///")


@pytest.mark.parametrize("language", languages())
def test_failed_calls_running_turns_and_models_are_listed(
    app: Dashboard, language: Language
) -> None:
    session = app.engine.create_session("Chat", model=MODEL)
    list(app.engine.chat(session.id, "hello"))

    at = opened(app, language)

    tables = [one.value for one in at.dataframe]
    errors = next(one for one in tables if translate("usage.error", language) in one.columns)
    assert list(errors[translate("usage.model", language)]) == [MODEL]
    models = next(
        one for one in tables if translate("health.window_source", language) in one.columns
    )
    assert list(models[translate("usage.window", language)]) == [WINDOW_TOKENS]
    own = translate("health.source.own", language)
    assert list(models[translate("health.window_source", language)]) == [own]


def test_the_database_is_checked_on_request(app: Dashboard) -> None:
    at = opened(app)
    assert not at.success

    at.button(key="health_check").click().run()
    app.check()

    assert at.success[0].value == translate("health.check.sound", "en")


def test_a_backup_is_a_database_of_its_own_and_overwrites_nothing(
    app: Dashboard, tmp_path: Path
) -> None:
    session = app.engine.create_session("Kept")
    at = opened(app)
    path = tmp_path / "copies" / "backup.db"

    for _ in range(2):
        at.text_input(key="health_backup_path").set_value(str(path)).run()
        at.button(key="health_backup_save").click().run()
        app.check()

    assert len(at.error) == 1
    copy = open_store(f"sqlite:///{path}")
    assert copy.session(session.id).title == "Kept"
    copy.close()
    assert backup_bytes(app.engine)().startswith(b"SQLite format 3")


def test_a_backup_takes_the_place_of_the_database_once_a_word_is_typed(
    app: Dashboard, tmp_path: Path
) -> None:
    kept = app.engine.create_session("Kept")
    path = tmp_path / "backup.db"
    app.engine.back_up(path)
    later = app.engine.create_session("Later")
    at = opened(app)

    at.button(key="health_restore").click().run()
    at.text_input(key="health_restore_path").set_value(str(path)).run()
    assert at.button(key="health_restore_confirm").disabled
    at.text_input(key="health_restore_word").set_value(" Restore ").run()
    at.button(key="health_restore_confirm").click().run()
    app.check()

    assert "The former database is in" in at.success[0].value
    assert app.engine.session(kept.id).title == "Kept"
    with pytest.raises(SessionNotFoundError):
        app.engine.session(later.id)
    [former] = tmp_path.glob("*.before-*")
    with closing(open_store(f"sqlite:///{former}")) as store:
        assert store.session(later.id).title == "Later"


def test_what_is_no_backup_replaces_nothing(app: Dashboard, tmp_path: Path) -> None:
    session = app.engine.create_session("Kept")
    path = tmp_path / "notes.db"
    path.write_text("no database")
    at = opened(app)

    at.button(key="health_restore").click().run()
    at.text_input(key="health_restore_path").set_value(str(path)).run()
    at.text_input(key="health_restore_word").set_value("restore").run()
    at.button(key="health_restore_confirm").click().run()
    app.check()

    assert len(at.error) == 1
    assert app.engine.session(session.id).title == "Kept"
    assert not [*tmp_path.glob("*.before-*")]


def test_others_than_operators_neither_see_nor_ask(app: Dashboard) -> None:
    app.engine.create_user("boss")
    app.engine.store.update_user("boss", is_operator=True)
    app.engine.store.update_user("local", is_operator=False)

    app.run()

    with pytest.raises(ValueError, match="Could not find a navigation page"):
        app.at.switch_page("../pages/health.py")
    other = ContextEngine(app.engine.store, user_id="local")
    with pytest.raises(NotAllowedError):
        other.health()
    with pytest.raises(NotAllowedError):
        other.restore_backup(Path("any.db"))
