"""Tests what appends and searches cost: SQL statements and work, not seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.statements import statements_run
from ctxcore import ContextEngine, open_store
from ctxcore.messages.values import Message, text_message
from ctxcore.recalling import searching
from tests.effort import calls_made

WORDS = (
    "the meeting about a new budget went well and we talked of costs, people and what comes next"
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(str(tmp_path / "chat.db"))
    yield ContextEngine(store, model="gpt-4o")
    store.close()


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
            with statements_run() as run:
                engine.append(session_id, messages(2))
            counts.append(len(run))
        assert counts[0] == counts[1] <= 10

    def test_many_messages_take_as_many_statements_as_two(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        counts = []
        for count in (2, 500):
            with statements_run() as run:
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


def found(engine: ContextEngine, query: str) -> Sequence[int]:
    return [hit.seq for hit in engine.store.search("local", query)]


class TestSearching:
    def test_of_very_many_matches_the_newest_are_ranked(
        self, engine: ContextEngine, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(searching, "MOST_PLACES", 30)
        engine.append(session_id, messages(100))
        best = engine.append(session_id, [text_message("user", "budget, budget")])
        engine.append(session_id, messages(9))
        seqs = found(engine, "budget")
        assert seqs[0] == best[0] + 1
        assert len(seqs) == 20
        assert min(seqs) > 114 - 30

    def test_beginnings_of_very_many_words_are_ranked_so_too(
        self, engine: ContextEngine, session_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(searching, "MOST_PLACES", 30)
        engine.append(session_id, messages(100))
        seqs = found(engine, "meet budg")
        assert len(seqs) == 20
        assert min(seqs) > 104 - 30

    def test_a_short_match_comes_before_a_long_one(
        self, engine: ContextEngine, session_id: str
    ) -> None:
        engine.append(session_id, [text_message("user", f"a heron {WORDS}")])
        engine.append(session_id, messages(20))
        engine.append(session_id, [text_message("user", "herons and a heron")])
        assert found(engine, "heron") == [26, 5]

    def test_sessions_that_lie_among_each_other_are_ranked_apart(
        self, engine: ContextEngine
    ) -> None:
        ids = [engine.create_session(name).id for name in ("first", "second")]
        said = ("the pelican of the harbour", "no birds here", "the harbour")
        for text in said:
            for session_id, shown in zip(ids, (text, "nothing at all"), strict=True):
                engine.append(session_id, [text_message("user", shown)])
        alone = [(hit.session_id, hit.seq) for hit in engine.search("pelican harbour")]
        assert alone == [(ids[0], 1), (ids[0], 3)]
        assert [hit.seq for hit in engine.recall(ids[0], "pelican harbour")] == [1]
        assert engine.recall(ids[1], "pelican harbour") == []
