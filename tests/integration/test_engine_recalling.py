"""The history is searched: by a caller, and by a model that calls the tool."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from ctxcore import RECALL_TOOL, ContextEngine
from ctxcore.assembly.recall_hits import RecallHit
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import ToolCallRequested, ToolResultAdded, TurnEvent
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import ToolCall
from ctxcore.store.values import Scope
from tests.engines import ended, engine_with, saying

SEARCH = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}


def small_talk(first: int, turns: int) -> list[dict[str, object]]:
    """Turns about nothing that a test asks for."""
    return [
        {"role": role, "content": f"{said} number {at}"}
        for at in range(first, first + turns)
        for role, said in (("user", "A pebble, with the"), ("assistant", "Noted, shell"))
    ]


FERRY: list[dict[str, object]] = [
    {"role": "user", "content": "When does the ferry to Orust leave?"},
    {"role": "assistant", "content": "Let me see."},
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "At a quarter past seven."},
]


def recall(call_id: str = "r1", /, **arguments: object) -> ScriptedReply:
    """A reply that calls the library's tool."""
    call = ToolCall(id=call_id, name="recall_history", arguments=json.dumps(arguments))
    return ScriptedReply(calls=(call,))


def outputs_of(events: Iterable[TurnEvent]) -> dict[str, str]:
    return {e.call_id: e.output for e in events if isinstance(e, ToolResultAdded)}


def shown(hit: RecallHit) -> list[int]:
    return [*(one.seq for one in hit.before), hit.seq, *(one.seq for one in hit.after)]


def test_a_question_comes_back_with_the_answer_that_follows_it() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [*small_talk(1, 5), *FERRY, *small_talk(6, 5)])

        [hit] = engine.recall(session.id, "which ferries were there?")

        assert (hit.seq, hit.role, hit.text) == (11, "user", "When does the ferry to Orust leave?")
        assert shown(hit) == [9, 10, 11, 12, 13, 14]
        assert hit.after[-1].text == "At a quarter past seven."
        assert hit.created_at is not None
        assert hit.score > 0


def test_any_word_finds_and_the_best_comes_first() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        said: list[dict[str, object]] = [
            {"role": "user", "content": "The harbour of Marstrand is full."},
            *small_talk(1, 6),
            {"role": "user", "content": "The ferry calls at the harbour of Orust."},
        ]
        engine.append(session.id, said)

        hits = engine.recall(session.id, "ferry harbour orust whales")

        assert [hit.seq for hit in hits] == [14, 1]
        assert hits[0].score > hits[1].score
        assert engine.recall(session.id, "ferry harbour orust whales", limit=1) == hits[:1]


@pytest.mark.parametrize("query", ["", "  ", "!?", "where is it", "你们的", "nobody-said-this"])
def test_nothing_comes_back_for(query: str) -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, FERRY)

        assert engine.recall(session.id, query) == []


def test_no_message_is_shown_twice() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        said = [
            {"role": "user", "content": f"The ferry of pier {n} is {n * 31}"} for n in range(60)
        ]
        engine.append(session.id, said)

        hits = engine.recall(session.id, "ferry", limit=20)

        seqs = [seq for hit in hits for seq in shown(hit)]
        assert len(hits) > 2
        assert len(seqs) == len(set(seqs))


def test_what_says_the_same_comes_back_once() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        for at in range(3):
            told = [{"role": "user", "content": "The ferry leaves at seven."}]
            engine.append(session.id, [*told, *small_talk(at * 9, 8)])

        assert len(engine.recall(session.id, "ferry")) == 1


def test_what_is_excluded_and_system_prompts_never_come_back() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session(system="Speak of the ferry.")
        engine.append(session.id, FERRY)
        engine.exclude(session.id, 1)
        engine.set_system(session.id, "Speak of the ferry again.")

        assert engine.recall(session.id, "ferry orust") == []
        [hit] = engine.recall(session.id, "quarter")
        assert shown(hit) == [3, 4, 5]


def test_of_a_long_message_the_piece_that_is_meant_comes_back() -> None:
    long = "\n".join(f"Pier {n} has {n * 7} bollards and a crane." for n in range(200))
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": f"{long}\nPier x: the Zeppelin."}])

        [hit] = engine.recall(session.id, "zeppelin")

        assert "the Zeppelin." in hit.text
        assert len(hit.text) < len(long) / 4


def test_whose_session_it_is_is_checked() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.store.create_user("eve", at=session.created_at, name="Eve")

        with pytest.raises(NotAllowedError):
            ContextEngine(engine.store, user_id="eve").recall(session.id, "ferry")


def test_the_model_searches_by_itself_and_the_caller_never_sees_the_call() -> None:
    replies = [recall(query="ferry to Orust"), saying("at 7:15")]
    with engine_with(replies, window=8_000) as (engine, model):
        session = engine.create_session()
        engine.append(session.id, [*small_talk(1, 4), *FERRY, *small_talk(5, 4)])

        events = list(engine.chat(session.id, "the ferry to Orust?", tools=[SEARCH]))

        assert ended(events).text == "at 7:15"
        assert not [e for e in events if isinstance(e, ToolCallRequested)]
        assert RECALL_TOOL in model.requests[0].tools
        found = outputs_of(events)["r1"]
        assert found.startswith("[m7 · user · ")
        assert "At a quarter past seven." in found
        assert "the ferry to Orust?" not in found  # the request itself


def test_what_the_tool_answered_is_not_found_again() -> None:
    replies = [recall(query="ferry"), saying("ok"), recall("r2", query="ferry"), saying("ok")]
    with engine_with(replies, window=8_000) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [*FERRY, *small_talk(1, 8)])
        first = outputs_of(engine.chat(session.id, "look it up", tools=[SEARCH]))

        second = outputs_of(engine.chat(session.id, "again, please", tools=[SEARCH]))

        assert second["r2"] == first["r1"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "Error: query is missing"),
        ({"query": "whales"}, "Nothing said before this request"),
        ({"query": "ferry", "max_results": "many"}, "[m1 · user"),
    ],
)
def test_a_call_gets_an_answer_that_helps(arguments: dict[str, object], told: str) -> None:
    with engine_with([recall(**arguments), saying("ok")], window=8_000) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, FERRY)

        events = list(engine.chat(session.id, "look", tools=[SEARCH]))

        assert outputs_of(events)["r1"].startswith(told)
        assert ended(events).state == "done"


@pytest.mark.parametrize("window", [1_000, 2_000, 4_000])
def test_an_answer_takes_a_quarter_of_the_usable_tokens_at_most(window: int) -> None:
    replies = [recall(query="ferry", max_results=1_000), saying("ok")]
    with engine_with(replies, window=window) as (engine, _):
        session = engine.create_session()
        said = [
            {"role": "user", "content": f"The ferry of pier {n} is {n * 31}"} for n in range(400)
        ]
        engine.append(session.id, said)

        events = list(engine.chat(session.id, "look", tools=[SEARCH]))

        target = engine.call_target(session.id)
        assert target.call.budget is not None
        taken = target.call.counter.count(outputs_of(events)["r1"])
        assert 0 < taken <= target.call.budget.usable_tokens / 4


def test_the_model_never_finds_what_a_person_left_out() -> None:
    with engine_with([recall(query="ferry Orust"), saying("ok")], window=8_000) as (engine, _):
        session = engine.create_session()
        engine.append(session.id, FERRY)
        engine.exclude(session.id, 0)

        events = list(engine.chat(session.id, "look", tools=[SEARCH]))

        assert outputs_of(events)["r1"].startswith("Nothing said")


def test_the_tool_is_offered_where_the_policy_says_so() -> None:
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session(tools=[SEARCH])
        assert RECALL_TOOL in engine.call_target(session.id).tools

        engine.save_policy(Scope(kind="session", owner=session.id), {"offers_recall": False})

        assert RECALL_TOOL not in engine.call_target(session.id).tools
