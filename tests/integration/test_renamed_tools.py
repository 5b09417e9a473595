"""A tool whose name providers refuse: the model sees a new name, the caller only its own."""

from __future__ import annotations

from typing import Any

from ctxcore.assembly.rules.values import defined_names
from ctxcore.engine.events import ToolCallRequested
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import ToolCall
from tests.engines import ended, engine_with, saying

TOOLS: list[dict[str, Any]] = [{"type": "function", "function": {"name": "my tool.v1"}}]
CALLING = ScriptedReply(calls=(ToolCall(id="call_1", name="my_tool_v1", arguments="{}"),))


def test_the_call_of_a_renamed_tool_is_run_and_stored_under_its_own_name() -> None:
    run: list[ToolCall] = []

    def run_tool(call: ToolCall) -> str:
        run.append(call)
        return "42"

    with engine_with([CALLING, saying("It is 42."), saying("Yes.")]) as (engine, model):
        session = engine.create_session(tools=TOOLS)
        events = list(engine.chat(session.id, "go", run_tool=run_tool))
        asked = [event.call.name for event in events if isinstance(event, ToolCallRequested)]
        assert ended(engine.chat(session.id, "sure?", run_tool=run_tool)).state == "done"
        said = [info.message for info in engine.store.messages(session.id)]
        context = engine.context(session.id)

    assert ([call.name for call in run], asked) == (["my tool.v1"], ["my tool.v1"])
    assert [call.name for message in said for call in message.calls] == ["my tool.v1"]
    assert [message.name for message in said if message.is_tool_result] == ["my tool.v1"]
    assert {name for one in model.requests for name in defined_names(one.tools)} == {
        "my_tool_v1",
        "expand_tool_output",
        "recall_history",
    }
    assert "my tool.v1" not in str(model.requests)
    assert context.renamed_tools == {"my_tool_v1": "my tool.v1"}


def test_what_was_sent_before_stays_as_it_was() -> None:
    with engine_with([CALLING, saying("It is 42."), saying("Yes.")]) as (engine, model):
        session = engine.create_session(tools=TOOLS)
        for question in ("go", "sure?"):
            list(engine.chat(session.id, question, run_tool=lambda _: "42"))

    first, second, third = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    assert first.tools == second.tools == third.tools
