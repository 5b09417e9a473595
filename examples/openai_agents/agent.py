"""An agent of the OpenAI Agents SDK that stays within its window; runs without a key."""

from __future__ import annotations

import asyncio

from agents import Agent, RunConfig, Runner, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message

from ctxcore import ContextEngine, open_store
from ctxcore.integrations.openai_agents import ContextFilter, ContextSession, UsageHooks

set_tracing_disabled(True)
model = ScriptedModel([ModelStep(output=[assistant_message("Noted.")]) for _ in range(60)])
agent = Agent(name="clerk", model=model)
session = ContextSession("deliveries", ContextEngine(open_store("sqlite://")))
config = RunConfig(call_model_input_filter=ContextFilter(session, max_tokens=4_000))


async def main() -> None:
    """Sixty turns of one session."""
    for turn in range(60):
        said = f"Delivery {turn} has {turn * 17} crates. " + "Every crate is counted. " * 30
        hooks = UsageHooks(session)
        await Runner.run(agent, said, session=session, hooks=hooks, run_config=config)
    print("items in the session:", len(await session.get_items()))
    print("items in the last request:", len(model.calls[-1].input))


asyncio.run(main())
