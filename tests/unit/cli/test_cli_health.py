"""`ctxcore health`: the state of an installation on the command line."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ctxcore.engine.core import ContextEngine
from ctxcore.store.sql import open_store
from tests.unit.cli.files import results, run, run_json


def database(folder: Path) -> str:
    url = f"sqlite:///{folder / 'test.db'}"
    store = open_store(url)
    engine = ContextEngine(store, model="openai/gpt-4o")
    engine.user()
    engine.create_session("Chat", model="made/up")
    store.close()
    return url


def test_json_says_what_the_health_page_says(tmp_path: Path) -> None:
    url = database(tmp_path)

    (found,) = results(run_json("health", "--database", url, "--check"))

    assert found["versions"]["ctxcore"]
    assert found["database"]["sessions"] == 1
    assert (found["database"]["checked"], found["database"]["problems"]) == (True, [])
    assert (found["running_turns"], found["failed_calls"], found["counters"]) == ([], [], [])
    unknown = {"window_tokens": None, "window_source": "unknown", "price_source": "unknown"}
    assert found["models"] == [{"model": "made/up", **unknown}]


def test_what_was_not_checked_is_not_called_sound(tmp_path: Path) -> None:
    (found,) = results(run_json("health", "--database", database(tmp_path)))

    assert (found["database"]["checked"], found["database"]["problems"]) == (False, None)


def test_a_backup_is_made_and_told_and_never_overwrites(tmp_path: Path) -> None:
    url, copy = database(tmp_path), tmp_path / "copy.db"

    made = run("health", "--database", url, "--backup", copy)
    again = run("health", "--database", url, "--backup", copy)

    assert made.exit_code == 0
    assert "copy.db" in made.stdout + made.stderr
    assert again.exit_code != 0
    with closing(open_store(f"sqlite:///{copy}")) as copied:
        assert len(copied.list_sessions()) == 1
