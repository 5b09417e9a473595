from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxcore.messages.values import JsonValue
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from tests.unit.cli.files import results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(30))


def test_a_compaction_tells_trigger_steps_gain_and_summary(path: Path) -> None:
    shown = run("compact", path, "--max-tokens", "1500").stdout

    assert "compacted (" in shown
    assert "input at the trigger" in shown
    assert "keep_by_worth" in shown
    assert "messages folded" in shown
    assert "folded into the summary" in shown
    assert "bedrock yes" in shown


def test_the_document_holds_the_same_numbers(path: Path) -> None:
    (one,) = results(run_json("compact", path, "--max-tokens", "1500"))

    steps, context = one["steps"], one["context"]
    assert one["applied"] is True
    assert one["before_tokens"] == steps[0]["before_tokens"]
    assert one["after_tokens"] == steps[-1]["after_tokens"]
    assert context["tokens"] <= 1500
    assert steps[-1]["outcome"] == {"code": OutcomeCode.DONE, "text": "done"}
    assert one["summary"]
    assert context["messages"] is None


def test_nothing_done_says_why(path: Path) -> None:
    result = run("compact", path, "--max-tokens", "90000")

    assert result.exit_code == 0
    assert "nothing done: below the trigger" in result.stdout


def test_force_compacts_though_no_rule_asks(path: Path) -> None:
    (one,) = results(
        run_json("compact", path, "--max-tokens", "90000", "--target-tokens", "900", "--force")
    )

    assert one["applied"] is True
    assert one["trigger"]["code"] == TriggerCode.ASKED
    assert one["after_tokens"] < 1000


def test_force_does_not_let_out_overwrite(path: Path, tmp_path: Path) -> None:
    out = write(tmp_path / "mine.json", "precious")

    refused = run("compact", path, "--force", "--out", out)

    assert refused.exit_code == 2
    assert json.loads(out.read_text(encoding="utf-8")) == "precious"
    assert run("compact", path, "--out", out, "--overwrite").exit_code == 0


def test_several_conversations_are_a_table_with_reasons(tmp_path: Path) -> None:
    write(tmp_path / "long.json", talk(30))
    write(tmp_path / "short.json", talk(1))

    shown = run("compact", tmp_path, "--max-tokens", "1500").stdout

    assert "keep_by_worth" in shown
    assert "nothing done" in shown


def test_of_many_lost_facts_the_first_are_named_and_all_in_the_document(tmp_path: Path) -> None:
    said: list[JsonValue] = [
        {
            "role": "user",
            "content": f"Order ORD-{9000 + n} went to {n} Mill Road on 2026-03-{n:02}.",
        }
        for n in range(10, 29)
    ]
    path = write(tmp_path / "orders.json", [*said, *talk(30)])
    options = ("compact", path, "--max-tokens", "900", "--preset", "pi", "--yes")

    (one,) = results(run_json(*options))
    shown = " ".join(run(*options, columns=200).stdout.split())

    lost = one["facts_lost"]
    assert len(lost) > 8
    assert f"{lost[7]} and {len(lost) - 8} more (--json)" in shown
