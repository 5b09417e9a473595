"""An agent of Pydantic AI that stays within its window; runs without a key."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ctxcore.integrations.pydantic_ai import KeepContext

sent: list[int] = []


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stands for a model: says how many messages it was sent."""
    sent.append(len(messages))
    return ModelResponse(parts=[TextPart("Noted.")])


agent = Agent(FunctionModel(answer), capabilities=[KeepContext(max_tokens=4_000)])


async def main() -> None:
    """Sixty turns, each with the history of those before."""
    history: list[ModelMessage] = []
    for turn in range(60):
        said = f"Delivery {turn} has {turn * 17} crates. " + "Every crate is counted. " * 30
        history = (await agent.run(said, message_history=history)).all_messages()
    print("messages in the history:", len(history))
    print("messages in the last request:", sent[-1])


asyncio.run(main())
