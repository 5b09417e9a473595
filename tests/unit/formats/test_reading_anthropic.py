"""What becomes of requests to Claude and of its responses."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, refusal, shape

CALL: JsonObject = {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 2}}
RESULT: JsonObject = {"type": "tool_result", "tool_use_id": "c1", "content": "4"}
ASKED: JsonObject = {"role": "user", "content": "2 + 2?"}
REQUEST: JsonObject = {
    "model": "claude-test",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "be exact"}],
    "tools": [{"name": "add", "input_schema": {"type": "object"}}],
    "messages": [
        ASKED,
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "and?"}]},
    ],
}
RESPONSE: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test-2",
    "content": [
        {"type": "thinking", "thinking": "sum", "signature": "s1"},
        {"type": "text", "text": "four"},
    ],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 5,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 3,
        "cache_creation": {"ephemeral_1h_input_tokens": 2},
        "output_tokens": 4,
    },
}
SHOWN = [
    "system: be exact",
    "user: 2 + 2?",
    'assistant:  +add(c1 {"a": 2})',
    "tool(c1): 4",
    "user: and?",
]


def test_a_request_has_its_system_prompt_first_and_its_tools_in_one_form() -> None:
    found = read(REQUEST)

    assert shape(found) == SHOWN
    assert (found.format, found.model, found.usage) == ("anthropic", "claude-test", ())
    assert found.tools == [
        {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    ]


def test_a_response_is_an_answer_with_its_usage() -> None:
    found = read(RESPONSE)

    assert shape(found) == ["assistant: four"]
    assert (found.id, found.model, found.messages[0].reasoning) == ("msg_1", "claude-test-2", "sum")
    (usage,) = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (5, 7, 3)
    assert (usage.cache_hour_tokens, usage.output_tokens, usage.after) == (2, 4, 0)


def test_a_response_tells_what_the_provider_left_out_of_its_request() -> None:
    edit: JsonObject = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}
    edit["cleared_input_tokens"] = 900
    found = read({**RESPONSE, "context_management": {"applied_edits": [edit]}})

    assert [(one.cleared_parts, one.cleared_tokens) for one in found.usage] == [(2, 900)]
    assert [one.cleared_tokens for one in read(RESPONSE).usage] == [None]


def test_a_response_is_joined_to_the_request_beside_it() -> None:
    found = read({"request": REQUEST, "response": RESPONSE})

    assert shape(found) == [*SHOWN, "assistant: four"]
    assert [usage.after for usage in found.usage] == [5]


def test_batches_wrap_requests_and_results() -> None:
    result: JsonObject = {"type": "succeeded", "message": RESPONSE}
    found = read_all({"custom_id": "a", "params": REQUEST}, {"custom_id": "b", "result": result})

    assert [(one.id, len(one.messages)) for one in found] == [("a", 5), ("b", 1)]


def test_plain_text_is_claudes_where_the_body_says_so() -> None:
    body: JsonObject = {"messages": [ASKED], "system": "be exact"}

    assert read({**body, "max_tokens": 9}).format == "anthropic"
    assert read({**body, "anthropic_version": "bedrock-2023-05-31"}).format == "anthropic"
    assert read(body).format == "openai"


def test_messages_with_openais_keys_are_not_claudes() -> None:
    call: JsonObject = {"id": "c1", "type": "function", "function": {"name": "add"}}
    thought: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "s"}
    answer: JsonObject = {"role": "assistant", "content": [thought], "tool_calls": [call]}

    found = read({"messages": [ASKED, answer]})

    assert found.format == "openai"
    assert [call.name for call in found.messages[1].calls] == ["add"]


def test_the_summary_of_a_compaction_is_told_apart() -> None:
    summary: JsonObject = {"type": "compaction", "content": "said hello"}
    texts: list[JsonObject] = [{"type": "text", "text": text} for text in ("hi", "again?")]
    found = read(
        {
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": [texts[0]]},
                {"role": "assistant", "content": [summary, {"type": "text", "text": "hello"}]},
                {"role": "user", "content": [texts[1]]},
                {"role": "assistant", "content": [summary]},
            ],
        }
    )

    assert shape(found) == ["user: hi", "assistant: hello", "user: again?"]
    assert [(one.at, one.summary) for one in found.compactions] == [
        (1, "said hello"),
        (3, "said hello"),
    ]


def test_blocks_of_the_providers_own_tools_are_kept() -> None:
    used: JsonObject = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    found_: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    hidden: JsonObject = {"type": "redacted_thinking", "data": "x"}

    found = read({**RESPONSE, "content": [hidden, used, found_, {"type": "text", "text": "ok"}]})

    assert len(found.messages[0].content) == 4
    assert found.messages[0].text.endswith("ok")


def test_a_message_that_cannot_be_read_is_a_problem_with_its_place() -> None:
    bad: JsonObject = {"role": "user", "content": [{"text": "no type"}]}
    messages = REQUEST["messages"]
    assert isinstance(messages, list)

    found = read({**REQUEST, "messages": [*messages, bad]})

    assert shape(found) == SHOWN
    assert str(found.problems[0].reason).startswith("message 3, content[0]")


@pytest.mark.parametrize("kind", [[None], {}, 7, None])
def test_a_block_whose_type_is_no_text_is_told(kind: JsonValue) -> None:
    odd: JsonObject = {"type": kind, "text": "hi"}

    assert "content[0]: has no type" in refusal({"role": "user", "content": [odd, RESULT]})
