"""Commands for users with their roles, and for who read what."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from tests.unit.cli.files import results, run, run_json


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the operator `local` and of Ann, who has a session."""
    file = tmp_path / "chat.db"
    with closing(open_store(str(file))) as store:
        ContextEngine(store).user()
        ann = ContextEngine(store, user_id="ann", new_id=lambda: "harbour-0001")
        ann.create_session("Harbour")
    return file


def test_roles_are_given_and_taken_on_the_server(path: Path) -> None:
    given = run("users", "--change", "ann", "--operator", "--auditor", "--database", path)
    taken = run("users", "--change", "ann", "--no-auditor", "--database", path)

    assert "operator, auditor" in given.stdout
    assert taken.exit_code == 0
    listed = {one["id"]: one for one in results(run_json("users", "--database", path))}
    assert (listed["ann"]["operator"], listed["ann"]["auditor"]) == (True, False)
    told = run("audit", "--user", "ann", "--database", path).stdout
    assert "set roles: operator, auditor" in told


def test_reading_by_a_command_is_recorded_and_refused_without_the_right(path: Path) -> None:
    assert run("export", "harbour-0001", "--database", path).exit_code == 0
    read, opened = results(run_json("audit", "--user", "ann", "--database", path))
    assert (read["user_id"], read["action"], read["session_id"]) == (
        "local",
        "export",
        "harbour-0001",
    )
    assert opened["action"] == "open"
    assert "copied or exported" in run("audit", "--database", path).stdout

    with closing(open_store(str(path))) as store:
        store.update_user("local", is_auditor=False)
    for command in (["export"], ["recall"], ["expand"]):
        more = {"recall": ["key"], "expand": ["m1"]}.get(command[0], [])
        done = run(*command, "harbour-0001", *more, "--database", path)
        assert done.exit_code == 1
        assert "that takes the role of an auditor" in done.stderr.replace("\n", " ")


def test_where_no_operator_is_left_the_server_makes_one(path: Path) -> None:
    with closing(open_store(str(path))) as store:
        store.update_user("local", is_operator=False, is_auditor=False)
    assert run("users", "--change", "ann", "--auditor", "--database", path).exit_code == 1

    made = run("users", "--change", "ann", "--operator", "--user", "ann", "--database", path)
    assert (made.exit_code, "operator" in made.stdout) == (0, True)
    again = run("users", "--change", "local", "--operator", "--database", path)
    assert "no access" in again.stderr
    [record] = results(run_json("audit", "--user", "ann", "--database", path))
    assert (record["action"], record["operator"], record["auditor"]) == ("roles", True, False)


def test_the_list_of_users_is_for_operators_and_the_last_one_stays(path: Path) -> None:
    assert "no access" in run("users", "--user", "ann", "--database", path).stderr
    last = run("users", "--change", "local", "--no-operator", "--database", path)
    assert (last.exit_code, "the last operator" in last.stderr) == (1, True)
    assert run("users", "--operator", "--database", path).exit_code == 2
    assert "nobody has read" in run("audit", "--user", "ann", "--database", path).stderr
