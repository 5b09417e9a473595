"""What becomes of run states of the OpenAI Agents SDK."""

from __future__ import annotations

import json

from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, refusal, shape

CALL: JsonObject = {
    "type": "function_call",
    "call_id": "c1",
    "name": "look",
    "arguments": '{"at": "x"}',
}
OUTPUT: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "seen"}
DONE: JsonObject = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "done"}],
}
SHAPE = ["user: hi", 'assistant:  +look(c1 {"at": "x"})', "tool(c1): seen", "assistant: done"]


def run_item(raw: JsonObject, kind: str = "tool_call_item") -> JsonObject:
    return {"type": kind, "agent": {"name": "a"}, "raw_item": raw}


def state(**fields: JsonValue) -> str:
    about: JsonObject = {"$schemaVersion": "1.13", "original_input": "hi"}
    return json.dumps({**about, **fields})


ITEMS: list[JsonValue] = [run_item(CALL), run_item(OUTPUT), run_item(DONE)]


def test_the_input_and_the_items_of_the_run_are_one_conversation() -> None:
    found = read(state(generated_items=ITEMS))

    assert (found.format, found.title) == ("openai-agents", "hi")
    assert shape(found) == SHAPE


def test_items_of_the_session_are_not_read_twice() -> None:
    fresh = run_item({**DONE, "content": [{"type": "output_text", "text": "more"}]})

    found = read(state(session_items=ITEMS, generated_items=[*ITEMS[1:], fresh]))

    assert shape(found)[:-1] == SHAPE
    assert found.messages[-1].text == "more"


def test_what_a_hand_off_moved_into_the_input_is_not_read_twice() -> None:
    refs: JsonValue = [{"index": 2, "input_index": 1, "digest": "d"}]
    given: JsonValue = [{"role": "user", "content": "hi"}, DONE]

    found = read(
        state(
            original_input=given,
            session_items=ITEMS,
            nested_history_owned_session_item_refs=refs,
        )
    )

    assert [one.role for one in found.messages] == ["user", "assistant", "tool"]
    assert found.ignored == (("nested history", 1),)


def test_approvals_are_counted_and_input_that_waits_is_read() -> None:
    approval = run_item(CALL, "tool_approval_item")

    found = read(state(generated_items=[run_item(CALL), approval], pending_input="go on"))

    assert shape(found) == ["user: hi", SHAPE[1], "user: go on"]
    assert found.ignored == (("tool_approval_item", 1),)


def test_usage_stands_at_the_answer_of_its_response() -> None:
    usage: JsonObject = {
        "input_tokens": 50,
        "output_tokens": 3,
        "input_tokens_details": [{"cached_tokens": 40}],
    }
    responses: JsonValue = [
        {"output": [CALL], "usage": usage, "response_id": "r1"},
        {"output": [DONE], "usage": {"input_tokens": 60, "output_tokens": 4}, "response_id": "r2"},
    ]

    found = read(state(generated_items=ITEMS, model_responses=responses))

    assert [(one.call_id, one.after, one.input_tokens) for one in found.usage] == [
        ("r1", 1, 10),
        ("r2", 3, 60),
    ]
    assert found.usage[0].cache_read_tokens == 40


def test_called_tools_are_read_once() -> None:
    tool: JsonObject = {"name": "look", "description": "d", "paramsJsonSchema": {"type": "object"}}
    functions: JsonValue = [{"tool": tool}, {"tool": tool}]

    found = read(state(last_processed_response={"functions": functions}))

    [definition] = found.tools
    assert definition["function"] == {
        "name": "look",
        "description": "d",
        "parameters": {"type": "object"},
    }


def test_states_of_the_javascript_sdk_are_read() -> None:
    call: JsonObject = {**CALL, "callId": "c1"}
    del call["call_id"]
    output: JsonObject = {
        "type": "function_call_result",
        "callId": "c1",
        "name": "look",
        "output": {"type": "text", "text": "seen"},
    }
    items: JsonValue = [{"type": "i", "rawItem": raw} for raw in (call, output, DONE)]
    usage: JsonObject = {"inputTokens": 5, "outputTokens": 1}
    responses: JsonValue = [{"output": [call], "usage": usage, "responseId": "r"}]
    text = json.dumps(
        {
            "$schemaVersion": "1.0",
            "originalInput": [{"type": "message", "role": "user", "content": "hi"}],
            "generatedItems": items,
            "modelResponses": responses,
        }
    )

    found = read(text)

    assert shape(found) == SHAPE
    assert [(one.input_tokens, one.after) for one in found.usage] == [(5, 1)]


def test_a_bad_item_is_reported_and_an_unknown_version_named() -> None:
    found = read(state(generated_items=[run_item({"role": "ghost", "content": "x"})]))
    said = refusal(json.dumps({"$schemaVersion": "999", "things": []}))

    assert [one.reason.code for one in found.problems] != []
    assert "this looks like a run state of the OpenAI Agents SDK" in said
