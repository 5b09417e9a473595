"""Trials of stored sessions honour pins, exclusions and the count factor, as contexts do."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.trials import start_trial, trial_session
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import counter_for
from ctxcore.trials.candidates import edited, last_messages, of_preset
from ctxcore.trials.running import Trying, call_under
from ctxcore.trials.values import SentCall
from tests.engines import engine_with
from tests.limits import HANG_SECONDS

Result = TypeVar("Result")
TURNS = 12


def ended(steps: Generator[object, None, Result]) -> Result:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result


def talk(engine: ContextEngine) -> str:
    session = engine.create_session("Orders", system="You help.")
    for number in range(TURNS):
        said = [
            {"role": "user", "content": f"Order ORD-{number} is late. " * 8},
            {"role": "assistant", "content": f"ORD-{number} is on its way. " * 8},
        ]
        engine.append(session.id, said)
    return session.id


def last_call(engine: ContextEngine, session_id: str) -> str:
    """What the last call would have been sent of the newest messages."""
    session = trial_session(engine, session_id)
    at = len(session.messages) - 1
    sent: SentCall = ended(call_under(session, last_messages(4), at))
    return "\n".join(one.text for one in sent.messages)


def test_a_pinned_message_is_sent_and_an_excluded_one_is_not() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = talk(engine)
        plain = last_call(engine, session_id)
        assert "Order ORD-0 " not in plain
        assert f"Order ORD-{TURNS - 2} " in plain

        engine.pin(session_id, 1)  # the first message after the system prompt
        engine.exclude(session_id, 2 * (TURNS - 2) + 1)

        marked = last_call(engine, session_id)
        assert "Order ORD-0 " in marked
        assert f"Order ORD-{TURNS - 2} " not in marked
        assert f"ORD-{TURNS - 2} is on its way" in marked


def test_marks_are_numbered_among_the_messages_of_the_recording() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = talk(engine)
        engine.set_system(session_id, "You help quickly.")
        engine.append(session_id, [{"role": "user", "content": "And ORD-99?"}])
        engine.pin(session_id, engine.session(session_id).length - 1)

        session = trial_session(engine, session_id)

        (pinned,) = session.pinned
        assert session.messages[pinned - 1].text == "And ORD-99?"


def test_a_trial_is_another_one_once_a_message_is_pinned() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = talk(engine)
        candidates = [of_preset("pi")]
        job = start_trial(engine, [session_id], candidates)
        assert engine.jobs.wait(job.id, HANG_SECONDS)
        assert start_trial(engine, [session_id], candidates).id == job.id

        engine.pin(session_id, 1)

        again = start_trial(engine, [session_id], candidates)
        assert engine.jobs.wait(again.id, HANG_SECONDS)
        assert again.id != job.id


@pytest.mark.parametrize("preset", ["default", "pi", "sliding-summary"])
def test_contexts_that_grow_are_those_that_are_built_anew(preset: str) -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = talk(engine)
        for at in (1, 6, 15):
            engine.pin(session_id, at)
        for at in (4, 9, 20):
            engine.exclude(session_id, at)
        session = trial_session(engine, session_id)
    recording = Recording(
        session.messages, model=session.model, pinned=session.pinned, excluded=session.excluded
    )
    walks = [
        Walk(recording, Policy.preset(preset), window_tokens=1_500, builds_all=builds_all)
        for builds_all in (False, True)
    ]

    grown, built = ([call.tokens for call in walk] for walk in walks)

    assert grown == built
    assert len(set(grown)) > TURNS // 2


def test_the_budget_is_corrected_by_what_calls_taught() -> None:
    def one_and_a_quarter(text: str) -> int:
        return round(counter_for("unknown").count(text) * 1.25)

    with engine_with(window=8_000, count_tokens=one_and_a_quarter) as (engine, _):
        session = engine.create_session("Desks")
        for turn in range(6):
            list(engine.chat(session.id, f"{turn}: " + "We moved the desks upstairs. " * 40))
            engine.wait(session.id)
        later = engine.create_session("Later")
        list(engine.chat(later.id, "And the chairs?"))
        engine.wait(later.id)

        context, tried = engine.context(later.id), trial_session(engine, later.id)

    assert context.budget is not None
    assert tried.factor.value == context.budget.count_factor > 1.1
    walk = Trying(tried).walk(of_preset("default"))
    plain = Trying(tried).walk(edited({"learns_count_factor": False}, preset="default"))
    assert walk.call.budget is not None
    assert plain.call.budget is not None
    assert walk.call.budget.count_factor == tried.factor.value
    assert walk.call.budget.usable_tokens < plain.call.budget.usable_tokens
    assert plain.call.budget.count_factor == 1.0
