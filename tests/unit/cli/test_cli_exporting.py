"""`ctxcore export`: stored sessions as files, one, many, or a table of all."""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from tests.unit.cli.files import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with two sessions of the user `local`."""
    file = tmp_path / "chat.db"
    names = iter(["harbour-0001", "orchard-0001"])
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(store, new_id=lambda: next(names))
        for title in ("Harbour", "Orchard"):
            engine.create_session(title)
    return file


def test_one_session_goes_to_stdout(path: Path) -> None:
    done = run("export", "harbour", "--format", "markdown", "--database", path)

    assert done.exit_code == 0
    assert done.stdout.startswith("<!-- ctxcore.markdown")


def test_many_sessions_go_into_a_folder_or_a_zip(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    packed = tmp_path / "all.zip"

    assert run("export", "--all", "--out", folder, "--database", path).exit_code == 0
    assert run("export", "--all", "--zip", "--out", packed, "--database", path).exit_code == 0

    names = ["Harbour-harbour-.jsonl", "Orchard-orchard-.jsonl"]
    assert sorted(file.name for file in folder.iterdir()) == names
    with zipfile.ZipFile(packed) as found:
        assert sorted(found.namelist()) == names


def test_a_table_of_usage_is_one_file(path: Path, tmp_path: Path) -> None:
    table = tmp_path / "usage.csv"
    args = ("export", "--all", "--format", "usage-csv", "--out", table, "--database", path)

    assert run(*args).exit_code == 0
    again = run(*args)

    assert table.read_text("utf-8-sig").startswith("session_id,title,called_at")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((), "pass --all"),
        (("harbour", "--all"), "pass --all"),
        (("--all",), "need a folder"),
        (("harbour", "--format", "word"), "no form of export 'word'"),
        (("nowhere",), "no session 'nowhere'"),
    ],
)
def test_what_cannot_be_exported_is_told(path: Path, args: tuple[str, ...], problem: str) -> None:
    done = run("export", *args, "--database", path)

    assert done.exit_code != 0
    assert problem in done.stderr


def test_secrets_are_left_out_and_counted_on_request(path: Path) -> None:
    key = "AKIA" + "Q3EGRZ7WTN5X" + "2MLB"
    with closing(open_store(str(path))) as store:
        ContextEngine(store).append("harbour-0001", [{"role": "user", "content": f"use {key}"}])

    done = run("export", "harbour", "--redact", "--database", path)

    assert done.exit_code == 0
    assert key not in done.stdout
    assert "[redacted: AWS key 1]" in done.stdout
    assert "secrets left out: 1 × AWS key" in done.stderr
