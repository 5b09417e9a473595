"""Compactions of long stored sessions: chosen from notes, and the same as from texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctxcore.assembly.records import Compaction
from ctxcore.compaction import keeping
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.messages.lazy import Contents, LazyMessage
from ctxcore.messages.values import Message, Text, tool_result
from ctxcore.store import open_store
from ctxcore.store.light_rows import LEAST, _Texts
from tests.histories import assistant, call, user

MODEL = "gpt-4o"
PLACES = ("Naxos", "Paros", "Tinos", "Syros", "Milos", "Andros", "Ikaria")


def said(count: int) -> list[Message]:
    """A plain conversation of `count` messages, with a rule, its end and two calls."""
    found: list[Message] = []
    for at in range(count // 2):
        place, other = PLACES[at % 7], PLACES[at % 5]
        found.append(
            user(f"Is there a boat from {place} to {other} on day {at}? I pay {at} euros.")
        )
        found.append(assistant(f"The boat of day {at} leaves {place} at {at % 24}:05, seat {at}."))
    for at in range(5, count // 2, 5):  # pieces of these are kept
        found[at] = user(" ".join([f"In {at} we sailed past {PLACES[at % 3]} on boat {at}."] * 12))
    found[20:20] = [user("From now on never book a seat without asking me first.")]
    found[60:60] = [user("You may book a seat without asking me first from now on.")]
    found[90:90] = [
        assistant("I look.", call("c1", q="boats")),
        tool_result("c1", '{"boat": "FX-2207", "seat": 12}'),
        assistant("It is FX-2207."),
    ]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def engine(path: Path) -> Iterator[ContextEngine]:
    with closing(open_store(str(path))) as store:
        save_figures(store, MODEL, {"window_tokens": 12_000})
        yield ContextEngine(store, model=MODEL)


def proposed(engine: ContextEngine, session_id: str) -> Compaction:
    record = engine.propose(session_id).record
    assert record is not None
    return record


class TestAFirstCompaction:
    def test_is_the_same_as_without_notes(self, engine: ContextEngine, path: Path) -> None:
        session = engine.create_session("boats")
        engine.append(session.id, said(LEAST + 200))
        with_notes = proposed(engine, session.id)
        with closing(sqlite3.connect(path)) as connection, connection:
            noted = connection.execute("UPDATE message SET notes = NULL WHERE notes > ''").rowcount

        assert noted > LEAST
        assert proposed(engine, session.id) == with_notes
        assert with_notes.summary
        assert with_notes.kept

    def test_is_the_same_with_notes_from_before_pieces_and_lets_texts_go(
        self, engine: ContextEngine, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = engine.create_session("boats")
        long = "We sailed past every one of the islands, and the wind kept turning. " * 9
        told = [user(f"{long}Boat {at} was late.") for at in range(LEAST // 2)]
        engine.append(session.id, [*said(LEAST), *told, *said(LEAST // 2)])
        kept = proposed(engine, session.id)
        with closing(sqlite3.connect(path)) as connection, connection:
            end = "instr(notes, char(10) || char(10))"
            connection.execute(
                f"UPDATE message SET notes = substr(notes, 1, {end} - 1) WHERE {end}"
            )
        dropped: list[int] = []
        drop = LazyMessage.drop

        def noted(message: LazyMessage, contents: Contents) -> None:
            dropped.append(message._seq)
            drop(message, contents)

        monkeypatch.setattr(keeping, "_MANY", 0)
        monkeypatch.setattr(LazyMessage, "drop", noted)

        assert proposed(engine, session.id) == kept
        assert len(dropped) >= LEAST // 2

    @pytest.mark.parametrize("repeats", [1, 8])  # short messages, and ones that stay in pieces
    def test_reads_few_texts(
        self, engine: ContextEngine, monkeypatch: pytest.MonkeyPatch, repeats: int
    ) -> None:
        session = engine.create_session("boats")
        told = [one for one in said(LEAST * 3) if "book a seat" not in one.text]
        if repeats > 1:
            told = [
                replace(one, content=(Text(text=" ".join([one.text] * repeats)),))
                if len(one.text) < 100 and not one.calls and not one.is_tool_result
                else one
                for one in told
            ]
        engine.append(session.id, told)
        read: list[int] = []
        original = _Texts._bodies

        def bodies(texts: _Texts, seqs: Sequence[int]) -> Any:
            read.extend(seqs)
            return original(texts, seqs)

        monkeypatch.setattr(_Texts, "_bodies", bodies)

        proposed(engine, session.id)

        assert 0 < len(set(read)) < LEAST
        assert len(read) < 2 * LEAST
