"""What becomes of requests to Gemini and of its responses."""

from __future__ import annotations

from ctxcore.messages.values import JsonObject
from tests.unit.formats.transcript_files import read, read_all, refusal, shape

CALL: JsonObject = {"functionCall": {"name": "look", "args": {"path": "."}}}
ANSWER: JsonObject = {"functionResponse": {"name": "look", "response": {"result": "a.py"}}}
CONTENTS: list[JsonObject] = [
    {"role": "user", "parts": [{"text": "which files?"}]},
    {"role": "model", "parts": [CALL]},
    {"role": "user", "parts": [ANSWER]},
]
REQUEST: JsonObject = {
    "systemInstruction": {"parts": [{"text": "be short"}]},
    "contents": [*CONTENTS],
    "tools": [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}]}],
}
COUNTED: JsonObject = {
    "usageMetadata": {
        "promptTokenCount": 50,
        "cachedContentTokenCount": 20,
        "toolUsePromptTokenCount": 4,
        "candidatesTokenCount": 6,
        "thoughtsTokenCount": 3,
    }
}
RESPONSE: JsonObject = {
    "responseId": "r1",
    "modelVersion": "gemini-test",
    "candidates": [
        {"content": {"parts": [{"text": "hm", "thought": True}, {"text": "one: a.py"}]}},
        {"content": {"role": "model", "parts": [{"text": "a.py"}]}},
    ],
    **COUNTED,
}
SHOWN = [
    "system: be short",
    "user: which files?",
    'assistant:  +look(call_1_0 {"path":"."})',
    "tool(call_1_0): a.py",
]


def test_a_request_has_its_instruction_first_and_its_tools_in_one_form() -> None:
    found = read(REQUEST)

    assert shape(found) == SHOWN
    assert found.format == "gemini"
    assert found.tools == [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "OBJECT"}}}
    ]


def test_a_response_is_joined_to_its_request_and_thoughts_count_as_output() -> None:
    found = read({"request": REQUEST, "response": RESPONSE})

    assert shape(found) == [*SHOWN, "assistant: one: a.py"]
    assert (found.model, found.messages[4].reasoning) == ("gemini-test", "hm")
    (usage,) = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (34, 20, 9)
    assert (usage.after, usage.call_id) == (4, "r1")
    assert found.ignored == (("other candidate", 1),)


def test_both_spellings_and_contents_that_stand_alone_are_read() -> None:
    snake: JsonObject = {"system_instruction": "be short", "contents": [*CONTENTS]}

    assert shape(read(snake)) == SHOWN
    assert shape(read([*CONTENTS])) == SHOWN[1:]
    assert shape(read({"history": [*CONTENTS]})) == SHOWN[1:]
    assert [one.id for one in read_all({"key": "k1", "request": REQUEST})] == ["k1"]


def test_a_content_that_cannot_be_read_is_a_problem() -> None:
    found = read({"contents": [*CONTENTS, {"role": "narrator", "parts": [{"text": "x"}]}]})

    assert shape(found) == SHOWN[1:]
    assert str(found.problems[0].reason).startswith("message 3, role: 'narrator'")


def test_a_blocked_response_has_usage_but_no_answer() -> None:
    blocked: JsonObject = {"candidates": [{"finishReason": "SAFETY"}], **COUNTED}

    found = read({"request": REQUEST, "response": blocked})

    assert shape(found) == SHOWN
    assert [usage.total_input_tokens for usage in found.usage] == [54]
    assert "the response record has no content" in refusal(blocked)
