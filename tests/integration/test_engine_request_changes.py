"""What changed between the requests of two calls, and why they part."""

from __future__ import annotations

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.request_changes import RequestChanges
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import BreakCode
from ctxcore.store.values import Scope
from tests.engines import engine_with, saying

TOOL: JsonObject = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
}


def _ask(engine: ContextEngine, session_id: str, text: str, **options: object) -> None:
    for _ in engine.chat(session_id, text, **options):  # type: ignore[arg-type]
        pass
    engine.wait(session_id)


def _changes(engine: ContextEngine, session_id: str, one: int, other: int) -> RequestChanges:
    calls = [call for call in engine.store.calls(session_id) if call.purpose == "answer"]
    found = engine.call_changes(session_id, calls[one].id, calls[other].id)
    assert found is not None
    return found


def _code(changes: RequestChanges) -> str | None:
    return None if changes.cause is None else changes.cause.code


def _talk(engine: ContextEngine, turns: int = 2, words: int = 5) -> str:
    session = engine.create_session("talk", system="You help.")
    for turn in range(turns):
        _ask(engine, session.id, f"Question {turn}? " + "why " * words)
    return session.id


def _answers(count: int = 40) -> list[ScriptedReply]:
    return [saying(f"Answer {number}. " + "so " * 30) for number in range(count)]


def test_a_request_that_only_grew_has_no_cause() -> None:
    with engine_with(_answers(), window=8_000) as (engine, _):
        changes = _changes(engine, _talk(engine), 0, 1)

    assert changes.cause is None
    assert changes.shared == 2
    assert [(one.kind, one.count) for one in changes.changes] == [
        ("same", 2),
        ("new", 1),
        ("new", 1),
    ]


def test_a_message_that_was_excluded_is_the_cause() -> None:
    with engine_with(_answers(), window=8_000) as (engine, _):
        session_id = _talk(engine, 3)
        engine.exclude(session_id, 3)
        _ask(engine, session_id, "And now?")
        changes = _changes(engine, session_id, 2, 3)

    assert _code(changes) == BreakCode.EXCLUSION
    assert changes.shared == 2


def test_a_system_prompt_that_changed_is_the_cause() -> None:
    with engine_with(_answers(), window=8_000) as (engine, _):
        session_id = _talk(engine)
        engine.set_system(session_id, "You help in rhymes.")
        _ask(engine, session_id, "And now?")
        changes = _changes(engine, session_id, 1, 2)

    assert (_code(changes), changes.shared) == (BreakCode.SYSTEM, 0)


def test_tools_and_knowledge_are_causes() -> None:
    with engine_with(_answers(), window=8_000) as (engine, _):
        session_id = _talk(engine)
        _ask(engine, session_id, "And now?", tools=[TOOL])
        _ask(engine, session_id, "And then?", knowledge={"faq": "refunds take a week"})
        _ask(engine, session_id, "And last?", knowledge={"faq": "refunds take a day"})

        assert _code(_changes(engine, session_id, 1, 2)) == BreakCode.TOOLS
        assert _code(_changes(engine, session_id, 3, 4)) == BreakCode.KNOWLEDGE


def test_a_compaction_is_the_cause_and_its_undo_too() -> None:
    with engine_with(_answers(), window=3_000) as (engine, _):
        session_id = _talk(engine, 6, 60)
        engine.compact(session_id)
        _ask(engine, session_id, "And now?")
        engine.undo(session_id)
        _ask(engine, session_id, "And then?")

        folded, undone = (_changes(engine, session_id, at, at + 1) for at in (5, 6))
    assert _code(folded) == BreakCode.COMPACTION
    assert {"gone", "new"} <= {one.kind for one in folded.changes}
    assert _code(undone) == BreakCode.UNDO


@pytest.mark.parametrize("preset", ["default", "sliding-summary", "pi"])
def test_changes_name_every_message_of_both_requests_once(preset: str) -> None:
    with engine_with(_answers(), window=1_500) as (engine, _):
        engine.save_policy(Scope(kind="user", owner="local"), {"name": preset})
        session_id = _talk(engine, 12, 80)
        calls = [call for call in engine.store.calls(session_id) if call.purpose == "answer"]
        requests = [engine.call_request(session_id, call.id) for call in calls]

        for at in range(len(requests) - 1):
            changes = _changes(engine, session_id, at, at + 1)
            old, new = requests[at].messages, requests[at + 1].messages
            for side, messages in (("before", old), ("after", new)):
                firsts = [(getattr(one, side), one.count) for one in changes.changes]
                places = [
                    place + offset
                    for place, count in firsts
                    if place is not None
                    for offset in range(count)
                ]
                assert places == list(range(len(messages)))
            for one in changes.changes:
                if one.kind in ("same", "changed"):
                    assert one.before is not None
                    assert one.after is not None
                    pair = (old[one.before].message, new[one.after].message)
                    same = to_canonical(pair[0]) == to_canonical(pair[1])
                    assert same == (one.kind == "same")
            assert (changes.cause is None) == (changes.shared == len(old))
