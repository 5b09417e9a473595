"""Words under a wrong key are refused, with their place and the key; marks may stand anywhere."""

from __future__ import annotations

import pytest

from ctxcore.errors import MessageError
from ctxcore.messages.shapes.reading import parse_messages, read_list
from ctxcore.messages.values import JsonObject
from tests.shapes import Written

HI: JsonObject = {"role": "user", "content": "hi"}
CALL: JsonObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def assistant(*blocks: JsonObject) -> JsonObject:
    """An assistant message of blocks."""
    return {"role": "assistant", "content": list(blocks)}


def parts(*blocks: JsonObject) -> JsonObject:
    """A content of Gemini's."""
    return {"role": "model", "parts": list(blocks)}


MISPLACED: list[tuple[JsonObject, str, str]] = [
    (
        assistant({"type": "tool_use", "id": "a", "name": "f", "arguments": {"lost": "words"}}),
        "message 1, content[0]",
        "'arguments'",
    ),
    (
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "text": "lost"}],
        },
        "message 1, content[0]",
        "'text'",
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "f", "input": {"lost": "words"}},
        "message 1",
        "'input'",
    ),
    (
        {"type": "custom_tool_call", "call_id": "c", "name": "f", "arguments": "lost"},
        "message 1",
        "'arguments'",
    ),
    (
        {"type": "function_call_output", "call_id": "c", "content": "lost"},
        "message 1",
        "'content'",
    ),
    ({"role": "assistant", "content": "", "text": "words"}, "message 1", "'text'"),
    ({"role": "assistant", "content": "", "said": "many words"}, "message 1", "'said'"),
    ({"role": "assistant", "content": [], "text": "words"}, "message 1", "'text'"),
    (
        {"role": "assistant", "content": None, "text": "lost", "tool_calls": [CALL]},
        "message 1",
        "'text'",
    ),
    ({"role": "tool", "tool_call_id": "c", "content": "", "output": "lost"}, "message 1", "'outp"),
    (
        {"type": "message", "role": "assistant", "content": [], "text": "words"},
        "message 1",
        "'text'",
    ),
    ({"role": "user", "content": "b", "parts": [{"text": "a"}]}, "message 1", "parts"),
]
IN_GEMINI: list[tuple[JsonObject, str, str]] = [
    (
        parts({"functionCall": {"name": "f", "arguments": {"lost": "w"}}}),
        "message 1, parts[0]",
        "'arguments'",
    ),
    (
        parts({"functionResponse": {"name": "f", "content": "lost"}}),
        "message 1, parts[0]",
        "'content'",
    ),
    (
        parts({"text": "A", "inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        "message 1, parts[0]",
        "'text' and 'inlineData'",
    ),
    (
        parts({"text": "A", "function_call": {"name": "f", "args": {}}}),
        "message 1, parts[0]",
        "'text' and 'function_call'",
    ),
    ({"role": "user", "parts": [], "text": "lost"}, "message 1", "'text'"),
]


@pytest.mark.parametrize(("raw", "place", "names"), MISPLACED, ids=range(len(MISPLACED)))
def test_words_under_a_wrong_key_are_refused(raw: JsonObject, place: str, names: str) -> None:
    with pytest.raises(MessageError) as caught:
        parse_messages([HI, raw])

    assert str(caught.value.place) == place
    assert names in str(caught.value.problem)


@pytest.mark.parametrize(("raw", "place", "names"), IN_GEMINI, ids=range(len(IN_GEMINI)))
def test_words_under_a_wrong_key_of_geminis_are_refused(
    raw: JsonObject, place: str, names: str
) -> None:
    with pytest.raises(MessageError) as caught:
        parse_messages([{"role": "user", "parts": [{"text": "hi"}]}, raw])

    assert str(caught.value.place) == place
    assert names in str(caught.value.problem)


MARKED: list[Written] = [
    [{"role": "assistant", "content": "", "id": "m 1", "created_at": "1 May", "agent": "main"}],
    [{"role": "assistant", "content": "", "metadata": {"text": "x"}, "reasoning": "so I think"}],
    [{"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning": "so I think"}],
    [assistant({"type": "tool_use", "id": "a", "name": "f", "caller": {"type": "direct"}})],
    [assistant({"type": "tool_use", "id": "a", "name": "f", "input": {}, "text": "own mark"})],
    [{"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "status": "completed"}],
    [{"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}],
    [parts({"text": "", "functionCall": {"name": "f", "id": "x"}, "thoughtSignature": "s"})],
    [{"role": "assistant", "content": "hi", "parts": [{"type": "text", "text": "hi"}]}],
]


@pytest.mark.parametrize("raw", MARKED, ids=range(len(MARKED)))
def test_marks_and_thinking_may_stand_beside_nothing(raw: Written) -> None:
    assert len(read_list(raw).messages) == 1
