"""Turns of stored sessions: whatever happens, what was said is kept and the turn ends once."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import cast

import pytest

import ctxcore
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NoModelError, NotAllowedError, TurnStateError
from ctxcore.engine.events import (
    ANSWER_CUT,
    CompactionFinished,
    CompactionStarted,
    ContextBuilt,
    TextDelta,
    ToolCallRequested,
    ToolResultAdded,
    TurnEnded,
    TurnEvent,
    UsageReported,
)
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import ToolCall
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.values import Scope
from tests.engines import ENDLESS, ended, engine_with, saying

SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}


def _asks(call_id: str) -> ScriptedReply:
    return ScriptedReply(calls=(ToolCall(id=call_id, name="search", arguments='{"q": "x"}'),))


def test_a_turn_stores_both_sides_and_reports_usage() -> None:
    with engine_with([saying("Hello Ada")]) as (engine, _):
        session = engine.create_session("greeting", system="Be brief.")

        events = list(engine.chat(session.id, "I am Ada"))

        said = [info.message.text for info in engine.store.messages(session.id)]
        assert said == ["Be brief.", "I am Ada", "Hello Ada"]
        kinds = [type(event) for event in events if type(event).__name__ != "Waiting"]
        assert kinds[0] is ContextBuilt
        assert kinds[-2:] == [UsageReported, TurnEnded]
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hello Ada"
        [call] = engine.store.calls(session.id)
        assert call.input_tokens
        assert call.estimate["recent"] > 0
        assert call.seq == 3


@pytest.mark.parametrize("why", ["length", "content_filter"])
def test_an_answer_that_its_model_did_not_end_is_recorded_as_cut(why: str) -> None:
    replies = [ScriptedReply(text="Once upon", finish_reason=why), saying("The end")]
    with engine_with(replies) as (engine, _):
        session = engine.create_session()

        list(engine.chat(session.id, "Tell me a story"))
        list(engine.chat(session.id, "Go on"))

        [cut] = engine.store.last_events(session.id, (ANSWER_CUT,))
        assert (cut.body["seq"], cut.body["why"]) == (2, why)


def test_a_turn_knows_how_large_the_whole_history_was() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        ended(engine.chat(session.id, "one"))
        ended(engine.chat(session.id, "two"))

        assert [turn.history_messages for turn in engine.store.turns(session.id)] == [2, 4]


def test_tools_run_in_a_loop_and_their_outputs_are_stored() -> None:
    with engine_with([_asks("c1"), _asks("c2"), saying("found it")]) as (engine, model):
        session = engine.create_session()

        def run(call: ToolCall) -> str:
            return f"for {call.id}"

        events = list(engine.chat(session.id, "find x", tools=[SEARCH], run_tool=run))

        assert [e.output for e in events if isinstance(e, ToolResultAdded)] == ["for c1", "for c2"]
        assert ended(events).text == "found it"
        assert model.requests[-1].tools
        roles = [info.message.role for info in engine.store.messages(session.id)]
        assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_a_failing_tool_is_told_to_the_model_and_the_turn_goes_on() -> None:
    def broken(call: ToolCall) -> str:
        raise RuntimeError("the disk is full")

    with engine_with([_asks("c1"), saying("sorry")]) as (engine, model):
        session = engine.create_session()

        end = ended(engine.chat(session.id, "find", tools=[SEARCH], run_tool=broken))

        assert end.state == "done"
        assert "the disk is full" in str(model.requests[-1].messages[-1])


def test_without_run_tool_a_turn_waits_and_goes_on_when_the_results_are_there() -> None:
    with engine_with([_asks("c1"), saying("done")]) as (engine, _):
        session = engine.create_session()
        events = list(engine.chat(session.id, "find x", tools=[SEARCH]))
        assert ended(events).state == "awaiting_tools"
        assert any(isinstance(event, ToolCallRequested) for event in events)

        engine.append(session.id, [{"role": "tool", "tool_call_id": "c1", "content": "42"}])
        end = ended(engine.continue_turn(session.id, tools=[SEARCH]))

        assert (end.state, end.text) == ("done", "done")
        assert len(engine.store.turns(session.id)) == 1


def test_a_model_that_never_stops_asking_for_tools_is_stopped() -> None:
    with engine_with(otherwise=_asks("again")) as (engine, _):
        session = engine.create_session()

        end = ended(engine.chat(session.id, "go", tools=[SEARCH], run_tool=lambda _: "more"))

        assert end.state == "failed"
        assert "25 times" in str(end.error)


def test_closing_the_iterator_keeps_what_was_said_as_stopped() -> None:
    with engine_with([ENDLESS]) as (engine, model):
        session = engine.create_session()
        events = cast("Generator[TurnEvent]", engine.chat(session.id, "go on"))
        for event in events:
            if isinstance(event, TextDelta):
                break
        events.close()

        [turn] = engine.store.turns(session.id)
        assert turn.state == "stopped"
        assert engine.store.messages(session.id)[-1].message.text.startswith("more")
        assert model.cancelled == 1
        assert ended(engine.chat(session.id, "and now?")).state == "done"


@pytest.mark.parametrize(
    ("kind", "hint"), [("auth", "check"), ("unknown_model", "name"), ("content_filter", "reword")]
)
def test_a_provider_error_is_a_recorded_state_with_a_way_out(kind: ErrorKind, hint: str) -> None:
    with engine_with([ScriptedReply(error=kind), saying("back again")]) as (engine, _):
        session = engine.create_session()

        end = ended(engine.chat(session.id, "hello?"))

        assert end.state == "failed"
        assert hint in str(end.error)
        assert engine.store.turns(session.id)[0].error == end.error
        assert [info.message.text for info in engine.store.messages(session.id)] == ["hello?"]
        assert ended(engine.continue_turn(session.id)).text == "back again"


def test_an_overflow_compacts_once_and_sends_again() -> None:
    with engine_with(window=40_000, provider_window=900) as (engine, model):
        session = engine.create_session()
        told = [{"role": "user", "content": f"fact {n}: " + "words " * 40} for n in range(30)]
        engine.append(session.id, told)

        events = list(engine.chat(session.id, "what now?"))

        kinds = [type(e) for e in events if type(e).__name__.startswith("Compaction")]
        assert kinds == [CompactionStarted, CompactionFinished]
        assert ended(events).state == "done"
        assert len(model.requests) == 2


def test_a_second_overflow_ends_the_turn_with_a_sentence() -> None:
    with engine_with(window=40_000, provider_window=5) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": "fact " * 400}] * 5)

        end = ended(engine.chat(session.id, "what now?"))

        assert end.state == "failed"
        assert "too long" in str(end.error)


def test_two_turns_at_once_are_refused_by_an_engine_that_does_not_wait() -> None:
    slow = ScriptedReply(text="a b c", chunk_chars=1, chunk_delay_seconds=0.01)
    with engine_with([slow], wait_seconds=0) as (engine, _):
        session = engine.create_session()
        first = engine.chat(session.id, "one")
        next(first)

        with pytest.raises(LeaseTakenError):
            next(engine.chat(session.id, "two"))

        assert ended(first).state == "done"


def test_nothing_is_sent_above_usable_and_every_context_is_legal() -> None:
    with engine_with(window=1_200) as (engine, model):
        session = engine.create_session(system="You help.")
        for number in range(40):
            ended(engine.chat(session.id, f"question {number}: " + "some more words " * 12))

        assert len(engine.compactions(session.id)) >= 2
        for request in model.requests:
            assert [lint(request.messages, provider) for provider in PROVIDERS] == [[]] * 4
        for call in engine.store.calls(session.id):
            used = sum(call.estimate.values()) - call.estimate["reserve"] - call.estimate["free"]
            assert used * (call.count_factor or 0) <= 900


def test_a_send_above_usable_compacts_first() -> None:
    with engine_with(window=1_200) as (engine, model):
        session = engine.create_session()
        told = [{"role": "user", "content": f"fact {n}: " + "words " * 40} for n in range(30)]
        engine.append(session.id, told)

        events = list(engine.chat(session.id, "what now?"))

        kinds = [type(event) for event in events]
        assert kinds.index(CompactionFinished) < kinds.index(ContextBuilt)
        assert "conversation_summary" in str(model.requests[0].messages)


def test_an_own_price_decides_what_a_call_costs() -> None:
    with engine_with([saying("four words of answer")]) as (engine, model):
        figures = {"window_tokens": 4_000, "input_price": 0.001, "output_price": 0.01}
        save_figures(engine.store, model.model, figures)
        session = engine.create_session()

        ended(engine.chat(session.id, "two words"))

        [call] = engine.store.calls(session.id)
        assert call.cost == pytest.approx(2 * 0.001 + 4 * 0.01)


def test_a_changed_threshold_holds_at_the_next_turn() -> None:
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session()
        for number in range(12):
            ended(engine.chat(session.id, f"question {number} " + "words " * 40))
        assert engine.compactions(session.id) == []

        engine.save_policy(Scope(kind="user", owner="local"), {"trigger_ratio": 0.1})
        ended(engine.chat(session.id, "one more"))
        engine.wait(session.id)

        assert len(engine.compactions(session.id)) == 1
        assert engine.policy(session.id).source("trigger_ratio") == "user"


def test_an_unknown_window_sends_everything_and_compacts_nothing_by_itself() -> None:
    with engine_with(window=None) as (engine, _):
        session = engine.create_session()
        for number in range(5):
            ended(engine.chat(session.id, f"question {number} " + "words " * 400))

        context = engine.context(session.id)

        assert context.budget is None
        assert {verdict.verdict for verdict in context.verdicts} == {"kept"}


def test_a_session_is_not_another_users_to_see() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session("mine")
        engine.create_user("eve")
        eve = ContextEngine(engine.store, user_id="eve")

        reads = (eve.session, eve.session_stamp, eve.context, eve.export, eve.digest)
        for verb in (*reads, eve.undo, eve.purge):
            with pytest.raises(NotAllowedError):
                verb(session.id)
        assert eve.sessions() == []


def test_without_a_model_or_a_turn_the_error_says_what_to_do() -> None:
    with engine_with() as (engine, _):
        plain = ContextEngine(engine.store)
        session = plain.create_session()

        with pytest.raises(NoModelError, match="choose one"):
            next(plain.chat(session.id, "hi"))
        with pytest.raises(TurnStateError, match="send a message first"):
            next(engine.continue_turn(session.id))


def test_the_thread_of_the_event_loop_only_passes_on_what_a_turn_says() -> None:
    """Whatever a turn computes, reads or stores there stalls all other turns of the loop."""
    sources = Path(ctxcore.__file__).parent
    called: set[str] = set()
    started: list[threading.Thread] = []

    def note(frame: FrameType, event: str, _arg: object) -> None:
        if event != "call":
            return
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(sources):
            called.add(path.relative_to(sources).as_posix())
        if frame.f_code is threading.Thread.start.__code__:
            started.append(frame.f_locals["self"])

    async def turn(engine: ContextEngine, session_id: str) -> None:
        events = [event async for event in engine.achat(session_id, "hello")]
        assert ended(events).state == "done"

    async def run(engine: ContextEngine, session_ids: list[str]) -> None:
        await asyncio.gather(*(turn(engine, session_id) for session_id in session_ids))

    with engine_with() as (engine, _):
        session_ids = [engine.create_session(f"s{n}").id for n in range(100)]
        sys.setprofile(note)
        try:
            asyncio.run(run(engine, session_ids))
        finally:
            sys.setprofile(None)

    assert called == {"engine/asynchronous.py"}
    assert len(started) <= 1  # starting a thread waits until it runs; one starts all the others
