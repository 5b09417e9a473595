"""Forgetting signals of stored sessions: found in turns, judged, exported, kept to their user."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from benchmarks.statements import statements_run
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import ImportRefusedError, NotAllowedError
from ctxcore.engine.signals import record_signals
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import ToolCall
from tests.engines import compacted_session, ended, engine_with, saying
from tests.histories import assistant, user

CODE = "The gate code of the boathouse is 4471 and the caretaker is called Ludmilla."
AGAIN = "As I said, the gate code of the boathouse is 4471."


def session_of(engine: ContextEngine, turns: int = 30) -> str:
    """A session of which a compaction folded the message with the code."""
    return compacted_session(engine, CODE, turns=turns, recall_ratio=None)


def kinds(engine: ContextEngine, session_id: str) -> list[tuple[str, str | None]]:
    """Kind and verdict of each signal."""
    return [(one.kind, one.verdict) for one in engine.signals(session_id)]


def test_who_repeats_a_folded_message_is_noticed_with_the_compaction() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, _):
        session_id = session_of(engine)
        [made] = engine.compactions(session_id)

        ended(engine.chat(session_id, CODE))

        [signal] = engine.signals(session_id)
        assert (signal.kind, signal.verdict) == ("repeated", "summarized")
        assert engine.store.messages(session_id, *signal.earlier)[0].message.text == CODE
        assert signal.compaction_id == made.id
        assert engine.store.messages(session_id, signal.seq)[0].message.text == CODE
        [counts] = engine.signal_counts()
        assert (counts.turns, counts.forgotten) == (1, 1)


def test_who_repeats_what_the_context_shows_is_not() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, _):
        session_id = engine.create_session("boats").id
        for text in (CODE, "Hello?", CODE):
            ended(engine.chat(session_id, text))

        assert engine.signals(session_id) == []


def test_who_says_so_is_noticed_even_where_the_context_showed_it() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, _):
        session_id = engine.create_session("boats").id
        for text in (CODE, AGAIN):
            ended(engine.chat(session_id, text))

        assert kinds(engine, session_id) == [("said_so", "kept")]
        [counts] = engine.signal_counts()
        assert (counts.forgotten, counts.overlooked) == (0, 1)


def test_a_model_that_asks_for_what_was_told_is_noticed() -> None:
    asks = saying("Gladly. What is the gate code of the boathouse, could you tell me?")
    with engine_with([asks]) as (engine, _):
        session_id = session_of(engine)

        ended(engine.chat(session_id, "Please open up."))

        assert kinds(engine, session_id) == [("asked_again", "summarized")]


def test_a_call_that_reads_again_is_noticed() -> None:
    read = ToolCall(id="a", name="read_file", arguments='{"path": "docs/harbour.md"}')
    again = ScriptedReply(calls=(ToolCall(id="b", name=read.name, arguments=read.arguments),))
    with engine_with([again, saying("Done.")]) as (engine, _):
        session_id = session_of(engine, turns=2)
        asked = {"role": "assistant", "content": "", "tool_calls": [_call(read)]}
        result = {"role": "tool", "tool_call_id": "a", "content": "A quiet harbour."}
        engine.append(session_id, [user("Look."), asked, result, assistant("It is quiet.")])
        engine.append(session_id, [user("pebble " * 20), assistant("shell " * 40)] * 20)
        engine.compact(session_id)

        ended(engine.chat(session_id, "And the harbour?", run_tool=lambda _: "A quiet harbour."))

        assert kinds(engine, session_id) == [("asked_again", "summarized")]


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def test_a_failure_to_find_them_fails_no_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a word " + CODE)

    monkeypatch.setattr("ctxcore.engine.signals.find_in_reply", broken)
    with (
        caplog.at_level(logging.WARNING),
        engine_with(otherwise=saying("Noted.")) as (engine, _),
    ):
        session_id = session_of(engine)

        assert ended(engine.chat(session_id, CODE)).state == "done"

        assert engine.signals(session_id) == []
    assert "ZeroDivisionError" in caplog.text
    assert CODE not in caplog.text


@pytest.mark.parametrize(("text", "most"), [(CODE, 12), ("Thanks!", 6)])
def test_a_longer_history_takes_no_more_statements(
    text: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []

    def counted(*given: Any) -> None:
        with statements_run() as seen:
            record_signals(*given)
        counts.append(len(seen))

    monkeypatch.setattr("ctxcore.engine.calls.record_signals", counted)
    for turns in (30, 120):
        with engine_with(otherwise=saying("Noted."), window=16_000) as (engine, _):
            ended(engine.chat(session_of(engine, turns), text))

    assert len(counts) == 2
    assert counts[0] == counts[1] <= most


def test_signals_go_with_an_export_and_stay_with_their_user(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with engine_with(otherwise=saying("Noted."), url=url) as (engine, _):
        session_id = session_of(engine)
        ended(engine.chat(session_id, CODE))
        [signal] = engine.signals(session_id)
        engine.judge_signal(session_id, signal.id, is_right=False)
        text = engine.export(session_id)

        [copy] = engine.import_(text)

        [read] = engine.signals(copy.id)
        [compaction] = engine.compactions(copy.id)
        assert (read.kind, read.earlier, read.verdict) == ("repeated", signal.earlier, "summarized")
        assert (read.is_right, read.compaction_id) == (False, compaction.id)
        assert engine.digest(copy.id) == engine.digest(session_id)
        with pytest.raises(ImportRefusedError):
            engine.import_(text.replace('"kind":"repeated"', '"kind":"dreamt"'))
    with engine_with(url=url, user_id="eve") as (other, _):
        with pytest.raises(NotAllowedError):
            other.signals(session_id)
        with pytest.raises(NotAllowedError):
            other.judge_signal(session_id, signal.id, is_right=True)
