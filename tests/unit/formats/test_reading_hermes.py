"""What becomes of Hermes' session files, its transcripts and its exports."""

from __future__ import annotations

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, refusal, shape

CALL: JsonObject = {
    "id": "c",
    "call_id": "c",
    "response_item_id": "r",
    "type": "function",
    "function": {"name": "shell", "arguments": '{"n":1}'},
}
TALK: list[JsonValue] = [
    {"role": "user", "content": "go", "timestamp": "2026-03-01T10:00:00"},
    {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [CALL]},
    {"role": "tool", "content": "A", "tool_call_id": "c", "tool_name": "shell"},
    {"role": "assistant", "content": "done", "finish_reason": "stop"},
    {"role": "session_meta"},
]
TALK_SHAPE = ["user: go", 'assistant:  +shell(c {"n":1})', "tool(c): A", "assistant: done"]
TOOL: JsonObject = {
    "name": "shell",
    "type": "function",
    "function": {"name": "shell"},
    "input_schema": {"type": "object"},
}
SESSION: JsonObject = {
    "session_id": "s-1",
    "model": "m-1",
    "platform": "cli",
    "session_start": "2026-03-01T10:00:00",
    "system_prompt": "be brief",
    "tools": [TOOL],
    "messages": TALK,
}


def test_a_session_file() -> None:
    found = read(SESSION)

    assert shape(found) == ["system: be brief", *TALK_SHAPE]
    assert found.messages[2].reasoning == "hm"
    assert (found.format, found.id, found.title, found.model) == ("hermes", "s-1", "go", "m-1")
    function: JsonObject = {"name": "shell", "parameters": {"type": "object"}}
    assert found.tools == [{"type": "function", "function": function}]
    assert dict(found.ignored) == {"session_meta": 1}
    assert found.times[1] is not None
    assert found.times[1].hour == 10


def test_a_transcript_of_the_gateway() -> None:
    tool: JsonObject = {"type": "function", "function": {"name": "shell", "parameters": {}}}
    found = read({"role": "session_meta", "model": "m-2", "tools": [tool]}, *TALK[:4])

    assert shape(found) == TALK_SHAPE
    assert (found.id, found.model, found.tools) == ("a", "m-2", [tool])


def test_an_export_has_a_session_a_line() -> None:
    exported: JsonObject = {"source": "cli", "started_at": 1.0, "messages": TALK}
    first, second = read_all(
        {**exported, "id": "s-1", "title": "a title"},
        {**exported, "id": "s-2", "parent_session_id": "s-1"},
    )

    assert shape(first) == shape(second) == TALK_SHAPE
    assert (first.title, second.parent_id) == ("a title", "s-1")


def test_messages_that_cannot_be_read_are_named() -> None:
    found = read(
        {"role": "session_meta", "model": "m"},
        TALK[0],
        '{"role": "ass',
        ["x"],
        {"role": "nobody", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": [5]},
        TALK[3],
    )

    assert shape(found) == ["user: go", "assistant: done"]
    assert [problem.line for problem in found.problems] == [3, 4, 5, 6]


def test_a_session_without_messages_is_refused_by_name() -> None:
    assert "this looks like a Hermes session" in refusal(
        {**SESSION, "system_prompt": None, "messages": [5]}
    )
