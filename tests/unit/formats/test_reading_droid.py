"""What becomes of the sessions that Droid stores, and of the events its runs print."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.formats.reading import find_transcripts, read_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, jsonl, read, refusal, shape

HEAD: JsonObject = {"type": "session_start", "id": "s-1", "sessionTitle": "a title", "cwd": "/w"}


def entry(own_id: str, parent: str | None, role: str, *blocks: JsonValue) -> JsonObject:
    said: JsonObject = {"role": role, "content": list(blocks)}
    place: JsonObject = {"id": own_id, "parentId": parent, "timestamp": TIME}
    return {"type": "message", "message": said, **place}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


CALL: JsonObject = {"type": "tool_use", "id": "c", "name": "Execute", "input": {"n": 1}}
RESULT: JsonObject = {"type": "tool_result", "tool_use_id": "c", "content": "A"}
TALK = (
    entry("1", "s-1", "user", text("go")),
    entry("2", "1", "assistant", text("I look"), CALL),
    entry("3", "2", "user", RESULT),
)
TALK_SHAPE = ["user: go", 'assistant: I look +Execute(c {"n": 1})', "tool(c): A"]


def test_a_stored_session_with_a_compaction() -> None:
    found = read(
        HEAD,
        *TALK,
        {"type": "todo_state", "id": "t"},
        {"type": "compaction_state", "id": "k", "timestamp": TIME, "summaryText": "so far"},
        entry("4", "3", "assistant", text("done")),
    )

    assert shape(found) == [*TALK_SHAPE, "assistant: done"]
    assert [(one.at, one.summary) for one in found.compactions] == [(3, "so far")]
    assert (found.format, found.id, found.title) == ("droid", "s-1", "a title")
    assert dict(found.ignored) == {"todo_state": 1}


def test_other_names_of_blocks_and_heads() -> None:
    thought: JsonObject = {"type": "thinking", "text": "hm"}
    found = read(
        {"type": "session_start", "session": {"id": "s-9"}},
        TALK[0],
        entry("2", "1", "assistant", thought, {**CALL, "type": "tool-use"}, {"type": "chart"}),
        TALK[2],
    )

    assert shape(found) == ["user: go", 'assistant:  +Execute(c {"n": 1})', "tool(c): A"]
    assert (found.messages[1].reasoning, found.id) == ("hm", "s-9")
    assert dict(found.ignored) == {"chart": 1}


def test_the_branch_of_the_last_message_is_read() -> None:
    found = read(
        HEAD, *TALK, entry("4", "3", "user", text("no")), entry("5", "3", "user", text("yes"))
    )

    assert shape(found) == [*TALK_SHAPE, "user: yes"]
    assert dict(found.ignored) == {"left branch": 1}


def test_the_file_beside_a_session_names_its_model(tmp_path: Path) -> None:
    session, beside = tmp_path / "s-1.jsonl", tmp_path / "s-1.settings.json"
    settings: JsonObject = {"assistantActiveTimeMs": 1, "tokenUsage": {}, "model": "m-1"}
    session.write_text(jsonl(HEAD, *TALK))
    beside.write_text(json.dumps(settings))

    assert find_transcripts(tmp_path) == [session]
    assert read_transcripts(session)[0].model == "m-1"
    assert "this looks like a Droid session" in refusal(settings)


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(HEAD, TALK[0], '{"type": "mess', ["x"], {"type": "message"}, *TALK[1:])

    assert shape(found) == TALK_SHAPE
    assert sorted(problem.line or 0 for problem in found.problems) == [3, 4, 5]


def event(kind: str, **fields: JsonValue) -> JsonObject:
    return {"type": kind, "session_id": "r-1", "timestamp": TIME, **fields}


RUN = (
    event("system", subtype="init", model="m-1", cwd="/w"),
    event("message", role="user", text="<system-reminder>x</system-reminder>\n\ngo"),
    event("message", role="assistant", text="I look"),
    event("tool_call", toolCallId="c", id="e", toolName="Execute", parameters={"n": 1}),
    event("tool_result", toolCallId="c", value={"stdout": "A\n", "stderr": "", "exitCode": 2}),
)


def test_a_run_with_its_last_answer_once() -> None:
    found = read(
        *RUN,
        event("reasoning", text="hm"),
        event("message", role="assistant", text="done"),
        event("completion", finalText="done", usage={"input_tokens": 9}),
    )

    assert shape(found)[1:] == [
        'assistant: I look +Execute(c {"n":1})',
        "tool(c): A\n\n[exit code 2]",
        "assistant: done",
    ]
    assert found.messages[3].reasoning == "hm"
    assert (found.id, found.title, found.model, found.usage) == ("r-1", "go", "m-1", ())
    assert dict(found.ignored) == {"completion": 1, "system": 1}


def test_a_run_whose_last_answer_stands_at_its_end_alone() -> None:
    found = read(
        *RUN[:4],
        event("tool_result", id="c", isError=True, value=["no"]),
        event("completion", finalText="done"),
        event("error", message="later"),
    )

    assert shape(found)[2:] == ['tool(c): ["no"]', "assistant: done"]


def test_a_run_with_broken_events() -> None:
    found = read(*RUN, ["x"], event("message", role="nobody", text="?"))

    assert [problem.line for problem in found.problems] == [6, 7]
