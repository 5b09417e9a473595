"""Agents of the OpenAI Agents SDK with scripted models: sessions in the store, calls that fit."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from agents.memory import Session
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcore import ContextEngine, PolicyError, StateError, fit, lint, open_store
from ctxcore.integrations.openai_agents import ContextFilter, ContextSession, UsageHooks
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import SessionConditions
from tests.dashboard_app import open_dashboard
from tests.integration.frameworks.conversations import WINDOW, answer, broken, note, prefix_breaks
from tests.shapes import Turn, turns, write

REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Look it up."}],
    "encrypted_content": "gAAAA=",
}
CALL = {
    **{"id": "fc_1", "type": "function_call", "call_id": "call_1", "status": "completed"},
    **{"name": "crates", "arguments": '{"place": "hall"}'},
}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "12 crates"}
SEARCH = {
    **{"id": "ws_1", "type": "web_search_call", "status": "completed"},
    "action": {"type": "search", "query": "crates"},
}
SAID = {
    **{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"},
    "content": [{"type": "output_text", "text": "12.", "annotations": [{"index": 0}]}],
}
COMPACTION = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gBBBB="}
UNKNOWN = {"type": "of_another_year", "id": "x_1", "more": [1, None, "\udc00"]}
ITEMS: list[Any] = [
    {"role": "user", "content": "How many?"},
    *(REASONING, CALL, OUTPUT, REASONING, SEARCH, SAID, COMPACTION, UNKNOWN),
    {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
]


@pytest.fixture(autouse=True)
def _no_tracing() -> None:
    set_tracing_disabled(True)


@pytest.fixture
def store() -> Iterator[SessionStore]:
    store = open_store("sqlite://")
    yield store
    store.close()


@pytest.fixture
def engine(store: SessionStore) -> ContextEngine:
    return ContextEngine(store)


def noting(call: ModelCall) -> ModelStep:
    """Answers a call."""
    usage = Usage(requests=1, input_tokens=1_000, output_tokens=5, total_tokens=1_005)
    usage.input_tokens_details.cached_tokens = 900
    return ModelStep(output=[assistant_message(answer(len(call.input)))], usage=usage)


def scripted(calls: int, responder: Callable[[ModelCall], ModelStep] = noting) -> ScriptedModel:
    return ScriptedModel([ModelStep.respond(responder) for _ in range(calls)])


def sent(model: ScriptedModel) -> list[list[Any]]:
    return [list(call.input) for call in model.calls]


def said_before(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


async def add_each(session: ContextSession, items: list[Any], size: int) -> None:
    for at in range(0, len(items), size):
        await session.add_items(items[at : at + size])


@pytest.mark.parametrize("size", [1, 3, len(ITEMS)])
def test_items_come_back_as_they_were(engine: ContextEngine, size: int) -> None:
    session: Session = ContextSession("one", engine)

    asyncio.run(add_each(ContextSession("one", engine), ITEMS, size))

    assert asyncio.run(session.get_items()) == ITEMS
    assert asyncio.run(session.get_items(limit=2)) == ITEMS[-2:]
    assert asyncio.run(session.get_items(limit=0)) == []


def test_the_store_reads_them_as_messages(engine: ContextEngine) -> None:
    asyncio.run(ContextSession("one", engine).add_items(ITEMS))

    stored = [info.message for info in engine.store.messages("one")]
    assert engine.session("one").origin == "agents-sdk"
    assert [message.role for message in stored][:3] == ["user", "assistant", "tool"]
    assert stored[2].text == "12 crates"
    assert "items" not in json.dumps(engine.context("one").messages)


def test_popped_items_are_excluded_and_the_rest_of_their_block_stays(engine: ContextEngine) -> None:
    session = ContextSession("one", engine)

    async def pop_all() -> list[Any]:
        await session.add_items(ITEMS)
        popped = []
        while (item := await session.pop_item()) is not None:
            popped.append(item)
            assert await session.get_items() == ITEMS[: len(ITEMS) - len(popped)]
        return popped

    assert asyncio.run(pop_all()) == ITEMS[::-1]
    assert "And now?" in [info.message.text for info in engine.store.messages("one")]
    assert engine.context("one").messages == []


def test_a_cleared_session_goes_on_empty_and_its_history_stays(engine: ContextEngine) -> None:
    session = ContextSession("one", engine)

    async def run() -> list[Any]:
        await session.add_items(ITEMS)
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(ITEMS[:1])
        return await session.get_items()

    assert asyncio.run(run()) == ITEMS[:1]
    assert engine.store.messages("one")[2].message.text == "12 crates"


@given(conversation=turns(), data=st.data())
@settings(max_examples=15)
def test_items_of_any_conversation_come_back(conversation: list[Turn], data: st.DataObject) -> None:
    items = write("responses", conversation)
    store = open_store("sqlite://")
    session = ContextSession("one", ContextEngine(store))

    asyncio.run(add_each(session, items, data.draw(st.integers(1, 5))))

    assert asyncio.run(session.get_items()) == items
    store.close()


def test_sessions_of_agents_are_no_imports(engine: ContextEngine) -> None:
    asyncio.run(ContextSession("one", engine).add_items(ITEMS))

    found = engine.store.list_sessions(where=SessionConditions(is_imported=False))

    assert [session.id for session in found] == ["one"]


def test_messages_of_other_programs_become_items(engine: ContextEngine) -> None:
    session = ContextSession("one", engine)
    asyncio.run(session.add_items(ITEMS[:1]))

    engine.append("one", [{"role": "assistant", "content": "Twelve."}])

    items: list[Any] = asyncio.run(session.get_items())
    assert items == [*ITEMS[:1], {"role": "assistant", "content": "Twelve."}]


def test_a_run_stores_its_items_and_usage(engine: ContextEngine) -> None:
    session = ContextSession("one", engine)
    agent = Agent(name="clerk", model=scripted(2))
    for said in ("Hello", "And now?"):
        asyncio.run(Runner.run(agent, said, session=session, hooks=UsageHooks(session)))

    calls = engine.store.calls("one")
    roles = [info.message.role for info in engine.store.messages("one")]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert [(call.input_tokens, call.cached_tokens, call.output_tokens) for call in calls] == [
        (1_000, 900, 5)
    ] * 2


def test_a_short_conversation_is_sent_as_it_is() -> None:
    model = scripted(1)
    agent = Agent(name="clerk", instructions="You keep the books.", model=model)
    config = RunConfig(call_model_input_filter=ContextFilter(max_tokens=WINDOW, strict=True))

    said: list[Any] = [ITEMS[0], COMPACTION, SAID]
    asyncio.run(Runner.run(agent, said, run_config=config))

    assert sent(model) == [said]
    assert model.calls[0].system_instructions == "You keep the books."


async def _turns(model: ScriptedModel, engine: ContextEngine, turns: int) -> None:
    for turn in range(turns):  # all made anew each time, as a server does
        session = ContextSession("one", engine)
        agent = Agent(name="clerk", instructions="You keep the books.", model=model)
        keep = ContextFilter(session, max_tokens=WINDOW, strict=True)
        config = RunConfig(call_model_input_filter=keep)
        await Runner.run(agent, note(turn), session=session, run_config=config)


def test_a_long_session_fits_and_its_prefix_stays_across_processes(engine: ContextEngine) -> None:
    model = scripted(40)

    asyncio.run(_turns(model, engine, 40))

    requests = [[said_before(item) for item in items] for items in sent(model)]
    assert engine.session("one").length == 80
    assert len(asyncio.run(ContextSession("one", engine).get_items())) == 80
    assert all(fit(items).tokens <= WINDOW for items in sent(model))
    assert 1 <= len(prefix_breaks(requests)) <= 4
    assert all(call.system_instructions for call in model.calls)


def test_other_instructions_reach_the_model_and_the_summary_goes_on(engine: ContextEngine) -> None:
    model, session = scripted(40), ContextSession("one", engine)
    keep = ContextFilter(session, max_tokens=WINDOW, strict=True)

    async def run() -> None:
        for turn in range(40):
            agent = Agent(name="clerk", instructions=f"You are agent {turn % 2}.", model=model)
            config = RunConfig(call_model_input_filter=keep)
            await Runner.run(agent, note(turn), session=session, run_config=config)

    asyncio.run(run())

    requests = [[said_before(item) for item in items] for items in sent(model)]
    told = [call.system_instructions or "" for call in model.calls]
    assert [text[:16] for text in told] == ["You are agent 0.", "You are agent 1."] * 20
    assert 1 <= len(prefix_breaks(requests)) <= 4


def test_a_filter_without_a_session_keeps_the_prefix_of_each_conversation() -> None:
    models = [scripted(30), scripted(30)]
    config = RunConfig(call_model_input_filter=ContextFilter(max_tokens=WINDOW, strict=True))

    async def run() -> None:
        histories: list[list[Any]] = [[], []]
        for turn in range(30):
            for at, model in enumerate(models):
                said: Any = {"role": "user", "content": f"Clerk {at}: {note(turn)}"}
                agent = Agent(name="clerk", model=model)
                result = await Runner.run(agent, [*histories[at], said], run_config=config)
                histories[at] = result.to_input_list()

    asyncio.run(run())

    for model in models:
        assert all(fit(items).tokens <= WINDOW for items in sent(model))
        requests = [[said_before(item) for item in items] for items in sent(model)]
        assert 1 <= len(prefix_breaks(requests)) <= 3


@function_tool
def crates(place: str) -> str:
    """The crates of a place."""
    return "\n".join(f"crate {n} of {place}: sealed, weight {n * 3} kg" for n in range(600))


def calling(call: ModelCall) -> ModelStep:
    """Calls the tool, then answers."""
    last = call.input[-1]
    if last.get("type") == "function_call_output":
        return noting(call)
    number = f"call-{len(call.input)}"
    return ModelStep(output=[function_call("crates", {"place": "hall"}, call_id=number)])


def test_outputs_of_tools_are_shortened_and_keep_their_calls(engine: ContextEngine) -> None:
    model, session = scripted(12, calling), ContextSession("one", engine)
    agent = Agent(name="clerk", model=model, tools=[crates])
    keep = ContextFilter(session, max_tokens=WINDOW, strict=True)

    async def run() -> None:
        for turn in range(6):
            config = RunConfig(call_model_input_filter=keep)
            result = Runner.run_streamed(agent, note(turn), session=session, run_config=config)
            async for _ in result.stream_events():
                pass

    asyncio.run(run())

    stored = [item for item in asyncio.run(session.get_items()) if item.get("output")]
    assert len(stored) == 6
    assert all("crate 599" in str(item) for item in stored)
    assert all(fit(items).tokens <= WINDOW for items in sent(model))
    assert all(not lint(items, "openai") for items in sent(model))


def test_a_fault_lets_the_call_through_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ctxcore.integrations.window.compact", broken)
    model = scripted(1)
    config = RunConfig(call_model_input_filter=ContextFilter())

    with caplog.at_level(logging.ERROR, "ctxcore.integrations"):
        asyncio.run(Runner.run(Agent(name="clerk", model=model), "Hello", run_config=config))

    assert sent(model) == [[{"role": "user", "content": "Hello"}]]
    assert "are sent as they are" in caplog.text


def test_a_fault_is_raised_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcore.integrations.window.compact", broken)
    config = RunConfig(call_model_input_filter=ContextFilter(strict=True))
    with pytest.raises(StateError):
        asyncio.run(Runner.run(Agent(name="clerk", model=scripted(1)), "Hi", run_config=config))


def test_usage_that_cannot_be_stored_does_not_stop_a_run(
    store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    other = ContextSession("one", ContextEngine(store, user_id="operator"))
    asyncio.run(other.add_items(ITEMS[:1]))
    session = ContextSession("one", ContextEngine(store, user_id="another"))

    run = Runner.run(Agent(name="clerk", model=scripted(1)), "Hi", hooks=UsageHooks(session))
    result = asyncio.run(run)

    assert result.final_output
    assert "was not stored" in caplog.text


def test_an_unknown_preset_is_refused_when_the_filter_is_made() -> None:
    with pytest.raises(PolicyError):
        ContextFilter(policy="none of these")


def test_the_dashboard_shows_such_a_session_on_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dashboard(tmp_path, monkeypatch) as app:
        session = ContextSession("one", app.engine)
        agent = Agent(name="clerk", model=scripted(2))
        asyncio.run(session.add_items(ITEMS))
        asyncio.run(session.pop_item())
        for said in ("Hello", "And now?"):
            asyncio.run(Runner.run(agent, said, session=session, hooks=UsageHooks(session)))

        app.at.query_params["session"] = "one"
        app.run()
        for page in ("context", "compaction", "sessions", "usage"):
            app.go(page)

        shown = {metric.value for metric in app.at.metric}
        assert {"2k", "1.8k", "10"} <= shown  # input, its cached part, output
