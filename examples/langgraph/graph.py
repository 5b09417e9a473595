"""A graph of LangGraph whose model node stays within its window; runs without a key."""

from __future__ import annotations

from itertools import count
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from ctxcore.integrations import Window


class State(TypedDict, total=False):
    """The messages, and what keeps the prefix of requests stable."""

    messages: Annotated[list[AnyMessage], add_messages]
    ctxcore: dict[str, Any]


model = GenericFakeChatModel(messages=(AIMessage(f"Noted {turn}.") for turn in count()))
window = Window(max_tokens=4_000)


def call_model(state: State) -> State:
    """Calls the model with messages that fit."""
    kept = window.keep(state["messages"], state.get("ctxcore"))
    return {"messages": [model.invoke(kept.messages)], "ctxcore": kept.state or {}}


builder: Any = StateGraph(State)
builder.add_node("model", call_model)
builder.add_edge(START, "model")
graph = builder.compile(checkpointer=InMemorySaver())

thread = {"configurable": {"thread_id": "one"}}
for turn in range(60):
    said = f"Delivery {turn} has {turn * 17} crates. " + "Every crate is counted. " * 30
    state = graph.invoke({"messages": [HumanMessage(said)]}, thread)
print("messages in the graph's state:", len(state["messages"]))
