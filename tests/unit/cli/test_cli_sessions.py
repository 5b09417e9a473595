"""`ctxcore sessions`: what a database holds, and the short ids that `expand` takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore import ContextEngine, open_store
from ctxcore.cli.sessions import LEAST_CHARS, short_ids
from tests.unit.cli.files import errors, results, run, run_json

IDS = ("a1b2c3d4e5f60718", "a1b2c3d4e5ff0718", "0f0f0f0f0f0f0f0f", "harbour")
TITLES = ("Late orders", "Late invoices", "A trip \x1b[31m[b]", "")


def clock() -> Iterator[datetime]:
    at = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    while True:
        yield at
        at += timedelta(minutes=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with four sessions of the user `local`, the last one changed last."""
    file, ids, times = tmp_path / "chat.db", iter(IDS), clock()
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(store, new_id=lambda: next(ids), clock=lambda: next(times))
        for title in TITLES:
            session = engine.create_session(title, model="gpt-4o")
            engine.append(session.id, [{"role": "user", "content": f"about {title or 'it'}"}])
        engine.create_user("eve")
    return file


def test_the_session_last_changed_comes_first_with_as_much_of_its_id_as_tells_it_apart(
    path: Path,
) -> None:
    lines = run("sessions", "--database", path).stdout.splitlines()

    assert lines[0].split() == ["id", "title", "messages", "model", "cost", "last", "changed"]
    assert [line.split()[0] for line in lines[2:]] == [
        "harbour",
        "0f0f0f0f",
        "a1b2c3d4e5ff",
        "a1b2c3d4e5f6",
    ]
    assert "Late orders" in lines[-1]
    assert "gpt-4o" in lines[-1]
    assert "untitled" in lines[2]


def test_what_a_title_says_is_shown_and_never_obeyed(path: Path) -> None:
    shown = run("sessions", "--database", path).stdout

    assert "\x1b" not in shown
    assert "[b]" in shown


def test_a_title_is_looked_for_in_any_case(path: Path) -> None:
    lines = run("sessions", "--title", "LATE", "--database", path).stdout.splitlines()

    assert len(lines) == 4


def test_a_limit_tells_how_many_more_there_are(path: Path) -> None:
    shown = run("sessions", "--limit", "3", "--database", path).stdout

    assert "1 more; use --limit or --title" in shown


def test_on_a_narrow_terminal_ids_and_times_stay_whole(path: Path) -> None:
    shown = run("sessions", "--database", path, columns=60).stdout

    assert "a1b2c3d4e5f6" in shown
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d$", shown, re.MULTILINE)) == 4


def test_the_document_has_whole_ids_and_times(path: Path) -> None:
    first, *_ = results(run_json("sessions", "--title", "orders", "--database", path))

    assert first == {
        "id": IDS[0],
        "short_id": "a1b2c3d4e5f6",
        "title": "Late orders",
        "messages": 1,
        "model": "gpt-4o",
        "cost": None,
        "changed_at": "2026-03-02T09:02:00+00:00",
    }


def test_without_sessions_it_says_how_one_comes(path: Path) -> None:
    done = run("sessions", "--user", "eve", "--database", path)

    assert (done.exit_code, done.stdout) == (0, "")
    assert "start one in the dashboard" in done.stderr
    assert results(run_json("sessions", "--user", "eve", "--database", path)) == []


def test_a_title_that_nothing_has_says_how_many_there_are_without_it(path: Path) -> None:
    done = run("sessions", "--title", "moon", "--database", path)

    assert (done.exit_code, done.stdout) == (0, "")
    assert "no title contains 'moon'" in done.stderr
    assert "4 in all" in done.stderr


def test_a_database_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    done = run("sessions", "--database", tmp_path / "none.db")

    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no file" in done.stderr
    (error,) = errors(run_json("sessions", "--database", tmp_path / "none.db"))
    assert error["kind"] == "DatabaseError"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("beginning", ["0", "0f0f0f0f", IDS[2]])
def test_expand_takes_any_beginning_that_one_session_has(path: Path, beginning: str) -> None:
    done = run("expand", beginning, "m1", "--database", path)

    assert done.stdout.startswith("about A trip")
    (one,) = results(run_json("expand", beginning, "m1", "--database", path))
    assert one["session_id"] == IDS[2]


def test_an_ambiguous_beginning_names_what_it_may_be(path: Path) -> None:
    done = run("expand", "a1b2", "m1", "--database", path)

    assert (done.exit_code, done.stdout) == (1, "")
    assert "2 sessions have an id that begins with 'a1b2'" in done.stderr
    assert "a1b2c3d4e5f6 'Late orders', a1b2c3d4e5ff 'Late invoices'" in done.stderr


def test_the_sessions_of_others_do_not_make_a_beginning_ambiguous(path: Path) -> None:
    with closing(open_store(str(path))) as store:
        ContextEngine(store, user_id="eve", new_id=lambda: "0f0fff").create_session("Hers")

        assert not store.user("eve").is_operator
    hers = run("expand", "0f", "m1", "--user", "eve", "--database", path)
    unknown = run("expand", "a1b2c3d4e5f6", "m1", "--user", "eve", "--database", path)

    assert "has no messages" in hers.stderr or "m1" in hers.stderr
    assert "there is no session 'a1b2c3d4e5f6'" in unknown.stderr


def test_an_empty_id_is_nobody_s(path: Path) -> None:
    done = run("expand", "", "m1", "--database", path)

    assert done.exit_code == 1
    assert "there is no session ''" in done.stderr


@given(st.sets(st.text("ab01", min_size=1, max_size=14), max_size=12))
def test_a_short_id_is_the_whole_id_or_the_beginning_of_one_only(ids: set[str]) -> None:
    for own, short in short_ids(ids).items():
        assert own.startswith(short)
        assert len(short) >= min(LEAST_CHARS, len(own))
        assert short == own or [one for one in ids if one.startswith(short)] == [own]
