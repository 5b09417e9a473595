"""`ctxcore recall`: what a session says about some words, with what stands around it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from tests.unit.cli.files import errors, results, run, run_json

SAID = [
    {"role": "user", "content": "When does the ferry to Orust leave?"},
    {"role": "assistant", "content": "At a quarter past seven."},
    *[{"role": "user", "content": f"A pebble, number {n}"} for n in range(9)],
    {"role": "user", "content": "And the ferry back,\x1b[31m on 8 May?"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with the session `harbour`, of the user `local`."""
    file = tmp_path / "chat.db"
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(store, new_id=lambda: "harbour-0001")
        engine.create_session("Harbour", system="Be brief.")
        engine.append("harbour-0001", SAID)
        engine.create_user("eve")
    return file


def test_matches_are_printed_among_what_stands_around_them(path: Path) -> None:
    done = run("recall", "harbour", "ferries to orust", "--database", path)

    first, second = done.stdout.split("\n\n")
    assert first.startswith("> m2 · user · 20")
    assert "When does the ferry to Orust leave?\n  m3 · assistant" in first
    assert "At a quarter past seven." in first
    assert "> m13 · user" in second
    assert "\\x1b[31m" in second
    assert "2 results" in done.stderr


def test_a_limit_keeps_the_best(path: Path) -> None:
    args = ("harbour", "ferries to orust", "--limit", "1", "--database", path)

    assert run("recall", *args).stdout.count("> m") == 1
    [hit] = results(run_json("recall", *args))
    assert (hit["session_id"], hit["seq"], hit["role"]) == ("harbour-0001", 2, "user")
    assert [one["seq"] for one in hit["after"]] == [3, 4, 5]


@pytest.mark.parametrize("words", ["whales", "where is it", ""])
def test_that_nothing_was_found_is_told(path: Path, words: str) -> None:
    done = run("recall", "harbour", words, "--database", path)

    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing said in the session" in done.stderr
    assert results(run_json("recall", "harbour", words, "--database", path)) == []


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (("reef", "ferry"), "SessionNotFoundError"),
        (("harbour-0001", "ferry", "--user", "eve"), "NotAllowedError"),
    ],
)
def test_what_may_not_be_read_is_refused(path: Path, args: tuple[str, ...], kind: str) -> None:
    done = run("recall", *args, "--database", path)

    assert (done.exit_code, done.stdout) == (1, "")
    (error,) = errors(run_json("recall", *args, "--database", path))
    assert error["kind"] == kind
