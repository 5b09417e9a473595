"""Checkpoints of rules: when they are written, what a later process reads, what makes them void."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.statements import statements_run
from ctxcore import ContextEngine
from ctxcore.assembly.history import ListHistory
from ctxcore.compaction.carried_facts import ledger_at
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message
from ctxcore.store import SessionStore, open_store, rule_books
from ctxcore.tokens.count import counter_by_id
from tests.histories import assistant, user

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNTER = counter_by_id("estimate:o200k")
LANGUAGES = ("German", "French", "Dutch", "Polish", "Czech", "Danish")
SAID: list[Message] = [
    message
    for at in range(24)
    for message in (
        user(
            f"Never call extension {at} before noon."
            if at % 2
            else f"Always answer in {LANGUAGES[at % 6]}."
        ),
        assistant("Very well."),
    )
]


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_books, "LEAST_RULES", 3)
    monkeypatch.setattr(rule_books, "LEAST_READ", 1)
    monkeypatch.setattr(rule_books, "MOST_COMPARED", 1_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    opened = open_store(str(path))
    opened.create_user("ada", at=NOON)
    opened.create_session("s", user_id="ada", at=NOON)
    append(opened, SAID)
    yield opened
    opened.close()


def append(store: SessionStore, said: list[Message], session_id: str = "s") -> None:
    for at in range(0, len(said), 2):
        store.append(session_id, said[at : at + 2], counter=COUNTER, at=NOON)


def change(path: Path, statement: str) -> int:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).rowcount


def places(path: Path, session_id: str = "s") -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        found = "SELECT seq FROM rule_state WHERE session_id = ? ORDER BY seq"
        return [seq for (seq,) in connection.execute(found, (session_id,))]


def in_memory(until: int) -> list[object]:
    return list(ListHistory(SAID[:until], COUNTER).standing())


def test_appends_write_checkpoints_and_a_later_process_begins_at_the_last(
    store: SessionStore, path: Path
) -> None:
    last = places(path)[-1]
    assert len(SAID) - 8 * 2 < last < len(SAID)
    change(path, f"UPDATE message SET facts = 'torn' WHERE seq <= {last}")

    with closing(open_store(str(path))) as again, statements_run() as run:
        standing = list(again.view("s").standing())

    assert standing == in_memory(len(SAID))
    assert sum("rule_state" in statement for statement in run) == 1


@pytest.mark.parametrize("until", range(0, len(SAID) + 1, 5))
@pytest.mark.parametrize("newest_first", [True, False])
def test_what_held_earlier_is_read_from_an_earlier_checkpoint(
    store: SessionStore, path: Path, until: int, *, newest_first: bool
) -> None:
    with closing(open_store(str(path))) as again:
        view = again.view("s")
        if newest_first:
            view.standing()

        assert list(view.standing(until=until)) == in_memory(until)
        assert list(view.standing()) == in_memory(len(SAID))


def test_the_ledger_of_all_facts_takes_what_checkpoints_know(
    store: SessionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_list = ledger_at(ListHistory(SAID, COUNTER))
    compared: list[int] = []
    gone = Ledger._gone

    def noted(ledger: Ledger, seq: int, fact: Fact) -> tuple[str, ...]:
        compared.append(seq)
        return gone(ledger, seq, fact)

    monkeypatch.setattr(Ledger, "_gone", noted)
    with closing(open_store(str(path))) as again:
        stored = ledger_at(again.view("s"))

    assert live(stored) == live(in_list)
    assert stored.revoked() == in_list.revoked()
    assert min(compared) > places(path)[-1]


def test_a_fork_begins_at_the_checkpoints_of_what_it_copies(
    store: SessionStore, path: Path
) -> None:
    store.fork("s", 31, fork_id="f", new_id=lambda: "x", at=NOON)
    last = places(path, "f")[-1]
    assert last <= 31
    change(path, f"UPDATE message SET facts = 'torn' WHERE session_id = 'f' AND seq <= {last}")

    assert list(store.view("f").standing()) == in_memory(31)
    append(store, [user("Never answer in verse."), assistant("No.")], "f")
    assert [entry.text for entry in store.view("f").standing()][-1] == "Never answer in verse."
    assert list(store.view("s").standing()) == in_memory(len(SAID))


def test_checkpoints_of_another_version_count_as_none(store: SessionStore, path: Path) -> None:
    assert change(path, "UPDATE rule_state SET version = '1.0', standing = 'old'")

    with closing(open_store(str(path))) as again:
        assert list(again.view("s").standing()) == in_memory(len(SAID))


def test_a_process_that_only_appends_writes_checkpoints_step_by_step(
    store: SessionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(path, "DELETE FROM rule_state")
    monkeypatch.setattr(rule_books, "MOST_READ", 10)
    for _ in range(3):
        with closing(open_store(str(path))) as again:
            append(again, [user("Thanks."), assistant("Gladly.")])

    steps = places(path)
    assert len(steps) == 3
    assert steps[0] < steps[1] < steps[2] < len(SAID) + 6
    with closing(open_store(str(path))) as again:
        assert list(again.view("s").standing()) == in_memory(len(SAID))


def test_too_much_work_is_left_to_contexts(
    store: SessionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_books, "MOST_COMPARED", 0)
    store.create_session("t", user_id="ada", at=NOON)
    append(store, SAID, "t")
    assert places(path, "t") == []

    assert list(store.view("t").standing()) == in_memory(len(SAID))
    append(store, [user("Thanks."), assistant("Gladly.")], "t")

    assert places(path, "t") == [len(SAID)]


def test_a_failed_append_leaves_nothing_behind(
    store: SessionStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = places(path)
    with monkeypatch.context() as patched:
        patched.setattr("ctxcore.store.appending._write_sizes", lambda *_: 1 / 0)
        for _ in range(4):
            with pytest.raises(ZeroDivisionError):
                append(store, [user("Never answer in verse."), assistant("No.")])

    assert places(path) == before
    assert list(store.view("s").standing()) == in_memory(len(SAID))


def test_a_purged_session_leaves_no_checkpoints(store: SessionStore, path: Path) -> None:
    store.purge("s")

    assert places(path) == []


def test_an_import_makes_checkpoints_of_its_own(store: SessionStore, path: Path) -> None:
    engine = ContextEngine(store, user_id="ada")

    [copy] = engine.import_(engine.export("s"))

    assert list(store.view(copy.id).standing()) == in_memory(len(SAID))


@pytest.mark.parametrize("standing", ['{"facts":1,"held":[]}', "torn", "", "[]"])
def test_a_damaged_checkpoint_is_passed_over(
    store: SessionStore, path: Path, standing: str, caplog: pytest.LogCaptureFixture
) -> None:
    change(path, f"UPDATE rule_state SET standing = '{standing}'")

    with closing(open_store(str(path))) as again:
        assert list(again.view("s").standing()) == in_memory(len(SAID))
    assert "damaged checkpoint" in caplog.text
