"""Facts found once, when a message is appended: what is stored, what is read, rows from before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import make_url

from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.records import Compaction
from ctxcore.engine.core import ContextEngine
from ctxcore.facts.finding import dump_facts, find_facts, load_facts
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, text_message, tool_result
from ctxcore.store import SessionStore, open_store
from ctxcore.store.database import make_config, make_engines
from ctxcore.tokens.count import counter_by_id
from tests.histories import assistant, call, user

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNTER = counter_by_id("estimate:o200k")
SAID = [
    text_message("system", "Always answer in plain words."),
    user("From now on never push to main. The ticket is OPS-4471."),
    assistant("Very well.", call("c1", name="run", command="pytest -q")),
    tool_result("c1", "FAILED tests/test_app.py::test_total - AssertionError: 41 != 42"),
    assistant("Fixed it by rounding up."),
    user("You may push to main again."),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    opened = open_store(str(path))
    opened.create_user("ada", at=NOON)
    opened.create_session("s", user_id="ada", at=NOON)
    opened.append("s", SAID[:3], counter=COUNTER, at=NOON)
    opened.append("s", SAID[3:], counter=COUNTER, at=NOON)
    yield opened
    opened.close()


def change(path: Path, statement: str) -> None:
    """Does something to the file that the store never would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def found(store: SessionStore, session_id: str = "s") -> list[tuple[int, tuple[Fact, ...]]]:
    return [(seq, tuple(facts)) for seq, facts in store.view(session_id).facts()]


def in_memory(said: list[Message]) -> list[tuple[int, tuple[Fact, ...]]]:
    return [(seq, tuple(facts)) for seq, facts in ListHistory(said, COUNTER).facts()]


def rules(store: SessionStore, session_id: str = "s") -> list[str]:
    return [entry.text for entry in store.view(session_id).standing()]


def test_what_is_stored_is_what_a_list_finds(store: SessionStore) -> None:
    assert found(store) == in_memory(SAID)


def test_facts_are_read_without_the_messages(store: SessionStore, path: Path) -> None:
    change(path, "UPDATE message SET body = 'torn'")

    assert found(store) == in_memory(SAID)


def test_rules_are_read_from_messages_that_change_rules_alone(
    store: SessionStore, path: Path
) -> None:
    change(path, "UPDATE message SET facts = 'torn', body = 'torn' WHERE rules = 0")

    assert rules(store) == ["Always answer in plain words.", "You may push to main again."]


def test_reading_rules_uses_their_index(store: SessionStore, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT seq FROM message WHERE session_id = ? AND seq BETWEEN ? AND"
            " ? AND (message.rules IS NULL OR message.rules > 0) AND role IN ('user') ORDER BY seq",
            ("s", 1, 9),
        ).fetchall()

    assert "ix_message_rules" in str(plan)


def test_rules_said_later_are_read_when_they_are_there(store: SessionStore) -> None:
    before = rules(store)

    store.append("s", [user("Never answer in verse.")], counter=COUNTER, at=NOON)

    assert rules(store) == [*before, "Never answer in verse."]


def test_an_older_view_shows_the_rules_of_its_time(store: SessionStore) -> None:
    older = store.view("s")
    store.append("s", [user("Never answer in verse.")], counter=COUNTER, at=NOON)
    newer = store.view("s").standing()

    assert newer[:-1] == older.standing()


@pytest.mark.parametrize("written", ["NULL", '\'{"facts":[],"finder":0}\''])
def test_rows_without_facts_of_this_finder_are_looked_at_again(
    store: SessionStore, path: Path, written: str
) -> None:
    change(path, f"UPDATE message SET facts = {written}, rules = NULL")

    assert found(store) == in_memory(SAID)
    assert rules(store) == ["Always answer in plain words.", "You may push to main again."]


def test_a_database_of_the_first_revision_keeps_its_rows_and_gives_their_facts(
    store: SessionStore, path: Path
) -> None:
    bodies = [info.message for info in store.messages("s")]
    store.close()
    writer, reader = make_engines(make_url(f"sqlite:///{path}"))
    with writer.begin() as connection:
        command.downgrade(make_config(connection), "0001")
    writer.dispose()
    reader.dispose()

    with closing(open_store(str(path))) as again:
        again.append("s", [user("The budget is 900 EUR.")], counter=COUNTER, at=NOON)

        assert [info.message for info in again.messages("s")][:-1] == bodies
        assert found(again) == in_memory([*SAID, user("The budget is 900 EUR.")])
        assert rules(again) == ["Always answer in plain words.", "You may push to main again."]


@pytest.mark.parametrize("facts", ["torn", '{"finder":', "[]"])
def test_damaged_facts_are_found_again(store: SessionStore, path: Path, facts: str) -> None:
    change(path, f"UPDATE message SET facts = '{facts}' WHERE seq = 2")

    assert found(store) == in_memory(SAID)


def test_a_fork_has_the_facts_of_what_it_copies(store: SessionStore, path: Path) -> None:
    store.fork("s", 4, fork_id="f", new_id=lambda: "x", at=NOON)
    change(path, "UPDATE message SET body = 'torn' WHERE session_id = 'f'")

    assert found(store, "f") == in_memory(SAID[:4])
    assert rules(store, "f")[-1] == "From now on never push to main."


def test_a_purged_session_leaves_no_rules_behind(store: SessionStore) -> None:
    assert rules(store)

    store.purge("s")
    store.create_session("s", user_id="ada", at=NOON)
    store.append("s", [user("Hello there, again.")], counter=COUNTER, at=NOON)

    assert rules(store) == []


def test_an_export_has_no_facts_and_an_import_finds_them(store: SessionStore) -> None:
    engine = ContextEngine(store, user_id="ada")
    exported = engine.export("s")

    [copy] = engine.import_(exported)

    assert not any("facts" in json.loads(line) for line in exported.splitlines())
    assert found(store, copy.id) == in_memory(SAID)


@pytest.mark.parametrize("lost", [None, (), ("ORD-417", "不要删除")])
def test_what_a_compaction_lost_is_exported_and_imported(
    store: SessionStore, lost: tuple[str, ...] | None
) -> None:
    record = Compaction(covered_until=2, summary="so far", facts_lost=lost)
    store.record_compaction("s", "k", record, parent_id=None, at=NOON)
    engine = ContextEngine(store, user_id="ada")

    [copy] = engine.import_(engine.export("s"))

    assert engine.compactions(copy.id)[0].compaction.facts_lost == lost
    assert engine.digest(copy.id) == engine.digest("s")


def test_where_a_summary_comes_from_is_exported_and_imported(store: SessionStore) -> None:
    record = Compaction(
        covered_until=2,
        summary="so far",
        lineage=((0, 6, ((1, 2),)),),
        facts_restored=("ORD-417",),
    )
    store.record_compaction("s", "k", record, parent_id=None, at=NOON)
    engine = ContextEngine(store, user_id="ada")

    [copy] = engine.import_(engine.export("s"))

    assert engine.compactions(copy.id)[0].compaction == record
    assert engine.digest(copy.id) == engine.digest("s")


@pytest.mark.parametrize("message", SAID)
def test_facts_come_back_as_they_were(message: Message) -> None:
    facts = find_facts(message, function_name="run", arguments='{"command":"pytest -q"}')

    assert load_facts(dump_facts(facts), message.role) == facts


def test_facts_of_odd_characters_come_back_as_they_were() -> None:
    odd = Fact(kind="name", text="\ud83d\x00 ✓", key="k", weight=0.5)

    assert load_facts(dump_facts((odd,)), "user") == (odd,)
