"""Sessions learn what a provider counts for one of our tokens, and say when it counts far less."""

from __future__ import annotations

from itertools import pairwise

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import INPUT_CUT, ContextBuilt, InputCut
from ctxcore.engine.policies import save_connections
from ctxcore.gateway.values import Connection
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import Scope
from ctxcore.tokens.count import counter_for
from tests.engines import START, ended, engine_with

TEXT = "We moved the desks to the second floor and paid 1,200 euros for the paint. " * 6


def one_and_a_quarter(text: str) -> int:
    """A provider that counts a quarter more than we estimate."""
    return round(counter_for("unknown").count(text) * 1.25)


def a_third(text: str) -> int:
    """A provider that reads only the end of a long text."""
    return min(700, counter_for("unknown").count(text)) // 3


def chat(engine: ContextEngine, session_id: str, turns: int) -> list[ContextBuilt]:
    built = []
    for turn in range(turns):
        for event in engine.chat(session_id, f"{turn}: {TEXT}"):
            if isinstance(event, ContextBuilt):
                built.append(event)
        engine.wait(session_id)
    return built


def factors(built: list[ContextBuilt]) -> list[float]:
    return [event.context.budget.count_factor for event in built if event.context.budget]


def test_a_new_session_has_the_factor_that_earlier_calls_taught() -> None:
    with engine_with(window=8_000, count_tokens=one_and_a_quarter) as (engine, _):
        first = engine.create_session("first")
        before = chat(engine, first.id, 6)
        second = engine.create_session("second")
        after = chat(engine, second.id, 1)

        held = engine.store.session(second.id).count_factor
        [call] = engine.store.calls(second.id)

    assert set(factors(before)) == {1.0}
    assert 1.1 < factors(after)[0] < 1.3
    assert held is not None
    assert held.factor.calls >= 3
    assert held.factor.error_ratio is not None
    assert call.count_factor == held.factor.value
    assert call.counter_id == "estimate:o200k"
    old, new = before[0].context.budget, after[0].context.budget
    assert old is not None
    assert new is not None
    assert new.usable_tokens == int(old.usable_tokens / held.factor.value)


def test_within_a_session_it_changes_only_at_a_compaction() -> None:
    with engine_with(window=3_000, count_tokens=one_and_a_quarter) as (engine, _):
        session = engine.create_session("one")
        built, compacted = [], [0]
        for turn in range(16):
            for event in engine.chat(session.id, f"{turn}: {TEXT}"):
                if isinstance(event, ContextBuilt):
                    built.append(event)
            engine.wait(session.id)
            compacted.append(len(engine.compactions(session.id)))

    seen = factors(built)
    changed = [at for at in range(1, len(seen)) if seen[at] != seen[at - 1]]
    assert seen[0] == 1.0
    assert seen[-1] > 1.1
    assert changed
    assert all(compacted[at] > compacted[at - 1] for at in changed)


def test_the_prefix_stays_the_same_bytes_between_compactions() -> None:
    with engine_with(window=20_000, count_tokens=one_and_a_quarter) as (engine, _):
        session = engine.create_session("one", system="Be brief.")
        built = chat(engine, session.id, 8)

    for before, after in pairwise(built):
        sent = before.context.messages[: before.context.prefix_messages]
        assert after.context.messages[: len(sent)] == sent


def test_it_can_be_switched_off() -> None:
    with engine_with(window=8_000, count_tokens=one_and_a_quarter) as (engine, _):
        chat(engine, engine.create_session("first").id, 6)
        scope = Scope(kind="default")
        engine.store.save_policy(scope, {"learns_count_factor": False}, by="local", at=START)
        second = engine.create_session("second")
        built = chat(engine, second.id, 1)

        assert engine.store.session(second.id).count_factor is None
    assert factors(built) == [1.0]


def test_stored_counts_are_never_scaled() -> None:
    with engine_with(window=8_000, count_tokens=one_and_a_quarter) as (engine, _):
        chat(engine, engine.create_session("first").id, 6)
        second = engine.create_session("second")
        chat(engine, second.id, 1)
        counter = counter_for("unknown")
        view = engine.store.view(second.id)
        message = engine.store.messages(second.id)[0].message

        assert view.get([1])[0].tokens == counter.count(message.text) + 4


def test_far_less_reported_than_sent_is_an_event() -> None:
    with engine_with(window=8_000, count_tokens=a_third) as (engine, _):
        session = engine.create_session("cut")
        chat(engine, session.id, 6)
        events = list(engine.chat(session.id, "And now?"))
        stored = engine.store.last_events(session.id, (INPUT_CUT,), limit=1)

        cut = [event for event in events if isinstance(event, InputCut)]
        assert ended(events).state == "done"
        assert len(cut) == 1
        assert cut[0].reported_tokens < cut[0].sent_tokens / 2
        assert stored[0].body["reported_tokens"] == cut[0].reported_tokens
        assert engine.store.session(session.id).count_factor is not None


def test_a_provider_that_was_asked_to_edit_may_count_less() -> None:
    asked: JsonObject = {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    with engine_with(window=8_000, count_tokens=a_third) as (engine, model):
        editing = Connection(name="editing", model=model.model, options=asked)
        save_connections(engine.store, [editing])
        session = engine.create_session("edited")
        chat(engine, session.id, 7)

        assert engine.store.last_events(session.id, (INPUT_CUT,), limit=1) == []
        assert {call.is_comparable for call in engine.calls(session.id)} == {False}
        held = engine.store.session(session.id).count_factor
        assert held is not None
        assert held.factor.calls == 0  # nothing was learned from them


def test_honest_reports_are_no_event() -> None:
    with engine_with(window=8_000, count_tokens=one_and_a_quarter) as (engine, _):
        session = engine.create_session("whole")
        chat(engine, session.id, 6)

        assert engine.store.last_events(session.id, (INPUT_CUT,), limit=1) == []
