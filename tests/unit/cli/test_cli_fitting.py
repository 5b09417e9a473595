from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.files import compacted_session, errors, results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk())


def test_runs_cover_every_message_once(path: Path) -> None:
    (one,) = results(run_json("fit", path, "--max-tokens", "400"))

    places = [at for run in one["runs"] for at in range(run["first"], run["last"] + 1)]
    assert places == list(range(24))
    assert one["tokens"] <= 400


def test_segments_add_up_to_the_window(path: Path) -> None:
    (one,) = results(run_json("fit", path, "--window", "1000"))

    breakdown = one["breakdown"]
    sizes = dict(breakdown)
    assert sizes.pop("window") == sum(sizes.values()) == 1000
    assert sizes["reserve"] == 250


def test_details_name_verdicts_with_their_reasons(path: Path) -> None:
    shown = run("fit", path, "--max-tokens", "400").stdout

    assert "usable 400 tokens, no reserve" in shown
    assert "dropped" in shown
    assert "outside the window" in shown
    assert "the original request" in shown


def test_the_messages_written_are_those_that_would_be_sent(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "sent.json"

    assert run("fit", path, "--max-tokens", "400", "--out", out).exit_code == 0

    (one,) = results(run_json("fit", path, "--max-tokens", "400", "--show"))
    assert json.loads(out.read_text(encoding="utf-8")) == one["messages"]


def test_several_conversations_are_written_one_a_line(tmp_path: Path) -> None:
    path, out = tmp_path / "many.json", tmp_path / "sent.jsonl"
    write(path, [{"id": f"c{n}", "messages": talk(1)} for n in range(3)])

    run("fit", path, "--out", out)

    assert [one["id"] for one in results(run_json("inspect", out))] == ["c0", "c1", "c2"]


def test_a_file_is_overwritten_only_when_forced(path: Path, tmp_path: Path) -> None:
    out = write(tmp_path / "mine.json", "precious")

    refused = run("fit", path, "--out", out)

    assert refused.exit_code == 2
    assert json.loads(out.read_text(encoding="utf-8")) == "precious"
    assert run("fit", path, "--out", out, "--force").exit_code == 0
    assert json.loads(out.read_text(encoding="utf-8")) != "precious"


def test_a_budget_that_cannot_work_is_one_sentence_and_exit_code_1(path: Path) -> None:
    result = run("fit", path, "--max-tokens", "5")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "5 are usable" in result.stderr
    assert [one["kind"] for one in errors(run_json("fit", path, "--max-tokens", "5"))] == [
        "BudgetError"
    ]


def test_without_a_window_everything_is_sent_and_it_says_so(path: Path) -> None:
    result = run("fit", path)

    assert "window unknown" in result.stdout
    assert "24 messages sent" in result.stdout


def test_show_prints_the_messages(path: Path) -> None:
    shown = run("fit", path, "--show").stdout

    assert "It is urgent." in shown
    assert "answers c1" in shown


def test_repairs_are_listed_and_the_result_is_legal(tmp_path: Path) -> None:
    path = write(tmp_path / "twice.json", [*talk(1), {"role": "user", "content": "Well?"}])

    result = run("fit", path)

    assert "merged at message" in result.stdout
    assert "anthropic yes" in result.stdout


def test_a_session_with_compactions_of_its_own_is_fitted_by_its_messages(tmp_path: Path) -> None:
    session = compacted_session(tmp_path / "session.jsonl")

    (one,) = results(run_json("fit", session))

    assert one["history_messages"] == 4
    assert one["model"] == "claude-sonnet-4-5"
    assert one["is_exact"] is False


@pytest.mark.parametrize(
    "options",
    [
        ("--preset", "nonsense"),
        ("--max-tokens", "100", "--window", "100"),
        ("--max-tokens", "0"),
        ("--out", "no/such/folder/file.json"),
    ],
)
def test_options_that_cannot_be_meant_are_usage_errors(path: Path, options: tuple[str]) -> None:
    assert run("fit", path, *options).exit_code == 2


def test_presets_of_a_window_of_their_own_shrink_with_the_one_named(path: Path) -> None:
    (one,) = results(run_json("fit", path, "--preset", "sliding-summary", "--window", "4000"))

    budget = one["budget"]
    assert budget["window_tokens"] == 4000
    assert one["preset"] == "sliding-summary"


def test_several_conversations_are_a_table_of_sizes(tmp_path: Path) -> None:
    write(tmp_path / "one.json", talk(10))
    write(tmp_path / "two.json", talk(1))

    lines = run("fit", tmp_path, "--max-tokens", "700").stdout.splitlines()

    assert [line.split()[0] for line in lines[2:4]] == ["one.json", "two.json"]
    assert "sent" in lines[0]
