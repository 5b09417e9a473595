"""What becomes of Gemini CLI sessions: both layouts, changes to them, usage, saved chats."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.formats.reading import find_transcripts, parse_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, jsonl, read, refusal, shape

HEAD: JsonObject = {"sessionId": "s-1", "projectHash": "h", "startTime": TIME, "kind": "main"}


def record(own: str, kind: str, content: JsonValue, **fields: JsonValue) -> JsonObject:
    return {"id": own, "timestamp": TIME, "type": kind, "content": content, **fields}


def call(call_id: str, output: str | None = None, **fields: JsonValue) -> JsonObject:
    response: JsonObject = {"id": call_id, "name": "run", "response": {"output": output}}
    result: JsonValue = [{"functionResponse": response}] if output else None
    return {"id": call_id, "name": "run", "args": {"n": 1}, "result": result, **fields}


def test_calls_hold_their_results_and_input_excludes_what_was_cached() -> None:
    tokens: JsonObject = {"input": 100, "cached": 30, "output": 5, "thoughts": 2, "tool": 1}
    found = read(
        HEAD,
        record("1", "user", [{"text": "go"}]),
        record(
            "2",
            "gemini",
            "I run",
            thoughts=[{"subject": "Plan", "description": "hm"}],
            toolCalls=[call("a", "A"), call("b", "B")],
            tokens=tokens,
            model="m-1",
        ),
        record("3", "info", "cancelled"),
        record("4", "gemini", "done"),
        {"$set": {"summary": "a title", "lastUpdated": TIME}},
    )

    assert shape(found) == [
        "user: go",
        'assistant: I run +run(a {"n":1}) +run(b {"n":1})',
        "tool(a): A",
        "tool(b): B",
        "assistant: done",
    ]
    assert found.messages[1].reasoning == "Plan\nhm"
    assert (found.format, found.id, found.title, found.model) == (
        *("gemini-cli", "s-1", "a title", "m-1"),
    )
    [used] = found.usage
    assert (used.after, used.input_tokens, used.cache_read_tokens, used.output_tokens) == (
        *(1, 71, 30, 7),
    )
    assert dict(found.ignored) == {"info": 1}


def test_answers_without_results_keep_their_own_usage() -> None:
    found = read(
        HEAD,
        record("1", "user", "go"),
        record("2", "gemini", "", toolCalls=[call("a")], tokens={"input": 10}),
        record("3", "gemini", "", toolCalls=[call("b", "B")], tokens={"input": 20}),
    )

    assert [(one.after, one.input_tokens) for one in found.usage] == [(1, 10), (2, 20)]


def test_one_object_is_read_alike() -> None:
    document = {**HEAD, "messages": [record("1", "user", "go"), record("2", "gemini", "done")]}

    [found] = parse_transcripts(json.dumps(document), name="session-1.json")

    assert shape(found) == ["user: go", "assistant: done"]


def test_a_later_record_of_an_id_replaces_the_earlier() -> None:
    found = read(
        HEAD,
        record("1", "user", "go"),
        record("2", "gemini", "", toolCalls=[call("a")]),
        record("3", "gemini", "done"),
        record("2", "gemini", "", toolCalls=[call("a", "A")]),
    )

    assert shape(found)[1:] == ['assistant:  +run(a {"n":1})', "tool(a): A", "assistant: done"]


def test_what_was_taken_back_is_a_left_branch() -> None:
    found = read(
        HEAD,
        record("1", "user", "one"),
        record("2", "gemini", "wrong"),
        {"$rewindTo": "2"},
        record("3", "gemini", "right"),
    )

    assert shape(found) == ["user: one", "assistant: right"]
    assert dict(found.ignored) == {"left branch": 1}


def test_a_summary_in_place_of_the_first_messages_is_a_compaction() -> None:
    kept = record("3", "user", "three")
    found = read(
        HEAD,
        record("1", "user", "one"),
        record("2", "gemini", "two"),
        kept,
        {"$set": {"messages": [record("9", "user", [{"text": "so far"}]), kept]}},
        record("4", "gemini", "four"),
    )

    [compaction] = found.compactions
    assert shape(found) == ["user: one", "assistant: two", "user: three", "assistant: four"]
    assert (compaction.at, compaction.summary) == (2, "so far")


def test_a_result_that_only_was_shown_is_read() -> None:
    found = read(HEAD, record("1", "gemini", "", toolCalls=[call("a", resultDisplay="shown")]))

    assert shape(found)[1:] == ["tool(a): shown"]


def test_a_sub_agent_stands_in_the_folder_of_its_parent() -> None:
    head = {**HEAD, "kind": "subagent"}
    found = read(head, record("1", "user", "go"), name="chats/p-1/a.jsonl")

    assert found.parent_id == "p-1"


def test_the_list_of_prompts_beside_the_sessions_is_no_file_of_its_own(tmp_path: Path) -> None:
    session = tmp_path / "chats" / "session-1.jsonl"
    session.parent.mkdir()
    session.write_text(jsonl(HEAD, record("1", "user", "go")))
    (tmp_path / "logs.json").write_text("[]")

    assert find_transcripts(tmp_path) == [session]


def test_a_saved_chat_is_a_list_of_contents() -> None:
    contents: list[JsonValue] = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"r": 1}}}]},
    ]

    [bare] = parse_transcripts(json.dumps(contents), name="a.json")
    [wrapped] = parse_transcripts(json.dumps({"history": contents}), name="a.json")

    assert shape(bare) == shape(wrapped)
    assert [message.role for message in bare.messages] == ["user", "assistant", "tool"]
    assert bare.messages[2].answers == bare.messages[1].calls[0].id


def test_a_role_that_gemini_does_not_have_is_said() -> None:
    contents: JsonValue = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "gemini", "parts": [{"text": "done"}]},
    ]
    [found] = parse_transcripts(json.dumps({"history": contents}), name="a.json")

    assert shape(found) == ["user: go", "assistant: done"]
    assert [repair.reason.code for repair in found.repairs] == ["repair.role"]


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(
        HEAD,
        record("1", "user", "one"),
        '{"id": "2',
        record("3", "user", [{"functionCall": {"args": {}}}]),
        record("4", "gossip", "x"),
        ["no record"],
        record("5", "gemini", "two"),
    )

    assert shape(found) == ["user: one", "assistant: two"]
    assert sorted(problem.line or 0 for problem in found.problems) == [3, 4, 5, 6]


def test_a_session_without_a_message_is_recognized() -> None:
    assert "this looks like a Gemini CLI session" in refusal(HEAD, record("1", "info", "hello"))
