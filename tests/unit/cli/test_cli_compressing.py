"""`ctxcore compress`: the result on stdout, what is said about it elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxcore import decompress
from tests.unit.cli.files import errors, results, run, run_json

GUESTS = [{"guest_id": f"G-{n}", "room": n, "wishes": "late breakfast " * 6} for n in range(40)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "guests.json"
    file.write_text(json.dumps(GUESTS), encoding="utf-8")
    return file


def test_the_result_alone_is_on_stdout(path: Path) -> None:
    done = run("compress", path, "--max-tokens", "120")

    assert json.loads(done.stdout)["table"][0][0] == "guest_id"
    assert "tokens" in done.stderr
    assert "column" in done.stderr


def test_the_document_tells_sizes_and_what_is_gone(path: Path) -> None:
    (one,) = results(run_json("compress", path, "--max-tokens", "120"))

    assert one["tokens"] <= 120 < one["original_tokens"]
    assert one["kind"] == "json"
    (wishes,) = [part for part in one["elided"] if part["path"] == "[].wishes"]
    assert wishes["unit"] == "columns"
    assert wishes["begins"].startswith("late breakfast")


def test_a_query_keeps_what_it_names(path: Path) -> None:
    shown = run("compress", path, "--max-tokens", "80", "--query", "wishes of G-31").stdout

    assert json.loads(shown)["match"][0]["guest_id"] == "G-31"


def test_diff_shows_both_sides(path: Path) -> None:
    shown = run("compress", path, "--max-tokens", "120", "--diff", columns=120).stdout

    assert "left out" in shown
    assert "[].wishes" in shown
    assert "late breakfast" in shown


def test_lossless_can_be_undone(path: Path) -> None:
    shown = run("compress", path, "--lossless").stdout

    assert json.loads(decompress(shown.rstrip("\n"))) == GUESTS


def test_stdin_is_read_for_a_dash() -> None:
    done = run("compress", "-", "--max-tokens", "50", stdin=b"one line and more\n" * 300)

    assert done.stdout.startswith("one line")
    assert " lines" in done.stdout


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    done = run("compress", tmp_path / "none.json")

    assert done.exit_code == 1
    assert "cannot be read" in done.stderr
    (error,) = errors(run_json("compress", tmp_path / "none.json"))
    assert error["kind"] == "FormatError"


def test_bytes_that_are_no_text_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(bytes(range(256)) * 40)

    assert run("compress", file).exit_code == 0
