"""Tests what appends and searches cost: SQL statements and work, not seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from ctxcore import ContextEngine, open_store
from ctxcore.messages.values import Message, text_message
from ctxcore.store import searching
from tests.effort import calls_made

WORDS = (
    "the meeting about a new budget went well and we talked of costs, people and what comes next"
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(str(tmp_path / "chat.db"))
    yield ContextEngine(store, model="gpt-4o")
    store.close()


@contextmanager
def statements() -> Iterator[list[str]]:
    run: list[str] = []

    def note(connection: object, cursor: object, statement: str, *others: object) -> None:
        run.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield run
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def messages(count: int, words: str = WORDS) -> list[Message]:
    return [
        text_message("assistant" if at % 2 else "user", f"{words} {at}. {words}.")
        for at in range(count)
    ]


@pytest.fixture
def session_id(engine: ContextEngine) -> str:
    session = engine.create_session("work")
    engine.append(session.id, messages(4))  # what a first append alone does is not measured
    return session.id


class TestAppending:
    def test_a_turn_takes_few_statements_however_long_the_history(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        counts = []
        for before in (2, 300):
            engine.append(session_id, messages(before))
            with statements() as run:
                engine.append(session_id, messages(2))
            counts.append(len(run))
        assert counts[0] == counts[1] <= 10

    def test_many_messages_take_as_many_statements_as_two(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        counts = []
        for count in (2, 500):
            with statements() as run:
                engine.append(session_id, messages(count))
            counts.append(len(run))
        assert counts[0] == counts[1]

    def test_the_calls_for_a_message_are_bounded_and_the_same_in_any_batch(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        def append(count: int) -> None:
            engine.append(session_id, messages(count))

        append(500)  # what is cached of its texts afterwards is the same for both
        few, many = calls_made(append, 50) / 50, calls_made(append, 500) / 500
        assert many <= few * 1.05
        assert many < 900

    def test_policy_and_budget_are_read_for_tool_outputs(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        long = "\n".join(f"line {at}: some words of an output" for at in range(20_000))
        engine.append(session_id, [{"role": "assistant", "content": None, "tool_calls": [call]}])
        [at] = engine.append(session_id, [{"role": "tool", "tool_call_id": "1", "content": long}])
        [stored] = engine.store.messages(session_id, at + 1)
        assert stored.short is not None
        assert len(stored.short) < len(long)


def found(engine: ContextEngine, query: str, session_id: str | None = None) -> Sequence[int]:
    return [hit.seq for hit in engine.store.search("local", query, session_id=session_id)]


class TestSearching:
    def test_of_very_many_matches_the_newest_are_ranked(
        self, engine: ContextEngine, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(searching, "MOST_RANKED", 30)
        engine.append(session_id, messages(100))
        best = engine.append(session_id, [text_message("user", "budget, budget")])
        engine.append(session_id, messages(9))
        with statements() as run:
            seqs = found(engine, "budget")
        assert seqs[0] == best[0] + 1
        assert len(seqs) == 20
        assert min(seqs) > 114 - 30
        assert not any("rank" in statement for statement in run)

    def test_beginnings_of_very_many_words_are_ranked_so_too(
        self, engine: ContextEngine, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(searching, "MOST_RANKED", 30)
        engine.append(session_id, messages(100))
        seqs = found(engine, "meet budg", session_id=session_id)
        assert len(seqs) == 20
        assert min(seqs) > 104 - 30

    def test_few_matches_are_ranked_by_the_index(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        engine.append(session_id, [text_message("user", f"a heron {WORDS}")])
        engine.append(session_id, [text_message("user", "herons and a heron")])
        engine.append(session_id, messages(20))
        assert found(engine, "heron") == [6, 5]
        assert found(engine, "heron", session_id=session_id) == [6, 5]

    def test_a_session_between_others_is_searched_alone(self, engine: ContextEngine) -> None:
        ids = [engine.create_session(name).id for name in ("first", "second")]
        for text in ("one pelican", "two pelicans", "three pelicans"):
            for session_id in ids:
                engine.append(session_id, [text_message("user", text)])
        hits = engine.store.search("local", "pelican", session_id=ids[1])
        assert sorted(hit.seq for hit in hits) == [1, 2, 3]
        assert {hit.session_id for hit in hits} == {ids[1]}
