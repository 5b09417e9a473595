"""What becomes of the data export of claude.ai."""

from __future__ import annotations

import json

from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, refusal, shape

TIME = "2026-03-01T10:00:00.000000Z"


def said(sender: str, *content: JsonValue, uuid: str = "", **fields: JsonValue) -> JsonObject:
    about: JsonObject = {"uuid": uuid, "sender": sender, "created_at": TIME}
    return {**about, "content": list(content), **fields}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def conversation(*messages: JsonValue, **fields: JsonValue) -> str:
    about: JsonObject = {"uuid": "c-1", "name": "Ferns", "chat_messages": list(messages)}
    return json.dumps([{**about, **fields}])


def test_calls_and_results_inside_an_answer_become_messages() -> None:
    call: JsonObject = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "fern"}}
    result: JsonObject = {"type": "tool_result", "tool_use_id": "t1", "content": [text("moss")]}
    thought: JsonObject = {"type": "thinking", "thinking": "hm"}
    answer = said("assistant", thought, text("Let me look."), call, result, text("Moss."))

    found = read(conversation(said("human", text("ferns?")), answer))

    assert (found.id, found.title, found.format) == ("c-1", "Ferns", "claude-ai")
    assert shape(found) == [
        "user: ferns?",
        'assistant: Let me look. +search(t1 {"q":"fern"})',
        "tool(t1): moss",
        "assistant: Moss.",
    ]
    assert found.messages[1].reasoning == "hm"
    assert all(time is not None for time in found.times)


def test_calls_without_ids_get_them() -> None:
    call: JsonObject = {"type": "tool_use", "name": "repl", "input": {}}
    result: JsonObject = {"type": "tool_result", "name": "repl", "content": []}

    found = read(conversation(said("human", text("go")), said("assistant", call, result)))

    assert shape(found)[1:] == ["assistant:  +repl(call_1 {})", "tool(call_1): "]
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_id"]


def test_attachments_are_read_with_their_text() -> None:
    files: JsonValue = [{"file_name": "a.txt", "extracted_content": "inside"}]
    images: JsonValue = [{"file_name": "b.png"}]

    found = read(conversation(said("human", text("see"), attachments=files, files=images)))

    assert found.messages[0].text == "see\na.txt\ninside\n[b.png]"


def test_older_exports_have_text_alone_and_blank_answers_are_counted() -> None:
    found = read(conversation(said("human", text="hi"), said("assistant", text="")))

    assert shape(found) == ["user: hi"]
    assert found.ignored == (("blank assistant", 1),)


def test_the_branch_of_the_current_message_is_read() -> None:
    messages = (
        said("human", text("a"), uuid="1", parent_message_uuid="0"),
        said("assistant", text("b"), uuid="2", parent_message_uuid="1"),
        said("assistant", text("c"), uuid="3", parent_message_uuid="1"),
    )

    newest = read(conversation(*messages))
    chosen = read(conversation(*messages, current_leaf_message_uuid="2"))

    assert shape(newest) == ["user: a", "assistant: c"]
    assert shape(chosen) == ["user: a", "assistant: b"]
    assert newest.ignored == chosen.ignored == (("left branch", 1),)


def test_what_is_no_message_is_reported() -> None:
    found = read(conversation(said("human", text("a")), {"sender": "ghost"}))

    assert [one.reason.code for one in found.problems] == ["file.neither"]
    assert "this looks like a claude.ai export" in refusal(conversation({"author": "human"}))
