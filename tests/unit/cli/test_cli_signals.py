"""`ctxcore signals`: turns of a stored session that show that something was forgotten."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxcore import ContextEngine, open_store
from ctxcore.store.values import SignalInfo
from tests.unit.cli.files import errors, results, run, run_json

SAID = [
    {"role": "user", "content": "The ferry to Orust leaves at 7:15."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "I told you that\x1b[31m it leaves at 7:15."},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with the sessions `harbour` and `quiet`, of the user `local`."""
    file = tmp_path / "chat.db"
    at = datetime(2026, 3, 1, tzinfo=UTC)
    signal = SignalInfo(
        session_id="harbour-0001",
        seq=3,
        kind="said_so",
        earlier=(1,),
        verdict="summarized",
        created_at=at,
    )
    with closing(open_store(str(file))) as store:
        ids = iter(["harbour-0001", "quiet-0001"])
        engine = ContextEngine(store, new_id=lambda: next(ids))
        engine.create_session("Harbour")
        engine.create_session("Quiet")
        engine.append("harbour-0001", SAID)
        store.record_signals([signal])
    return file


def test_a_signal_stands_with_the_earlier_message_and_its_fate(path: Path) -> None:
    done = run("signals", "harbour", "--database", path)

    assert "said so" in done.stdout
    assert "m3" in done.stdout
    assert "m1" in done.stdout
    assert "folded" in done.stdout
    assert "\x1b" not in done.stdout
    assert "1 signal, 1 of what the context did not show" in done.stderr


def test_programs_get_codes(path: Path) -> None:
    [signal] = results(run_json("signals", "harbour", "--database", path))

    assert (signal["seq"], signal["earlier"]) == (3, [1])
    assert (signal["kind"], signal["verdict"], signal["right"]) == ("said_so", "summarized", None)


def test_a_session_without_signals_says_so(path: Path) -> None:
    done = run("signals", "quiet", "--database", path)

    assert done.stdout == ""
    assert "no turn of this session" in done.stderr


def test_a_session_that_is_not_there_is_named(path: Path) -> None:
    [error] = errors(run_json("signals", "nobody", "--database", path))

    assert error["kind"] == "SessionNotFoundError"
