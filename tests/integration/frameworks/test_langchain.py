"""Agents of LangChain and graphs of LangGraph, with scripted models."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ctxcore import PolicyError, StateError, fit, lint
from ctxcore.integrations.langchain import ContextMiddleware
from tests.integration.frameworks.conversations import WINDOW, answer, broken, note, prefix_breaks

CLAUDE = "anthropic/claude-sonnet-4-5"


class Recorded(GenericFakeChatModel):
    """A scripted model that keeps what it was sent."""

    sent: list[list[Any]]

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.sent.append(list(messages))
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def scripted(answers: Iterator[AIMessage]) -> Recorded:
    return Recorded(messages=answers, sent=[])


def answers() -> Iterator[AIMessage]:
    turn = 0
    while True:
        yield AIMessage(answer(turn))
        turn += 1


@tool
def crates(place: str) -> str:
    """The crates of a place."""
    return "\n".join(f"crate {n} of {place}: sealed, weight {n * 3} kg" for n in range(600))


def with_tool() -> Iterator[AIMessage]:
    for turn in range(20):
        call = {"name": "crates", "args": {"place": f"hall {turn}"}, "id": f"call-{turn}"}
        yield AIMessage("", tool_calls=[{**call, "type": "tool_call"}])
        yield AIMessage(answer(turn))


def test_a_short_conversation_is_sent_as_it_is() -> None:
    model = scripted(answers())
    agent: Any = create_agent(model, middleware=[ContextMiddleware(max_tokens=WINDOW)])
    said = HumanMessage("Hello")

    agent.invoke({"messages": [said]})

    assert [message is said for message in model.sent[0]] == [True]


@pytest.mark.parametrize("is_strict", [False, True], ids=["msgpack", "strict msgpack"])
def test_a_long_one_fits_and_its_prefix_stays(is_strict: bool) -> None:
    model = scripted(answers())
    serde = JsonPlusSerializer(allowed_msgpack_modules=[] if is_strict else True)
    thread = {"configurable": {"thread_id": "one"}}
    saver = InMemorySaver(serde=serde)
    for turn in range(40):  # an agent made anew each time has nothing but what was stored
        agent: Any = create_agent(
            model,
            system_prompt="You keep the books.",
            middleware=[ContextMiddleware(max_tokens=WINDOW, model=CLAUDE, strict=True)],
            checkpointer=saver,
        )
        agent.invoke({"messages": [HumanMessage(note(turn))]}, thread)

    requests = [[str(message.content) for message in sent] for sent in model.sent]
    stored = agent.get_state(thread).values["messages"]
    breaks = prefix_breaks(requests)
    assert len(stored) == 80
    assert all(isinstance(sent[0], SystemMessage) for sent in model.sent)
    assert all(fit(sent).tokens <= WINDOW for sent in model.sent)
    assert 1 <= len(breaks) <= 4
    assert all(not lint(sent, "anthropic") for sent in model.sent)


def test_outputs_of_tools_are_shortened_and_keep_what_the_program_put_beside() -> None:
    model = scripted(with_tool())
    middleware = ContextMiddleware(max_tokens=WINDOW, strict=True)
    agent: Any = create_agent(model, tools=[crates], middleware=[middleware])
    messages: list[AnyMessage] = []
    for turn in range(4):
        messages = agent.invoke({"messages": [*messages, HumanMessage(note(turn))]})["messages"]

    outputs = [message for message in model.sent[-1] if isinstance(message, ToolMessage)]
    whole = next(message for message in messages if isinstance(message, ToolMessage))
    assert outputs
    assert all(len(output.content) < len(whole.content) for output in outputs)
    assert {output.name for output in outputs} == {"crates"}
    assert all(not lint(sent, "openai") for sent in model.sent)


def test_async_and_streaming_calls_fit_too() -> None:
    model = scripted(answers())
    agent: Any = create_agent(model, middleware=[ContextMiddleware(max_tokens=WINDOW, strict=True)])
    messages = [HumanMessage(note(turn)) for turn in range(60)]

    async def run() -> None:
        await agent.ainvoke({"messages": messages})
        async for _ in agent.astream({"messages": messages}, stream_mode="messages"):
            pass

    asyncio.run(run())

    assert len(model.sent) == 2
    assert all(fit(sent).tokens <= WINDOW for sent in model.sent)


def test_a_fault_lets_the_request_through_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ctxcore.integrations.window.compact", broken)
    model = scripted(answers())
    agent: Any = create_agent(model, middleware=[ContextMiddleware()])

    with caplog.at_level(logging.ERROR, "ctxcore.integrations"):
        agent.invoke({"messages": [HumanMessage(note(0))]})

    assert [message.content for message in model.sent[0]] == [note(0)]
    assert "are sent as they are" in caplog.text


def test_a_model_that_says_nothing_of_itself_is_called_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctxcore.integrations.langchain.model_name", broken)
    model = scripted(answers())
    agent: Any = create_agent(model, middleware=[ContextMiddleware(max_tokens=WINDOW)])

    agent.invoke({"messages": [HumanMessage("Hello")]})

    assert [message.content for message in model.sent[0]] == ["Hello"]


def test_a_fault_is_raised_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcore.integrations.window.compact", broken)
    agent: Any = create_agent(scripted(answers()), middleware=[ContextMiddleware(strict=True)])
    with pytest.raises(StateError):
        agent.invoke({"messages": [HumanMessage(note(0))]})


def test_an_unknown_preset_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(PolicyError):
        ContextMiddleware(policy="none of these")
