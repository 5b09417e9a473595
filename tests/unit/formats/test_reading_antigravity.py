"""What becomes of the steps of Antigravity's agent."""

from __future__ import annotations

from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import jsonl, read, refusal, shape


def step(kind: str, content: str | None = None, **fields: JsonValue) -> JsonObject:
    source = "USER_EXPLICIT" if kind == "USER_INPUT" else fields.pop("source", "MODEL")
    head: JsonObject = {"step_index": 0, "source": source, "type": kind, "status": "DONE"}
    said: JsonObject = {} if content is None else {"content": content}
    return {**head, "created_at": "2026-03-01T10:00:00Z", **said, **fields}


CHOSEN = "The user changed setting `Model Selection` from None to Model 3.5 (Low)."
ASKED = step("USER_INPUT", f"<USER_REQUEST>\nlist\n</USER_REQUEST>\n{CHOSEN}")
ARGS: JsonObject = {"Path": '"/w"', "Depth": "2", "Note": "as it is"}
CALLING = step(
    "PLANNER_RESPONSE", thinking="hm", tool_calls=[{"name": "list", "args": ARGS}, {"name": "run"}]
)
LISTED = step("LIST_DIRECTORY", "a.txt")


def test_steps_of_the_model_are_the_results_of_its_calls_in_order() -> None:
    found = read(
        ASKED,
        step("CONVERSATION_HISTORY", source="SYSTEM"),
        CALLING,
        LISTED,
        step("RUN_COMMAND", "ok"),
        step("PLANNER_RESPONSE", "done"),
        step("CHECKPOINT", "so far", source="SYSTEM"),
        step("SYSTEM_MESSAGE", "a task ended", source="SYSTEM"),
        step("PLANNER_RESPONSE"),
    )

    called = '+list(call_1 {"Path":"/w","Depth":2,"Note":"as it is"}) +run(call_2 {})'
    assert shape(found)[1:] == [
        f"assistant:  {called}",
        "tool(call_1): a.txt",
        "tool(call_2): ok",
        "assistant: done",
        "user: a task ended",
    ]
    assert found.messages[1].reasoning == "hm"
    assert [(one.at, one.summary) for one in found.compactions] == [(5, "so far")]
    assert (found.format, found.title, found.model) == ("antigravity", "list", "Model 3.5 (Low)")
    assert dict(found.ignored) == {"CONVERSATION_HISTORY": 1, "blank assistant": 1}


def test_a_folder_names_the_session() -> None:
    name = "brain/s-1/.system_generated/logs/transcript.jsonl"

    assert parse_transcripts(jsonl(ASKED, CALLING), name=name)[0].id == "s-1"


def test_broken_lines_and_text_that_was_cut_off_are_named() -> None:
    clipped = step("VIEW_FILE", "1: a", truncated_fields=["content"])
    found = read(ASKED, '{"step_index', {"type": "USER_INPUT"}, CALLING, clipped)

    assert shape(found)[2:] == ["tool(call_1): 1: a"]
    assert [str(problem.placed) for problem in found.problems] == [
        "line 2: is not JSON: Unterminated string starting at column 2",
        "line 3: is JSON, but not a session record",
        "line 5: the program that wrote the file cut the text off",
    ]


def test_a_transcript_without_messages_is_refused_by_name() -> None:
    assert "an Antigravity transcript" in refusal(step("PLANNER_RESPONSE"), step("USER_INPUT", " "))
