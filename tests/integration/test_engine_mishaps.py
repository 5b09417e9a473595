"""Turns in which something goes wrong: nothing said is lost or doubled, and the end is polite."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from ctxcore.assembly.building import build_context
from ctxcore.engine import asynchronous
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import PlaceError, StaleProposalError, TurnStateError
from ctxcore.engine.events import TextDelta, ToolResultAdded, TurnEvent
from ctxcore.errors import PolicyError
from ctxcore.gateway.errors import ContextOverflowError
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import (
    ModelReply,
    ModelRequest,
    ModelUsage,
    StreamEvent,
)
from ctxcore.messages.values import Reasoning, ToolCall
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope
from tests.engines import ENDLESS, START, ended, engine_with, saying
from tests.limits import HANG_SECONDS

TWO_CALLS = ScriptedReply(
    calls=(
        ToolCall(id="a", name="look", arguments="{}"),
        ToolCall(id="b", name="look", arguments="{}"),
    )
)
SLOW = ScriptedReply(text="one two three four five six", chunk_chars=4, chunk_delay_seconds=0.01)


class FixedGateway:
    """Yields what it was given, and raises what of it is an error."""

    def __init__(self, *events: StreamEvent | BaseException) -> None:
        self._events = events

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The events in order."""
        for event in self._events:
            if isinstance(event, BaseException):
                raise event
            yield event

    def complete(self, request: ModelRequest) -> ModelReply:
        """Not used by turns."""
        raise NotImplementedError


def reply(text: str = "", thoughts: tuple[Reasoning, ...] = ()) -> ModelReply:
    return ModelReply(
        text=text,
        thoughts=thoughts,
        calls=(),
        finish_reason="stop",
        usage=ModelUsage(),
        model="m",
        cost=None,
        latency_seconds=0.0,
        first_token_seconds=None,
    )


def texts(engine: ContextEngine, session_id: str) -> list[str]:
    return [info.message.text for info in engine.store.messages(session_id)]


def until(kind: type, events: Iterator[TurnEvent]) -> Generator[TurnEvent]:
    """The same events, read up to the first of `kind`."""
    next(event for event in events if isinstance(event, kind))
    return cast("Generator[TurnEvent]", events)


def with_gateway(engine: ContextEngine, gateway: FixedGateway) -> ContextEngine:
    return ContextEngine(engine.store, gateway=gateway, model="m")


@pytest.mark.parametrize("at", range(1, 12))
def test_a_turn_closed_at_any_event_is_over_and_the_next_one_runs(at: int) -> None:
    with engine_with([TWO_CALLS, SLOW]) as (engine, _):
        session = engine.create_session()
        events = cast(
            "Generator[TurnEvent]", engine.chat(session.id, "go", run_tool=lambda _: "found")
        )
        for _, _event in zip(range(at), events, strict=False):
            pass
        events.close()

        [turn] = engine.store.turns(session.id)
        assert turn.state == "stopped"
        assert turn.partial == ""
        assert "go" in texts(engine, session.id)
        again = engine.chat(session.id, "and now?", run_tool=lambda _: "found")
        assert ended(again).state == "done"


def test_a_turn_closed_before_its_first_event_never_was() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()

        cast("Generator[TurnEvent]", engine.chat(session.id, "go")).close()

        assert engine.store.turns(session.id) == []
        assert texts(engine, session.id) == []


def test_an_interrupted_tool_ends_the_turn_and_continuing_runs_what_is_unanswered() -> None:
    ran: list[str] = []

    def interrupted(call: ToolCall) -> str:
        if call.id == "b" and not ran.count("b"):
            ran.append("b")
            raise KeyboardInterrupt
        return f"for {call.id}"

    with engine_with([TWO_CALLS, saying("both")]) as (engine, _):
        session = engine.create_session()
        with pytest.raises(KeyboardInterrupt):
            list(engine.chat(session.id, "go", run_tool=interrupted))
        assert engine.store.turns(session.id)[0].state == "failed"

        events = list(engine.continue_turn(session.id, run_tool=interrupted))

        assert [e.call_id for e in events if isinstance(e, ToolResultAdded)] == ["b"]
        assert ended(events).text == "both"
        assert texts(engine, session.id) == ["go", "", "for a", "for b", "both"]


def test_a_tool_that_returns_something_else_than_text_is_written_down() -> None:
    with engine_with([TWO_CALLS, saying("ok")]) as (engine, _):
        session = engine.create_session()

        ended(engine.chat(session.id, "go", run_tool=cast("type[str]", lambda _: {"n": 1})))

        assert texts(engine, session.id)[2] == '{"n": 1}'


def test_a_session_erased_while_its_turn_runs_ends_politely() -> None:
    with engine_with([SLOW]) as (engine, _):
        session = engine.create_session()
        events = until(TextDelta, engine.chat(session.id, "go"))
        engine.purge(session.id)

        end = ended(events)

        assert end.state == "interrupted"
        assert end.error
        assert engine.sessions() == []


def test_a_turn_taken_over_elsewhere_writes_nothing_more() -> None:
    with engine_with([SLOW, saying("the other")]) as (engine, _):
        session = engine.create_session()
        events = until(TextDelta, engine.chat(session.id, "one"))
        engine.store.interrupt_stale_turns(at=START + timedelta(days=1))
        assert ended(engine.chat(session.id, "two")).text == "the other"
        before = texts(engine, session.id)

        end = ended(events)

        assert end.state == "interrupted"
        assert "taken over" in str(end.error)
        assert texts(engine, session.id) == before
        assert [turn.state for turn in engine.store.turns(session.id)] == ["interrupted", "done"]


def _pass_time(engine: ContextEngine, *, seconds: int) -> None:
    for _ in range(seconds):
        engine._services.clock()  # each look is a second


def test_what_a_dead_process_had_said_is_kept_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'b.db'}"
    with engine_with([SLOW, saying("on we go"), saying("sure")], url=url) as (engine, _):
        session = engine.create_session()
        dead = until(TextDelta, engine.chat(session.id, "one"))
        _pass_time(engine, seconds=120)
        other = ContextEngine(
            open_store(url),
            gateway=engine._services.gateway,
            model=engine._services.default_model,
            clock=engine._services.clock,
        )

        assert ended(other.continue_turn(session.id)).text == "one on we go"
        assert ended(other.chat(session.id, "more?")).text == "sure"

        assert texts(other, session.id) == ["one", "one ", "on we go", "more?", "sure"]
        assert ended(dead).state == "interrupted"
        other.store.close()
        other.store.close()


def test_a_turn_that_another_process_took_up_is_not_written_by_both(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with engine_with([SLOW, SLOW], url=url) as (engine, _):
        session = engine.create_session()
        mine = until(TextDelta, engine.chat(session.id, "one"))
        _pass_time(engine, seconds=120)
        theirs = until(TextDelta, engine.continue_turn(session.id))

        assert ended(mine).state == "interrupted"
        assert ended(theirs).state == "done"

        assert texts(engine, session.id) == ["one", "one ", SLOW.text]


def test_a_long_pause_alone_does_not_cost_the_turn() -> None:
    with engine_with([SLOW]) as (engine, _):
        session = engine.create_session()
        events = until(TextDelta, engine.chat(session.id, "one"))
        _pass_time(engine, seconds=3_600)

        assert ended(events).state == "done"
        assert texts(engine, session.id) == ["one", SLOW.text]


def test_a_running_or_finished_turn_cannot_be_continued() -> None:
    with engine_with([SLOW], wait_seconds=0) as (engine, _):
        session = engine.create_session()
        events = until(TextDelta, engine.chat(session.id, "go"))

        with pytest.raises(LeaseTakenError, match="a turn is already running"):
            next(engine.continue_turn(session.id))

        assert ended(events).state == "done"
        with pytest.raises(TurnStateError, match="send a new message"):
            next(engine.continue_turn(session.id))


def test_calls_that_wait_are_named_and_do_not_end_the_wait() -> None:
    with engine_with([TWO_CALLS, saying("thanks")]) as (engine, _):
        session = engine.create_session()
        assert ended(engine.chat(session.id, "go")).state == "awaiting_tools"
        engine.append(session.id, [{"role": "tool", "tool_call_id": "a", "content": "1"}])

        with pytest.raises(TurnStateError, match=r"look \(b\)"):
            next(engine.continue_turn(session.id))
        engine.append(session.id, [{"role": "tool", "tool_call_id": "b", "content": "2"}])

        assert ended(engine.continue_turn(session.id)).text == "thanks"


def test_an_error_that_is_no_providers_is_a_failed_call_with_a_sentence() -> None:
    with engine_with() as (engine, _):
        broken = FixedGateway(TextDelta(text="half "), ZeroDivisionError("secret=abcdefgh1"))
        other = with_gateway(engine, broken)
        session = other.create_session()

        end = ended(other.chat(session.id, "hi"))

        assert (end.state, end.text) == ("failed", "half ")
        assert "ZeroDivisionError" not in str(texts(other, session.id))
        assert "abcdefgh1" not in str(end.error)
        [call] = other.store.calls(session.id)
        assert call.error == end.error
        assert texts(other, session.id) == ["hi", "half "]


def test_an_overflow_in_the_middle_of_an_answer_is_not_sent_again() -> None:
    with engine_with() as (engine, _):
        late = FixedGateway(TextDelta(text="half"), ContextOverflowError(model="m"))
        other = with_gateway(engine, late)
        session = other.create_session()

        end = ended(other.chat(session.id, "hi"))

        assert (end.state, end.text) == ("failed", "half")
        assert texts(other, session.id) == ["hi", "half"]


@pytest.mark.parametrize("answer", [reply(), reply(thoughts=(Reasoning(text="hmm"),))])
def test_an_answer_without_words_is_kept_and_the_session_goes_on(answer: ModelReply) -> None:
    with engine_with() as (engine, _):
        other = with_gateway(engine, FixedGateway(answer))
        session = other.create_session()

        assert ended(other.chat(session.id, "hi")).state == "done"
        assert ended(other.chat(session.id, "still there?")).state == "done"

        assert all(message.get("content") for message in other.context(session.id).messages)


def test_a_stream_without_an_answer_is_a_recorded_failure() -> None:
    with engine_with() as (engine, _):
        other = with_gateway(engine, FixedGateway())
        session = other.create_session()

        end = ended(other.chat(session.id, "hi"))

        assert end.state == "failed"
        assert [call.error for call in other.store.calls(session.id)] == [end.error]


def test_leaving_an_async_turn_early_has_it_stopped_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asynchronous, "_CLOSING_SECONDS", HANG_SECONDS)

    async def leave(engine: ContextEngine, session_id: str) -> None:
        events = cast("object", engine.achat(session_id, "go"))
        async for event in events:  # type: ignore[attr-defined]  # an async generator
            if isinstance(event, TextDelta):
                break
        await events.aclose()  # type: ignore[attr-defined]

    with engine_with([ENDLESS]) as (engine, _):
        session = engine.create_session()

        asyncio.run(leave(engine, session.id))

        assert engine.store.turns(session.id)[0].state == "stopped"
        assert ended(engine.chat(session.id, "again")).state == "done"


def test_of_two_who_confirm_at_once_one_is_told_that_it_is_stale(tmp_path: Path) -> None:
    with engine_with(url=f"sqlite:///{tmp_path / 'a.db'}", window=2_000) as (engine, _):
        session = engine.create_session()
        said = [{"role": "user", "content": f"fact {n} " + "why " * 30} for n in range(30)]
        engine.append(session.id, said)
        proposals = [engine.propose(session.id) for _ in range(4)]
        barrier, told = threading.Barrier(4), list[object]()

        def confirm(number: int) -> None:
            barrier.wait()
            try:
                told.append(engine.confirm(proposals[number]))
            except StaleProposalError as error:
                told.append(error)

        threads = [threading.Thread(target=confirm, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sum(isinstance(one, StaleProposalError) for one in told) == 3
        assert len(engine.compactions(session.id)) == 1


def test_a_place_that_is_not_there_is_named_as_the_caller_named_it() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(system="Be brief.")
        verbs = (engine.pin, engine.exclude, engine.set_goal, engine.fork)

        for verb in verbs:
            for place in (1, -1):
                with pytest.raises(PlaceError, match=f"no message {place}; the session has 1"):
                    verb(session.id, place)


@pytest.mark.parametrize(
    "overrides",
    [
        {"strategies": "fold_oldest"},
        {"strategies": [["fold_oldest"]]},
        {"strategies": []},
        {"trigger_on": ["input"]},
        {"trigger_ratio": "0.5"},
        {"reserve_tokens": None},
        {"min_messages": True},
        {"self": 1},
        {"cls": 1},
        {"name": 3},
        {"name": "nobody"},
    ],
)
def test_a_policy_of_the_wrong_shape_is_refused_and_not_saved(
    overrides: dict[str, object],
) -> None:
    scope = Scope(kind="user", owner="local")
    with engine_with() as (engine, _):
        with pytest.raises(PolicyError):
            engine.save_policy(scope, overrides)  # type: ignore[arg-type]  # that is the point
        assert engine.store.policy(scope) is None


def test_strategies_are_a_list_in_json() -> None:
    scope = Scope(kind="user", owner="local")
    with engine_with() as (engine, _):
        session = engine.create_session()

        engine.save_policy(scope, {"strategies": ["fold_to_tail"]})

        effective = engine.policy(session.id)
        assert effective.policy.strategies == ("fold_to_tail",)
        assert effective.source("strategies") == "user"


def test_a_recount_beside_the_turns_moves_no_threshold() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(system="Rule: be as brief as you can. " * 150)
        said = ({"role": "user", "content": f"fact {n}"} for n in range(600))
        engine.append(session.id, said)

        first = engine.call_target(session.id, model="gpt-4")
        engine._services.recounts.wait()
        second = engine.call_target(session.id, model="gpt-4")

        assert (first.is_estimated, second.is_estimated) == (True, False)
        assert first.call.budget == second.call.budget
        assert engine.budget(session.id, first.call.policy, model="gpt-4") == first.call.budget


def test_a_long_session_is_counted_anew_beside_its_turns() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        said: Iterable[dict[str, object]] = (
            {"role": "user", "content": f"fact {n}"} for n in range(600)
        )
        engine.append(session.id, said)

        first = engine.call_target(session.id, model="gpt-4")
        engine._services.recounts.wait()
        second = engine.call_target(session.id, model="gpt-4")

        assert (first.is_estimated, second.is_estimated) == (True, False)
        shown = [build_context(one.view, one.call, one.record) for one in (first, second)]
        assert [context.is_exact for context in shown] == [False, True]
        exact = second.view.totals().tokens
        assert abs(first.view.totals().tokens - exact) < exact / 10
        assert ended(engine.chat(session.id, "and now?")).state == "done"
