"""Policies that want a person's consent, and summaries that a model writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcore.cli import app, choices
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from tests.engines import quiet_litellm
from tests.unit.cli.files import results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(30))


def answer(path: Path, letter: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    """What comes of answering with this letter on a terminal."""
    monkeypatch.setattr(choices, "is_terminal", lambda: True)
    args = ["compact", str(path), "--preset", "pi", "--max-tokens", "1500"]
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, args, input=f"{letter}\n")


def test_without_a_terminal_nothing_changes_and_a_way_out_is_named(path: Path) -> None:
    args = ("compact", path, "--preset", "pi", "--max-tokens", "1500")
    shown = run(*args)
    (one,) = results(run_json(*args))

    assert shown.exit_code == 0
    assert "nothing done: needs confirmation; pass --yes" in shown.stdout
    assert (one["applied"], one["needs_confirmation"]) == (False, True)


def test_yes_answers_the_question(path: Path) -> None:
    args = ("compact", path, "--preset", "pi", "--max-tokens", "1500", "--yes")
    (one,) = results(run_json(*args))

    assert (one["applied"], one["needs_confirmation"]) == (True, False)
    assert one["summary"]


def test_a_policy_that_asks_nobody_needs_no_answer(path: Path) -> None:
    (one,) = results(run_json("compact", path, "--max-tokens", "1500"))

    assert one["applied"] is True


def test_the_question_names_tokens_and_what_is_folded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(path, "c", monkeypatch).stderr

    assert re.search(r"due at [\d,]+ of 1,500 tokens", asked)
    assert re.search(
        r"folds \d+ of messages \d+-\d+ \(\d+ turns\); next call [\d,]+ → about", asked
    )
    for letter in "cdnr":
        assert f"\n  {letter}  " in asked


@pytest.mark.parametrize(
    ("letter", "outcome"),
    [("c", "compacted (keep_turns)"), ("C", "compacted (keep_turns)"),
     ("d", "compacted (drop_oldest)"), ("n", "compacted (new_session)")],
)  # fmt: skip
def test_each_letter_does_what_it_says(
    path: Path, letter: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = answer(path, letter, monkeypatch)

    assert result.exit_code == 0
    assert outcome in result.stdout


def test_dropping_writes_no_summary(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = answer(path, "d", monkeypatch).stdout

    assert "truncated by a compaction" in shown
    assert "Summary" not in shown


def test_refusing_ends_with_the_sentence_of_the_error(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = answer(path, "r", monkeypatch)

    assert result.exit_code == 1
    assert re.search(
        r"error: .*the compaction was refused at [\d,]+ of 1,500 tokens", result.stderr
    )


def test_a_letter_that_is_no_answer_is_asked_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = answer(path, "x\nc", monkeypatch)

    assert "compacted (keep_turns)" in result.stdout


def test_a_model_writes_the_summary_and_its_time_and_cost_are_shown(path: Path) -> None:
    quiet_litellm()
    reply = ScriptedReply(text="The user asks why order ORD-7 is late; parcels leave daily.")
    model = ScriptedModel("writer", otherwise=reply).model
    args = ("compact", path, "--max-tokens", "1500", "--summarizer", model)

    shown = run(*args).stdout
    (one,) = results(run_json(*args))

    assert re.search(rf"written by +{model}: \d+\.\d s, ", shown)
    assert "why order ORD-7 is late; parcels leave daily" in shown
    assert one["summarizer"] == model


def test_a_model_that_fails_is_told_plainly(path: Path) -> None:
    quiet_litellm()
    model = ScriptedModel("silent", otherwise=ScriptedReply(text="")).model

    result = run("compact", path, "--max-tokens", "9000", "--force", "--summarizer", model)

    assert result.exit_code == 1
    assert "nothing done: the summarizer gave no usable summary" in result.stdout
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)


def test_the_policy_that_chooses_has_a_summarizer_that_quotes(path: Path) -> None:
    args = ("compact", path, "--preset", "truncate-or-summarize", "--max-tokens", "2000")
    (one,) = results(run_json(*args))

    assert one["strategies"] == ["summarize"]
    assert one["summarizer"] == "extractive"
