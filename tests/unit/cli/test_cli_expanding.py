"""`ctxcore expand`: exact parts of a stored message on stdout, what is wrong on stderr."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from tests.unit.cli.files import errors, results, run, run_json

SHIPS = [{"ship": f"S-{n:03d}", "port": f"quay {n * 31 % 17}", "crew": n} for n in range(200)]
LOG = "\n".join(f"step {n}: {'failed' if n == 70 else 'went well'}" for n in range(120))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with the session `harbour`, of the user `local`."""
    file = tmp_path / "chat.db"
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(store, new_id=lambda: "harbour")
        engine.create_session("Harbour", system="Be brief.")
        said = [{"role": "user", "content": json.dumps(SHIPS)}, {"role": "user", "content": LOG}]
        engine.append("harbour", said)
        engine.create_user("eve")
    return file


def test_the_part_alone_is_on_stdout(path: Path) -> None:
    done = run("expand", "harbour", "m2", "--path", "[41]", "--database", path)

    assert json.loads(done.stdout) == SHIPS[41]
    assert done.stderr.startswith("m2: ")
    assert done.stderr.endswith(" tokens\n")


@pytest.mark.parametrize("ref", ["m3", "3", "… whole: m3"])
def test_a_reference_is_taken_in_every_form_in_which_it_is_written(path: Path, ref: str) -> None:
    done = run("expand", "harbour", ref, "--rows", "70:71", "--database", path)

    assert done.stdout == "step 70: failed\n"


def test_lines_are_found_by_what_they_say(path: Path) -> None:
    shown = run("expand", "harbour", "m3", "--grep", "failed", "--database", path).stdout

    assert "step 70: failed" in shown
    assert "step 90" not in shown


def test_the_budget_holds_and_the_document_tells_what_was_taken(path: Path) -> None:
    args = ("expand", "harbour", "m3", "--max-tokens", "60", "--database", path)

    (one,) = results(run_json(*args))

    assert (one["session_id"], one["ref"]) == ("harbour", "m3")
    assert one["text"].startswith("step 0: went well")
    assert 0 < one["tokens"] <= 60


@pytest.mark.parametrize(
    ("args", "kind", "sentence"),
    [
        (("harbour", "m9"), "PartNotFoundError", "the session has the messages m1 to m3"),
        (("harbour", "m3", "--path", "a"), "PartNotFoundError", "not JSON"),
        (("gone", "m1"), "SessionNotFoundError", "there is no session 'gone'"),
        (("harbour", "m1", "--user", "eve"), "NotAllowedError", "'eve' has no access to"),
        (("harbour", "m1", "--user", "bob"), "RecordNotFoundError", "there is no user 'bob'"),
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(
    path: Path, args: tuple[str, ...], kind: str, sentence: str
) -> None:
    done = run("expand", *args, "--database", path)

    assert (done.exit_code, done.stdout) == (1, "")
    assert sentence in done.stderr
    (error,) = errors(run_json("expand", *args, "--database", path))
    assert error["kind"] == kind
    with closing(open_store(str(path))) as store:
        assert [user.id for user in store.list_users()] == ["eve", "local"]


def test_a_database_that_is_not_there_is_refused_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXCORE_DATABASE_URL", str(tmp_path / "none.db"))

    done = run("expand", "harbour", "m1")

    assert done.exit_code == 1
    assert "there is no file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_environment_says_where_the_session_lives(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXCORE_DATABASE_URL", f"sqlite:///{path}")

    assert run("expand", "harbour", "m1").stdout == "Be brief.\n"


def test_a_budget_below_nothing_is_a_usage_error(path: Path) -> None:
    done = run("expand", "harbour", "m3", "--max-tokens", "-1", "--database", path)

    assert done.exit_code == 2
