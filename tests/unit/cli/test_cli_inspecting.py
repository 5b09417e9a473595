from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.files import compacted_session, errors, results, run, run_json, talk, write


def test_the_account_of_a_conversation_adds_up(tmp_path: Path) -> None:
    document = run_json("inspect", write(tmp_path / "late.json", talk()), "--window", "2000")

    (one,) = results(document)
    tokens = one["tokens"]
    parts = [size for name, size in tokens.items() if name not in ("total", "unattributed")]
    assert sum(part for part in parts) == tokens["total"]
    assert one["messages_by_role"] == {"system": 1, "user": 11, "assistant": 11, "tool": 1}
    assert one["usage_ratio"] == pytest.approx(one["input_tokens"] / 2000)


def test_tools_and_files_have_their_share(tmp_path: Path) -> None:
    (one,) = results(run_json("inspect", write(tmp_path / "late.json", talk())))

    (tool,), (file,) = one["tools"], one["files"]
    assert (tool["name"], tool["calls"]) == ("read_file", 1)
    assert (file["path"], file["reads"], file["rereads"]) == ("/srv/a.log", 1, 0)


def test_details_say_whether_numbers_are_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "late.json", talk())

    assert "exact, o200k_base" in run("inspect", path).stdout
    assert "estimated, claude4.8" in run("inspect", path, "--model", "claude-opus-4-6").stdout


def test_recorded_compactions_usage_and_problems_are_shown(tmp_path: Path) -> None:
    session = compacted_session(tmp_path / "session.jsonl")

    shown = run("inspect", session).stdout
    (one,) = results(run_json("inspect", session))

    assert "150,000" in shown
    assert "line 7" in shown
    assert "auto" in shown
    (compaction,) = one["compactions"]
    assert (compaction["at"], compaction["before_tokens"]) == (2, 150_000)
    assert one["provider_usage"] == {
        "calls": 2,
        "input_tokens": 1800,
        "cache_read_tokens": 200,
        "cache_write_tokens": 0,
        "output_tokens": 14,
        "largest_context_tokens": 1000,
    }
    assert one["live_tokens"] < one["input_tokens"] + 100


def test_what_providers_would_refuse_is_told_by_rule(tmp_path: Path) -> None:
    path = write(tmp_path / "orphan.json", [*talk(1), {"role": "user", "content": "Well?"}])

    shown = run("inspect", path).stdout

    assert "openai yes" in shown
    assert "anthropic no (1)" in shown
    assert "two user messages in a row" in shown


def test_a_folder_gives_one_line_a_conversation_and_totals(tmp_path: Path) -> None:
    write(tmp_path / "one.json", talk(1))
    write(tmp_path / "two.json", talk(2))

    lines = run("inspect", tmp_path).stdout.splitlines()

    assert [line.split()[0] for line in lines[2:4]] == ["one.json", "two.json"]
    assert any(line.startswith("2 conversations") for line in lines)
    assert "Where the tokens go" in run("inspect", tmp_path, "--all").stdout


def test_a_broken_file_is_named_with_its_line_and_the_others_go_on(tmp_path: Path) -> None:
    write(tmp_path / "good.json", talk(1))
    (tmp_path / "bad.jsonl").write_text('{"role": "user", "content"', encoding="utf-8")

    result = run("inspect", tmp_path)
    document = run_json("inspect", tmp_path)

    assert result.exit_code == 0
    assert "bad.jsonl, line 1" in result.stderr
    assert [one["id"] for one in results(document)] == ["good"]
    assert [(one["line"], one["kind"]) for one in errors(document)] == [(1, "FormatError")]


def test_numbers_are_whole_in_eighty_columns(tmp_path: Path) -> None:
    for at in range(3):
        write(tmp_path / f"a-rather-long-name-of-a-file-{at}.json", talk(20 + at))

    shown = run("inspect", tmp_path, "--window", "4000", columns=80).stdout

    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "1,6" in shown
    assert ",…" not in shown


def test_one_conversation_can_be_chosen_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    write(path, [{"id": f"c{n}", "messages": talk(1)} for n in range(3)])

    assert [one["id"] for one in results(run_json("inspect", path, "--id", "c1"))] == ["c1"]
    assert run("inspect", path, "--id", "nobody").exit_code == 1


def test_tools_that_were_never_called_are_among_the_hints(tmp_path: Path) -> None:
    unused = {
        "type": "function",
        "function": {"name": "unused", "description": "what it does " * 200, "parameters": {}},
    }
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"messages": talk(12), "tools": [unused]}), encoding="utf-8")

    done = run("inspect", file)

    assert "Hints" in done.stdout
    assert "1 of 1 tools were never called" in " ".join(done.stdout.split())
    [hint] = results(run_json("inspect", file))[0]["hints"]
    assert (hint["code"], hint["at"], hint["dollars"]) == ("hint.tools_unused", None, None)
