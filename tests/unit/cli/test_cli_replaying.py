from __future__ import annotations

from pathlib import Path

import pytest

from ctxcore.cli import replaying
from ctxcore.messages.values import JsonValue
from ctxcore.policy.values import Policy
from tests.unit.cli.files import (
    Document,
    call,
    compacted_session,
    errors,
    results,
    run,
    run_json,
    talk,
    write,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(30))


def replays(document: Document) -> list[Document]:
    """The replays of the only conversation."""
    (one,) = results(document)
    return list(one["replays"])


def test_one_preset_shows_its_sums_its_breaks_and_its_compactions(path: Path) -> None:
    shown = run("replay", path, "--window", "2000").stdout

    assert "64 messages, 31 calls to a model" in shown
    assert "window of 2,000 tokens" in shown
    assert "a compaction" in shown
    assert "\nCompaction 1 " in shown
    assert "lost" in shown


def test_several_presets_have_a_row_each_and_no_details(path: Path) -> None:
    named = [word for name in Policy.presets() for word in ("--preset", name)]

    shown = run("replay", path, "--window", "2000", *named).stdout

    for name in Policy.presets():
        assert shown.count(f"\n{name} ") == 3
    assert "Compaction 1" not in shown


def test_the_same_output_comes_again(path: Path) -> None:
    one, other = (run("replay", path, "--window", "2000").stdout for _ in range(2))

    assert one == other


def test_the_document_holds_every_call_and_its_parts_add_up(path: Path) -> None:
    (replay,) = replays(run_json("replay", path, "--window", "2000"))

    assert len(replay["calls"]) == 31
    for one in replay["calls"]:
        parts = one["reused_tokens"] + one["resent_tokens"] + one["new_tokens"]
        assert parts == one["tokens"]
    assert replay["policy"] == "default"
    assert sum(replay["breaks"].values()) == len(replay["compactions"])
    assert replay["cost"] is None


def test_prices_that_are_given_win_over_those_of_the_model(path: Path) -> None:
    prices = ("--price-in", "2", "--price-cached", "0.5", "--price-out", "8")

    (known,) = replays(run_json("replay", path, "--model", "gpt-4o"))
    (given,) = replays(run_json("replay", path, "--model", "gpt-4o", *prices))

    assert known["cost"] is not None
    assert given["prices_per_million"] == {
        "input": 2.0,
        "cached_input": 0.5,
        "cache_write": 2.0,
        "output": 8.0,
    }
    assert given["cost"] < given["cost_without_cache"]


def test_an_unknown_window_is_assumed_and_that_is_said(path: Path) -> None:
    shown = run("replay", path, "--model", "nobody/knows").stdout
    (one,) = results(run_json("replay", path, "--model", "nobody/knows"))

    assert "window of 32,000 tokens, assumed" in shown
    assert "~ estimated" in shown
    assert one["window_is_assumed"] is True


def test_an_input_budget_takes_the_place_of_a_window(path: Path) -> None:
    (one,) = results(run_json("replay", path, "--max-tokens", "1500"))

    assert (one["window_tokens"], one["max_tokens"]) == (None, 1500)
    assert max(sent["tokens"] for sent in one["replays"][0]["calls"]) <= 1500
    assert "input of 1,500 tokens" in run("replay", path, "--max-tokens", "1500").stdout


def test_several_conversations_are_added_up(tmp_path: Path) -> None:
    write(tmp_path / "one.json", talk(30))
    write(tmp_path / "two.json", talk(5))

    shown = run("replay", tmp_path, "--window", "2000", "--preset", "pi").stdout

    assert "2 conversations, 37 calls to a model" in shown
    assert shown.count("\npi ") == 3


def test_without_an_answer_there_is_nothing_to_replay(tmp_path: Path) -> None:
    asked = write(tmp_path / "asked.json", [{"role": "user", "content": "hi"}])

    result = run("replay", asked)

    assert result.exit_code == 0
    assert "there is no call to replay" in result.stdout


def test_an_unknown_preset_is_refused(path: Path) -> None:
    result = run("replay", path, "--preset", "nobody")

    assert result.exit_code == 2
    assert "'nobody' is not one of default" in result.stderr


def test_what_is_no_conversation_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"no": "conversation"}', encoding="utf-8")

    assert run("replay", broken).exit_code == 1
    assert [one["path"] for one in errors(run_json("replay", broken))] == [str(broken)]


def test_a_window_and_a_budget_contradict_each_other(path: Path) -> None:
    result = run("replay", path, "--window", "2000", "--max-tokens", "1500")

    assert result.exit_code == 2


def test_a_long_conversation_tells_how_far_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[int] = []
    monkeypatch.setattr(replaying, "progress", lambda *_, **__: Moves(moved))

    run("replay", path, "--preset", "pi", "--preset", "default")

    assert sum(moved) == 64 * 2


class Moves:
    """A bar that writes down how far it was moved."""

    def __init__(self, moved: list[int]) -> None:
        self._moved = moved

    def __enter__(self) -> object:
        return self._moved.append

    def __exit__(self, *_: object) -> None:
        """Nothing to put away."""


def summarized(path: Path) -> Path:
    """A conversation that says where an agent's own compaction put its summary."""
    messages: list[JsonValue] = [
        {"role": "user", "content": "Why is REQ-3002 late? It is in /srv/app/late.log."},
        {"role": "assistant", "content": None, "tool_calls": [call("c1", file_path="/srv/a.log")]},
        {"role": "tool", "tool_call_id": "c1", "content": "depot DEP-2040 closed\n" * 60},
        {"role": "user", "content": "Summary: we look into a late request. " + "so it goes " * 60},
        {"role": "assistant", "content": None, "tool_calls": [call("c2", file_path="/srv/a.log")]},
        {"role": "tool", "tool_call_id": "c2", "content": "depot DEP-2040 closed"},
        {"role": "assistant", "content": "DEP-2040 is closed."},
    ]
    made: JsonValue = [{"trigger": "manual", "pre_tokens": 900, "summary_index": 3}]
    return write(path, {"messages": messages, "meta": {"compactions": made}})


def test_recorded_compactions_are_accounted_for(tmp_path: Path) -> None:
    path = summarized(tmp_path / "summarized.json")

    shown = run("replay", path, "--recorded").stdout
    (one,) = results(run_json("replay", path, "--recorded"))

    assert "\nCompaction  before message 4 · manual" in shown
    assert "900 tokens" in shown
    assert "theirs" in shown
    assert "Repeated tool calls  1 call" in shown
    (account,) = one["compactions"]
    assert account["preset"] == "default"
    assert "/srv/a.log" in account["literals"]
    assert [repeat["what"] for repeat in account["repeats"]] == ["/srv/a.log"]
    assert account["ours"]["literals_said"] == 1
    assert account["theirs"]["literals_said"] == 0


def test_recorded_compactions_of_a_session_file_are_read_with_their_usage(tmp_path: Path) -> None:
    session = compacted_session(tmp_path / "session.jsonl")

    (one,) = results(run_json("replay", session, "--recorded", "--preset", "pi"))

    (account,) = one["compactions"]
    assert (account["preset"], account["before_tokens"]) == ("pi", 150_000)
    assert account["context_tokens"] is not None


def test_where_no_compaction_is_recorded_that_is_told(path: Path) -> None:
    result = run("replay", path, "--recorded")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "the file records no compactions" in result.stderr
