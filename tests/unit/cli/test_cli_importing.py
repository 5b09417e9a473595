"""`ctxcore import`: files become stored sessions, each once."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from tests.unit.cli.files import (
    compacted_session,
    errors,
    results,
    run,
    run_json,
    talk,
    write,
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a session, and a file with two conversations."""
    folder = tmp_path / "files"
    folder.mkdir()
    compacted_session(folder / "session.jsonl")
    talks = [{"id": f"t{at}", "messages": talk(at)} for at in (1, 2)]
    lines = "\n".join(map(json.dumps, talks))
    (folder / "talks.jsonl").write_text(lines, encoding="utf-8")
    return folder


def codex_without_a_call_id(path: Path) -> Path:
    """A rollout whose only call has no id, which is repaired."""
    said = [
        {"type": "session_meta", "payload": {"id": "s1", "timestamp": "2026-01-05T08:00:00Z"}},
        _item({"type": "message", "role": "user", "content": [_input("List the files.")]}),
        _item({"type": "function_call", "name": "shell", "arguments": "{}"}),
        _item({"type": "function_call_output", "output": "a.txt"}),
    ]
    path.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    return path


def _item(payload: dict[str, object]) -> dict[str, object]:
    return {"type": "response_item", "timestamp": "2026-01-05T08:00:01Z", "payload": payload}


def _input(text: str) -> dict[str, object]:
    return {"type": "input_text", "text": text}


def test_each_conversation_becomes_a_session_of_a_new_database(files: Path, tmp_path: Path) -> None:
    database = tmp_path / "new" / "chat.db"
    document = run_json("import", files, "--database", database, "--user", "ada")

    with closing(open_store(str(database))) as store:
        engine = ContextEngine(store, user_id="ada")
        lengths = {one.id: one.length for one in engine.sessions()}
    assert {one["session_id"]: one["messages"] for one in results(document)} == lengths
    first, *others = results(document)
    assert (first["id"], first["format"], first["compactions"]) == (
        *("session-1", "claude-code"),
        1,
    )
    assert [problem["code"] for problem in first["problems"]] == ["file.not_json"]
    assert [one["calls"] for one in others] == [1, 1]
    assert errors(document) == []


def test_what_was_imported_before_is_skipped_and_said(files: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.db"
    made = run("import", files, "--database", database)
    again = run("import", files, "--database", database)

    assert made.stdout.splitlines()[-1] == "3 sessions stored"
    heads, _, *lines = again.stdout.splitlines()
    assert heads.split()[-2:] == ["imported", "before"]
    assert lines[-1] == "0 sessions stored · 3 imported before and skipped (--again imports them)"
    ids = [line.split()[0] for line in made.stdout.splitlines()[2:5]]
    assert [line.split()[0] for line in lines[:3]] == ids
    assert (made.exit_code, again.exit_code) == (0, 0)
    assert len(results(run_json("sessions", "--database", database))) == 3
    run("import", files, "--database", database, "--again")
    assert len(results(run_json("sessions", "--database", database))) == 6


def test_only_what_is_missing_of_a_file_is_imported(files: Path, tmp_path: Path) -> None:
    database, file = tmp_path / "chat.db", files / "talks.jsonl"
    with closing(open_store(str(database))) as store:
        ContextEngine(store).import_file(file, places=[1])

    document = run_json("import", file, "--database", database)

    assert [one["imported_before"] is None for one in results(document)] == [True, False]
    assert len(results(run_json("sessions", "--database", database))) == 2


def test_an_error_is_told_for_its_file_and_the_others_are_imported(
    files: Path, tmp_path: Path
) -> None:
    write(files / "numbers.json", [1, 2])
    database = tmp_path / "chat.db"
    document = run_json("import", files, tmp_path / "gone.json", "--database", database)

    assert sorted(Path(one["path"]).name for one in errors(document)) == [
        "gone.json",
        "numbers.json",
    ]
    assert len(results(document)) == 3
    refused = run("import", files / "numbers.json", "--database", database)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "numbers.json" in refused.stderr


def test_repairs_are_told_by_kind(tmp_path: Path) -> None:
    file = codex_without_a_call_id(tmp_path / "rollout.jsonl")
    shown = run("import", file, "--database", tmp_path / "chat.db").stdout
    (inspected,) = results(run_json("inspect", file))

    told = "a tool call without an id got one: 1 time, first in line 3"
    assert f"rollout.jsonl: {told}" in shown
    assert told in run("inspect", file).stdout
    (repair,) = inspected["repairs"]
    assert (repair["code"], repair["count"], repair["line"]) == ("repair.no_id", 1, 3)


def test_a_database_that_cannot_be_opened_is_one_error(files: Path, tmp_path: Path) -> None:
    found = run("import", files, "--database", tmp_path)

    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith("error: ")
