"""What `compare` and `replay` read and try: stored sessions, exports, settings, changed fields."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from ctxcore.store.values import Scope
from tests.unit.cli.files import Document, results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(12))


@pytest.fixture
def stored(tmp_path: Path, path: Path) -> tuple[Path, str]:
    """A database with the same conversation, whose user has a policy, and its id."""
    file = tmp_path / "chat.db"
    with closing(open_store(str(file))) as store:
        engine = ContextEngine(store)
        engine.user()
        (session,) = engine.import_(path.read_text(encoding="utf-8"), name="late")
        engine.set_model(session.id, "gpt-4o")
        engine.save_policy(Scope(kind="user", owner="local"), {"name": "pi"})
        export = engine.export(session.id)
    (tmp_path / "export.jsonl").write_text(export, encoding="utf-8")
    return file, session.id


def policies(document: Document) -> dict[str, Document]:
    """The rows of the only conversation by policy."""
    (one,) = results(document)
    return {row["policy"]: row for row in one["policies"]}


def test_a_stored_session_is_tried_under_the_policy_that_it_has(
    path: Path, stored: tuple[Path, str]
) -> None:
    file, session_id = stored

    found = policies(
        run_json("compare", "--session", session_id[:8], "--database", file, "--window", "1200")
    )

    assert list(found)[:3] == ["none", "last-messages=20", "today"]
    same = {name: value for name, value in found["pi"].items() if name != "policy"}
    assert {name: value for name, value in found["today"].items() if name != "policy"} == same


def test_a_session_a_file_and_an_export_have_the_same_figures(
    tmp_path: Path, path: Path, stored: tuple[Path, str]
) -> None:
    file, session_id = stored
    given = ("--window", "1200", "--model", "gpt-4o", "--preset", "default")

    from_file = policies(run_json("compare", path, *given))
    from_export = policies(run_json("compare", tmp_path / "export.jsonl", *given))
    from_store = policies(run_json("compare", "--session", session_id, "--database", file, *given))

    assert from_file["default"]["cost"] is not None
    for name in ("none", "last-messages=20", "default"):
        assert from_file[name] == from_export[name] == from_store[name]


def test_an_export_is_read_by_every_command(tmp_path: Path, stored: tuple[Path, str]) -> None:
    for command in ("inspect", "fit"):
        document = run_json(command, tmp_path / "export.jsonl")
        assert results(document)[0]["format"] == "ctxcore"


def test_a_damaged_export_says_where(tmp_path: Path, stored: tuple[Path, str]) -> None:
    file = tmp_path / "export.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("Parcel 3 left", "Parcel 3 lost"), encoding="utf-8")

    result = run("replay", file)

    assert result.exit_code == 1
    assert "export.jsonl" in result.stderr
    assert "digest" in result.stderr


def test_replay_and_compare_agree(path: Path, stored: tuple[Path, str]) -> None:
    file, session_id = stored
    which = ("--session", session_id, "--database", file, "--window", "1200")

    (replayed,) = results(run_json("replay", *which))
    (replay,) = replayed["replays"]
    today = policies(run_json("compare", *which, "--preset", "today"))["today"]

    assert replay["policy"] == "today"
    for name in ("sent_tokens", "cost", "literals_share", "facts_share"):
        assert replay[name] == today[name]


def test_a_session_that_is_not_there_is_named(stored: tuple[Path, str]) -> None:
    result = run("compare", "--session", "nothing", "--database", stored[0])

    assert result.exit_code == 1
    assert "nothing" in result.stderr


def test_a_sweep_has_a_row_a_value_beside_todays_policy(path: Path) -> None:
    found = policies(
        run_json("compare", path, "--window", "1200", "--set", "trigger_ratio=0.5..0.9:0.2")
    )

    assert list(found) == [
        *("none", "last-messages=20", "today"),
        *("trigger_ratio=0.5", "trigger_ratio=0.7", "trigger_ratio=0.9"),
    ]
    assert found["trigger_ratio=0.5"]["compactions"] >= found["trigger_ratio=0.9"]["compactions"]


def test_a_file_of_settings_is_todays_policy(path: Path, tmp_path: Path) -> None:
    config = tmp_path / "policy.yaml"
    config.write_text("policy:\n  name: pi\n  trigger_ratio: 0.5\n", encoding="utf-8")
    given = ("compare", path, "--window", "1200")

    found = policies(run_json(*given, "--config", config, "--preset", "today"))
    changed = policies(run_json(*given, "--preset", "pi", "--set", "trigger_ratio=0.5"))

    assert found["today"]["sent_tokens"] == changed["pi trigger_ratio=0.5"]["sent_tokens"]


def test_simple_programs_can_be_chosen(path: Path) -> None:
    chosen = ("--baseline", "last-tokens=400", "--baseline", "summarize=500/200")

    found = policies(run_json("compare", path, "--window", "1200", "--preset", "pi", *chosen))

    assert list(found) == ["none", "last-tokens=400", "summarize=500/200", "pi"]
    assert found["summarize=500/200"]["summaries"] > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--set", "nope=3"), "policy field 'nope'"),
        (("--set", "trigger_ratio=2"), "policy field 'trigger_ratio' is 2.0"),
        (("--baseline", "everything"), "is no baseline"),
        (("--preset", "nope"), "is not one of"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_any_work(
    path: Path, options: tuple[str, ...], told: str
) -> None:
    for command in ("compare", "replay"):
        result = run(command, path, *options, columns=300)

        assert result.exit_code == 2
        assert told in result.stderr


def test_nothing_to_read_is_said() -> None:
    result = run("compare")

    assert result.exit_code == 2
    assert "--session" in result.stderr


def test_a_report_and_a_table_are_written_once(path: Path, tmp_path: Path) -> None:
    page, table = tmp_path / "out.html", tmp_path / "out.csv"
    given = ("compare", path, "--window", "1200", "--preset", "pi")

    assert run(*given, "--html", page, "--csv", table).exit_code == 0
    again = run(*given, "--html", page, "--csv", table)

    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
    found = policies(run_json(*given))
    sent = {row["policy"]: int(row["sent_tokens"]) for row in rows if row["session"] == "*"}
    assert sent == {name: row["sent_tokens"] for name, row in found.items()}
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    assert run(*given, "--html", page, "--overwrite").exit_code == 0


def ways(document: Document) -> dict[tuple[str, str], Document]:
    """The ways to compact the only conversation by kind and name."""
    (one,) = results(document)
    return {(way["kind"], way["name"]): way for way in one["ways"]}


def test_ways_to_compact_a_stored_session_are_those_of_its_own_policy(
    stored: tuple[Path, str],
) -> None:
    file, session_id = stored
    given = ("compact", "--compare", "--session", session_id[:8], "--database", file)

    document = run_json(*given)
    shown = run(*given).stdout

    (one,) = results(document)
    assert (one["id"], one["format"], one["preset"]) == (session_id, "stored session", "pi")
    with closing(open_store(str(file))) as store:
        rows = ContextEngine(store).compare_compactions(session_id)
    assert one["ways"] == [row.to_dict() for row in rows]
    assert "this policy (pi)" in shown
    assert "only fold_oldest" in shown


def test_the_preset_and_the_window_of_the_command_stand_before_the_sessions_own(
    stored: tuple[Path, str],
) -> None:
    file, session_id = stored
    given = ("compact", "--compare", "--session", session_id, "--database", file)

    wide = ways(run_json(*given, "--preset", "default"))
    narrow = ways(run_json(*given, "--preset", "default", "--window", "1200"))

    assert next(iter(wide)) == next(iter(narrow)) == ("policy", "default")
    assert ("preset", "pi") in narrow
    for way in (("policy", "default"), ("preset", "ladder")):
        assert narrow[way] != wide[way]


def test_files_and_sessions_are_compared_together(path: Path, stored: tuple[Path, str]) -> None:
    file, session_id = stored

    document = run_json("compact", path, "--compare", "--session", session_id, "--database", file)

    assert [one["format"] for one in results(document)] == ["openai", "stored session"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--session", "x"), "--compare"),
        (("--session", "x", "--compare", "--max-tokens", "900"), "--window"),
        (("--compare",), "name a file"),
        ((), "name a file"),
    ],
)
def test_what_compact_cannot_do_with_a_stored_session_is_refused(
    given: tuple[str, ...], told: str
) -> None:
    result = run("compact", *given)

    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
