"""A session's working state as an application says it: kept, used by every compaction, private."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxcore.assembly.records import EMPTY_WORKING_STATE, WorkingState
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import ConfirmationNeeded, SessionStarted
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.values import Scope
from tests.engines import ended, engine_with, saying

SAID = WorkingState(memories=("Ada likes blue.",), tasks="2 of 3 ported", changes="3 files, +9 −1")
TOLD = ("- Ada likes blue.", "2 of 3 ported", "3 files, +9 −1")
HEARD = "Remember that the box is green."
SEARCH: JsonObject = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture
def engine() -> Iterator[ContextEngine]:
    with engine_with(window=3_000) as (made, _):
        yield made


def long_session(engine: ContextEngine, preset: str = "ladder", **overrides: object) -> str:
    """A session that a compaction has something to do in."""
    session = engine.create_session("long", system="You help.")
    values: JsonObject = {"name": preset, **overrides}  # type: ignore[dict-item]  # JSON by hand
    engine.save_policy(Scope(kind="session", owner=session.id), values)
    questions = [f"Question {number}: " + "words " * 60 for number in range(16)]
    asked = ["Port the billing service, please.", HEARD, *questions]
    for text in asked:
        answer = {"role": "assistant", "content": "Answer: " + "words " * 60}
        engine.append(session.id, [{"role": "user", "content": text}, answer])
    return session.id


def carried(engine: ContextEngine, session_id: str) -> str:
    """What the newest compaction carries beside its summary."""
    return engine.compactions(session_id)[-1].compaction.facts


def test_a_compaction_by_hand_keeps_it_word_for_word(engine: ContextEngine) -> None:
    session_id = long_session(engine)

    engine.set_working_state(session_id, SAID)
    engine.compact(session_id)

    assert all(text in carried(engine, session_id) for text in TOLD)
    assert "the box is green" not in carried(engine, session_id)
    assert all(text in str(engine.context(session_id).messages) for text in TOLD)


def test_a_field_left_out_is_read_from_the_history_and_so_are_all_after_none(
    engine: ContextEngine,
) -> None:
    session_id = long_session(engine)

    engine.set_working_state(session_id, WorkingState(tasks="2 of 3 ported"))
    engine.compact(session_id)
    partly = carried(engine, session_id)
    engine.undo(session_id)
    engine.set_working_state(session_id, None)
    engine.compact(session_id)

    assert "2 of 3 ported" in partly
    assert HEARD in partly
    assert "2 of 3 ported" not in carried(engine, session_id)
    assert HEARD in carried(engine, session_id)


def test_what_is_said_to_be_nothing_is_not_read(engine: ContextEngine) -> None:
    session_id = long_session(engine)

    engine.set_working_state(session_id, WorkingState(memories=()))
    engine.compact(session_id)

    assert HEARD not in carried(engine, session_id)


def test_it_is_read_as_it_was_said(engine: ContextEngine) -> None:
    session_id = engine.create_session().id

    assert engine.working_state(session_id) == EMPTY_WORKING_STATE
    engine.set_working_state(session_id, SAID)
    assert engine.working_state(session_id) == engine.session(session_id).working == SAID
    engine.set_working_state(session_id, WorkingState(tasks="all done"))
    assert engine.working_state(session_id) == WorkingState(tasks="all done")
    engine.set_working_state(session_id, None)
    assert engine.working_state(session_id) == EMPTY_WORKING_STATE


def test_a_compaction_inside_a_turn_keeps_what_a_tool_of_that_turn_said() -> None:
    call = ToolCall(id="c", name="search", arguments="{}")
    replies = [ScriptedReply(calls=(call,)), saying("found")]
    with engine_with(replies, window=3_000) as (engine, model):
        session_id = engine.create_session("short").id
        engine.save_policy(Scope(kind="session", owner=session_id), {"name": "ladder"})
        for text in ("Port the billing service.", *("words " * 50 for _ in range(9))):
            answer = {"role": "assistant", "content": "words " * 60}
            engine.append(session_id, [{"role": "user", "content": text}, answer])

        def run(_: ToolCall) -> str:
            engine.set_working_state(session_id, SAID)
            return "words " * 700

        events = engine.chat(session_id, "look", tools=[SEARCH], run_tool=run)

        assert ended(events).text == "found"
        assert len(engine.compactions(session_id)) == 1
        assert all(text in str(model.requests[-1].messages) for text in TOLD)


def test_a_proposal_is_recorded_with_what_is_said_when_it_is_confirmed(
    engine: ContextEngine,
) -> None:
    session_id = long_session(engine)
    engine.set_working_state(session_id, SAID)
    proposal = engine.propose(session_id)
    assert proposal.record is not None

    engine.set_working_state(session_id, WorkingState(tasks="3 of 3 ported"))
    info = engine.confirm(proposal)

    assert info is not None
    assert "2 of 3 ported" in proposal.record.facts
    assert "3 of 3 ported" in info.compaction.facts
    assert "2 of 3 ported" not in info.compaction.facts
    assert info.compaction.summary == proposal.record.summary
    assert info.compaction.after_tokens == engine.context(session_id).tokens


def test_a_proposal_is_recorded_as_it_was_where_nothing_else_is_said(
    engine: ContextEngine,
) -> None:
    session_id = long_session(engine)
    engine.set_working_state(session_id, SAID)
    proposal = engine.propose(session_id)

    info = engine.confirm(proposal)

    assert info is not None
    assert info.compaction == proposal.record


def test_what_a_person_consents_to_keeps_it(engine: ContextEngine) -> None:
    session_id = long_session(engine, requires_confirmation=True)
    events = list(engine.chat(session_id, "and now?"))
    [needed] = [event for event in events if isinstance(event, ConfirmationNeeded)]

    engine.set_working_state(session_id, SAID)
    ended(engine.answer(session_id, needed.plan_id, "compact"))

    assert all(text in carried(engine, session_id) for text in TOLD)


def test_it_goes_along_where_a_person_wants_to_go_on_in_a_new_session(
    engine: ContextEngine,
) -> None:
    session_id = long_session(engine, requires_confirmation=True)
    engine.set_working_state(session_id, SAID)
    events = list(engine.chat(session_id, "and now?"))
    [needed] = [event for event in events if isinstance(event, ConfirmationNeeded)]

    events = list(engine.answer(session_id, needed.plan_id, "new_session"))

    [started] = [event for event in events if isinstance(event, SessionStarted)]
    assert engine.working_state(started.session_id) == SAID


@pytest.mark.parametrize("preset", ["default", "sliding-summary", "pi"])
def test_under_a_policy_without_room_for_it_nothing_changes(
    engine: ContextEngine, preset: str
) -> None:
    session_id = long_session(engine, preset)
    without = engine.propose(session_id)

    engine.set_working_state(session_id, SAID)

    assert engine.propose(session_id).record == without.record
    info = engine.confirm(without)
    assert info is not None
    assert info.compaction == without.record


def test_an_export_holds_it_and_the_digest_counts_it(engine: ContextEngine) -> None:
    session_id = long_session(engine)
    before = engine.digest(session_id)

    engine.set_working_state(session_id, SAID)
    [copy] = engine.import_(engine.export(session_id), name="copy.jsonl")

    assert copy.working == SAID
    assert engine.digest(copy.id) == engine.digest(session_id) != before
    engine.set_working_state(session_id, WorkingState())
    assert engine.digest(session_id) == before


def test_a_fork_takes_it_along(engine: ContextEngine) -> None:
    session_id = long_session(engine)
    engine.set_working_state(session_id, SAID)

    fork = engine.fork(session_id, 3)
    engine.set_working_state(session_id, None)

    assert engine.working_state(fork.id) == SAID


def test_it_is_nobody_elses_to_read_or_to_say(engine: ContextEngine) -> None:
    session_id = long_session(engine)
    engine.set_working_state(session_id, SAID)
    engine.create_user("eve")
    eve = ContextEngine(engine.store, user_id="eve")

    for attempt in (
        lambda: eve.working_state(session_id),
        lambda: eve.set_working_state(session_id, None),
    ):
        with pytest.raises(NotAllowedError) as caught:
            attempt()
        assert "blue" not in str(caught.value)
    assert engine.working_state(session_id) == SAID
    with pytest.raises(SessionNotFoundError):
        engine.set_working_state("gone", SAID)
