"""What becomes of requests to OpenAI's Responses API, of its responses and items."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import JsonObject
from tests.unit.formats.transcript_files import read, refusal, shape

TOOL: JsonObject = {"type": "function", "name": "look", "parameters": {"type": "object"}}
CALL: JsonObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "look",
    "arguments": "{}",
}
OUTPUT: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "look first"}],
}
ITEMS: list[JsonObject] = [{"role": "user", "content": "which files?"}, THOUGHT, CALL, OUTPUT]
REQUEST: JsonObject = {
    "model": "gpt-test",
    "instructions": "be short",
    "input": [*ITEMS],
    "tools": [TOOL],
}
SAID: JsonObject = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "one: a.py", "annotations": []}],
}
RESPONSE: JsonObject = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_700_000_000,
    "model": "gpt-test-1",
    "instructions": "be short",
    "output": [SAID],
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 5,
    },
}
SHOWN = ["user: which files?", "assistant:  +look(c1 {})", "tool(c1): a.py"]


def test_a_request_has_its_instructions_first() -> None:
    found = read(REQUEST)

    assert shape(found) == ["system: be short", *SHOWN]
    assert (found.format, found.model) == ("openai-responses", "gpt-test")
    assert found.messages[2].reasoning == "look first"
    assert found.tools == [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    ]


def test_cached_tokens_are_no_part_of_the_other_input() -> None:
    found = read(RESPONSE)

    assert shape(found) == ["system: be short", "assistant: one: a.py"]
    (usage,) = found.usage
    assert (usage.call_id, usage.input_tokens, usage.cache_read_tokens) == ("resp_1", 40, 60)
    assert (usage.after, usage.total_input_tokens, usage.output_tokens) == (1, 100, 5)
    assert usage.recorded_at is not None


@pytest.mark.parametrize("wrapped", [RESPONSE, {"status_code": 200, "body": RESPONSE}])
def test_a_response_is_joined_to_its_request(wrapped: JsonObject) -> None:
    found = read({"custom_id": "a", "body": REQUEST, "response": wrapped})

    assert shape(found) == ["system: be short", *SHOWN, "assistant: one: a.py"]
    assert (found.id, [usage.after for usage in found.usage]) == ("a", [4])


def test_items_may_stand_alone() -> None:
    assert shape(read(*ITEMS)) == SHOWN
    assert read(*ITEMS).format == "openai-responses"
    assert shape(read([*ITEMS])) == SHOWN


def test_a_text_is_the_users_but_a_request_for_embeddings_is_none() -> None:
    assert shape(read({"model": "m", "input": "hi", "instructions": "go"})) == [
        "system: go",
        "user: hi",
    ]
    assert "contains no conversation" in refusal({"model": "m", "input": "hi"})


def test_a_text_beside_a_response_is_its_request() -> None:
    found = read({"request": {"model": "m", "input": "which files?"}, "response": RESPONSE})

    assert shape(found) == ["user: which files?", "assistant: one: a.py"]


def test_a_compaction_keeps_its_place() -> None:
    compacted: JsonObject = {"type": "compaction", "id": "cmp_1", "encrypted_content": "xyz"}

    found = read({"model": "m", "input": [compacted, {"role": "user", "content": "and?"}]})

    assert [message.role for message in found.messages] == ["system", "user"]
    assert [(one.at, one.summary) for one in found.compactions] == [(0, "")]


def test_a_few_items_in_a_file_of_another_product_are_not_read_as_its_conversation() -> None:
    events: list[JsonObject] = [{"event": n, "said": "x"} for n in range(4)]

    assert "contains no conversation" in refusal(*events, THOUGHT)
