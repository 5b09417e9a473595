"""Agents of Pydantic AI, with scripted models."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ctxcore import fit, lint
from ctxcore.integrations.pydantic_ai import KeepContext
from tests.integration.frameworks.conversations import WINDOW, answer, broken, note, prefix_breaks


class Script:
    """Answers each request, and keeps it."""

    def __init__(self, *, calls_tool: bool = False) -> None:
        self.sent: list[list[ModelMessage]] = []
        self.__name__ = "script"  # asked for by releases before 2.40
        self._calls_tool = calls_tool

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        last = messages[-1].parts[-1]
        if self._calls_tool and not isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[ToolCallPart("crates", {"place": "hall"})])
        return ModelResponse(parts=[TextPart(answer(len(self.sent)))])


def crates(place: str) -> str:
    """The crates of a place."""
    return "\n".join(f"crate {n} of {place}: sealed, weight {n * 3} kg" for n in range(600))


def shown(message: ModelMessage) -> str:
    return " ".join(str(getattr(part, "content", part.part_kind)) for part in message.parts)


def agent_of(script: Script, **settings: Any) -> Agent[None, str]:
    kept = KeepContext(**{"max_tokens": WINDOW, "strict": True, **settings})
    return Agent(FunctionModel(script), system_prompt="You keep the books.", capabilities=[kept])


def run(agent: Agent[None, str], said: str, **settings: Any) -> Any:
    return asyncio.run(agent.run(said, **settings))


def test_a_short_conversation_is_sent_as_it_is() -> None:
    script = Script()

    result = run(agent_of(script), "Hello")

    assert script.sent[0][0] is result.all_messages()[0]


def test_a_long_one_fits_and_its_prefix_stays_over_json() -> None:
    script, history = Script(), b"[]"
    for turn in range(40):
        messages = ModelMessagesTypeAdapter.validate_json(history)
        result = run(agent_of(script), note(turn), message_history=messages)
        history = result.all_messages_json()

    requests = [[shown(message) for message in sent] for sent in script.sent]
    assert len(result.all_messages()) == 80
    assert all(fit(sent).tokens <= WINDOW for sent in script.sent)
    assert 1 <= len(prefix_breaks(requests)) <= 4
    assert all(not lint(sent, "openai") for sent in script.sent)


def test_results_of_tools_are_shortened_and_stay_whole_in_the_history() -> None:
    script = Script(calls_tool=True)
    agent = agent_of(script)
    agent.tool_plain(crates)
    history: list[ModelMessage] = []
    for turn in range(4):
        history = run(agent, note(turn), message_history=history).all_messages()

    def results(messages: list[ModelMessage]) -> list[str]:
        parts = [part for message in messages for part in message.parts]
        return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]

    assert results(history) == [crates("hall")] * 4
    assert 0 < max(map(len, results(script.sent[-1]))) < len(crates("hall"))
    assert all(not lint(sent, "openai") for sent in script.sent)
    assert all(isinstance(sent[-1], ModelRequest) for sent in script.sent)


def test_a_fault_lets_the_request_through_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ctxcore.integrations.window.compact", broken)
    script = Script()

    with caplog.at_level(logging.ERROR, "ctxcore.integrations"):
        run(agent_of(script, strict=False), note(0))

    assert note(0) in shown(script.sent[0][0])
    assert "are sent as they are" in caplog.text


async def _streamed(script: Script) -> str:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        yield script(messages, info).parts[0].content  # type: ignore[union-attr]

    kept = KeepContext(max_tokens=WINDOW, strict=True)
    agent = Agent(FunctionModel(stream_function=stream), capabilities=[kept])
    history: list[ModelMessage] = []
    for turn in range(30):
        async with agent.run_stream(note(turn), message_history=history) as result:
            text = await result.get_output()
        history = result.all_messages()
    return text


def test_streaming_calls_fit_too() -> None:
    script = Script()

    assert asyncio.run(_streamed(script)) == answer(30)
    assert all(fit(sent).tokens <= WINDOW for sent in script.sent)
