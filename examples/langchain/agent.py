"""An agent of LangChain that stays within its window; runs without a key."""

from __future__ import annotations

from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxcore import fit
from ctxcore.integrations.langchain import ContextMiddleware

model = GenericFakeChatModel(messages=(AIMessage(f"Noted {turn}.") for turn in count()))
agent: Any = create_agent(
    model, middleware=[ContextMiddleware(max_tokens=4_000)], checkpointer=InMemorySaver()
)

thread = {"configurable": {"thread_id": "one"}}
for turn in range(60):
    said = f"Delivery {turn} has {turn * 17} crates. " + "Every crate is counted. " * 30
    messages = agent.invoke({"messages": [HumanMessage(said)]}, thread)["messages"]

print("messages in the agent's state:", len(messages))
print("tokens of all of them:", fit(messages).tokens)
