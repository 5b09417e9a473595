"""What becomes of Cursor's transcripts: calls without ids, results, sub-agents."""

from __future__ import annotations

from pathlib import Path

from ctxcore.formats.reading import read_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import jsonl, read, refusal, shape


def said(role: str, *blocks: JsonValue) -> JsonObject:
    return {"role": role, "message": {"content": list(blocks)}}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def call(name: str, kind: str = "tool_use") -> JsonObject:
    return {"type": kind, "name": name, "input": {"n": 1}}


def result(kind: str = "tool_result", **fields: JsonValue) -> JsonObject:
    return {"type": kind, "content": [text("A")], **fields}


ASKED = said("user", text("<user_query>\nwhat is here?\n</user_query>"))
CALLING = said("assistant", {"type": "thinking", "thinking": "hm"}, text("I look"), call("Shell"))


def test_a_result_with_an_id_nothing_has_is_that_of_the_first_open_call() -> None:
    found = read(
        ASKED,
        CALLING,
        said("user", result(tool_use_id="t1"), text("thanks")),
        {"type": "turn_ended", "status": "success"},
    )

    assert shape(found)[1:] == [
        'assistant: I look +Shell(call_1 {"n": 1})',
        "tool(call_1): A",
        "user: thanks",
    ]
    assert found.messages[1].reasoning == "hm"
    assert (found.format, found.id, found.title) == ("cursor", "a", "what is here?")
    assert dict(found.ignored) == {"turn_ended": 1}


def test_answers_in_a_row_stay_apart() -> None:
    assert shape(read(ASKED, CALLING, said("assistant", text("done"))))[1:] == [
        'assistant: I look +Shell(call_1 {"n": 1})',
        "assistant: done",
    ]


def test_other_names_of_blocks_and_unknown_ones() -> None:
    found = read(
        {**ASKED, "metadata": {}},
        {
            **said("assistant", call("a", "tool-call"), call("b", "tool_call"), {"type": "chart"}),
            "model": "m-1",
        },
        said("user", result("tool-result", name="b")),
        said("assistant", {"type": "news", "text": "shown"}, "plain"),
    )

    assert shape(found)[1:] == [
        'assistant:  +a(call_1 {"n": 1}) +b(call_2 {"n": 1})',
        "tool(call_2): A",
        "assistant: shown\nplain",
    ]
    assert (found.model, dict(found.ignored)) == ("m-1", {"chart": 1})


def test_a_sub_agent_is_below_its_parent(tmp_path: Path) -> None:
    child = tmp_path / "s-1" / "subagents" / "s-2.jsonl"
    child.parent.mkdir(parents=True)
    child.write_text(jsonl(ASKED, CALLING))

    assert read_transcripts(child)[0].parent_id == "s-1"
    (tmp_path / "s-1" / "other.jsonl").write_text(jsonl(ASKED))
    assert read_transcripts(child)[0].parent_id == "other"


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(ASKED, '{"role": "ass', {"role": "user", "message": {}}, ["x"], CALLING)

    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert sorted(problem.line or 0 for problem in found.problems) == [2, 3, 4]


def test_a_transcript_without_messages_is_refused_by_name() -> None:
    assert "a Cursor transcript" in refusal(said("user"), said("assistant"))


def event(kind: str, **fields: JsonValue) -> JsonObject:
    return {"type": kind, "session_id": "r-1", **fields}


def ran(call_id: str, subtype: str, **call: JsonValue) -> JsonObject:
    return event("tool_call", subtype=subtype, call_id=call_id, tool_call=call)


def spoken(role: str, words: str) -> JsonObject:
    return event(role, message={"role": role, "content": [text(words)]})


ARGS: JsonObject = {"args": {"n": 1}}
FOUND: JsonObject = {"success": {"content": "A"}}
RUN = (
    event("system", subtype="init", model="m-1"),
    spoken("user", "go"),
    event("thinking", subtype="delta", text="h"),
    event("thinking", subtype="delta", text="m"),
    spoken("assistant", "I look"),
    ran("a", "started", readToolCall=ARGS),
    ran("a", "completed", readToolCall={**ARGS, "result": FOUND}),
    spoken("assistant", "done"),
    event("result", result="I lookdone"),
)


def test_a_run_with_calls_that_end() -> None:
    found = read(*RUN)

    assert shape(found) == [
        "user: go",
        'assistant: I look +read(a {"n":1})',
        "tool(a): A",
        "assistant: done",
    ]
    assert found.messages[1].reasoning == "hm"
    assert (found.format, found.id, found.model) == ("cursor", "r-1", "m-1")
    assert dict(found.ignored) == {"result": 1, "system": 1}


def test_calls_of_a_run_in_other_forms_and_broken_events() -> None:
    function: JsonObject = {"name": "ask", "arguments": "{}"}
    found = read(
        *RUN[:2],
        ["x"],
        event("user"),
        ran("b", "completed", function=function, result="B"),
        ran("c", "completed", readToolCall={**ARGS, "result": {"error": "no"}}),
    )

    assert shape(found)[2:] == [
        "tool(b): B",
        'assistant:  +read(c {"n":1})',
        'tool(c): {"error":"no"}',
    ]
    assert [problem.line for problem in found.problems] == [3, 4]
