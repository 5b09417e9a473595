from __future__ import annotations

from pathlib import Path

import pytest

from ctxcore.cli import comparing
from ctxcore.policy.values import Policy
from tests.unit.cli.files import Document, errors, results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(30))


def test_each_preset_has_a_row(path: Path) -> None:
    shown = run("compare", path, "--window", "2000").stdout

    for name in ("none", "last-messages=20", *Policy.presets()):
        assert shown.count(f"\n{name} ") == 3
    assert "window of 2,000 tokens for all" in shown
    assert "64 messages, 31 calls to a model" in shown
    assert "seconds" not in shown


def test_no_preset_is_cut_where_the_output_is_no_terminal(path: Path) -> None:
    shown = run("compare", path, "--window", "2000", columns=80).stdout

    assert shown.count("truncate-or-summarize ") == 3


def test_the_same_output_comes_again(path: Path) -> None:
    one, other = (run("compare", path, "--window", "2000").stdout for _ in range(2))

    assert one == other


def test_times_are_shown_where_they_are_asked_for(path: Path) -> None:
    assert "seconds" in run("compare", path, "--times").stdout


def rows(document: Document) -> list[Document]:
    """The rows of the only conversation."""
    (one,) = results(document)
    return list(one["policies"])


def zip_rows(document: Document) -> list[tuple[Document, Document]]:
    return list(zip(document["totals"], rows(document), strict=True))


def test_the_document_holds_the_same_numbers_and_adds_up(path: Path) -> None:
    document = run_json("compare", path, "--window", "2000")

    (one,) = results(document)
    assert (one["messages"], one["calls"], one["window_tokens"]) == (64, 31, 2000)
    for row in rows(document):
        verdicts = (row["kept"], row["shortened"], row["folded"], row["dropped"])
        assert sum(verdicts) == (0 if row["policy"] == "none" else 64)
        assert row["rejected"] == 0
        assert (row["over"] > 0) == (row["policy"] == "none")
        assert row["end_tokens"] <= 2000
        assert row["peak_tokens"] <= 2000
    figures = [{name: total[name] for name in row} for total, row in zip_rows(document)]
    assert figures == rows(document)


def test_presets_differ_under_one_window(path: Path) -> None:
    found = rows(run_json("compare", path, "--window", "2000"))

    assert len({row["sent_tokens"] for row in found}) > 2
    assert all(row["compactions"] for row in found if row["policy"] != "none")


def test_an_input_budget_takes_the_place_of_a_window(path: Path) -> None:
    (one,) = results(run_json("compare", path, "--max-tokens", "1500"))

    assert (one["window_tokens"], one["max_tokens"]) == (None, 1500)
    assert max(row["peak_tokens"] for row in one["policies"]) <= 1500


def test_an_unknown_window_is_assumed_and_that_is_said(path: Path) -> None:
    shown = run("compare", path, "--model", "nobody/knows").stdout
    (one,) = results(run_json("compare", path, "--model", "nobody/knows"))

    assert "window of 32,000 tokens for all, assumed" in shown
    assert "~ estimated" in shown
    assert one["window_is_assumed"] is True


def test_the_window_of_the_model_serves_all(path: Path) -> None:
    shown = run("compare", path, "--model", "gpt-4o").stdout

    assert "window of 128,000 tokens for all, the model's" in shown


def test_several_conversations_are_added_up(tmp_path: Path) -> None:
    write(tmp_path / "one.json", talk(30))
    write(tmp_path / "two.json", talk(5))

    shown = run("compare", tmp_path, "--window", "2000").stdout
    document = run_json("compare", tmp_path, "--window", "2000")

    assert "2 conversations, 78 messages, 37 calls to a model" in shown
    assert shown.count("\npi ") == 3
    kept = [one["policies"][0]["kept"] for one in results(document)]
    assert document["totals"][0]["kept"] == sum(kept)


def test_all_shows_each_conversation_by_itself(tmp_path: Path) -> None:
    write(tmp_path / "one.json", talk(3))
    write(tmp_path / "two.json", talk(5))

    assert run("compare", tmp_path, "--all").stdout.count("\npi ") == 6


def test_a_call_that_cannot_be_made_is_counted(path: Path) -> None:
    (one,) = results(run_json("compare", path, "--max-tokens", "12"))
    assert {row["over"] for row in one["policies"]} == {31}


def test_what_is_no_conversation_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"no": "conversation"}', encoding="utf-8")

    result = run("compare", broken)

    assert result.exit_code == 1
    assert "contains no conversation" in result.stderr
    assert [one["path"] for one in errors(run_json("compare", broken))] == [str(broken)]


def test_a_window_and_a_budget_contradict_each_other(path: Path) -> None:
    result = run("compare", path, "--window", "2000", "--max-tokens", "1500")

    assert result.exit_code == 2
    assert "--max-tokens" in result.stderr


def test_a_long_conversation_tells_how_far_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []
    monkeypatch.setattr(comparing, "progress", lambda *_, **__: Moves(moved))

    run("compare", path)

    assert sum(moved) == 64 * (2 + len(Policy.presets()))


class Moves:
    """A bar that writes down how far it was moved."""

    def __init__(self, moved: list[int]) -> None:
        self._moved = moved

    def __enter__(self) -> object:
        return self._moved.append

    def __exit__(self, *_: object) -> None:
        """Nothing to put away."""
