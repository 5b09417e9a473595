"""What becomes of sessions of Google's Agent Development Kit."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.reading import parse_transcripts
from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import jsonl, read, refusal, shape


def event(
    author: str, *parts: JsonValue, invocation: str = "i1", **fields: JsonValue
) -> JsonObject:
    role = "user" if author == "user" else "model"
    about: JsonObject = {"author": author, "invocation_id": invocation, "timestamp": 1.5}
    return {**about, "content": {"role": role, "parts": list(parts)}, **fields}


def text(words: str) -> JsonObject:
    return {"text": words}


CALL: JsonObject = {"function_call": {"name": "look", "args": {"at": "x"}}}
SEEN: JsonObject = {"function_response": {"name": "look", "response": {"result": "seen"}}}
EVENTS: list[JsonValue] = [
    event("user", text("hi"), id="e1"),
    event("agent", CALL, id="e2"),
    event("agent", SEEN, id="e3"),
    event("agent", text("done"), id="e4"),
]
SHAPE = [
    "user: hi",
    'assistant:  +look(call_1_0 {"at":"x"})',
    "tool(call_1_0): seen",
    "assistant: done",
]


def session(*events: JsonValue, **fields: JsonValue) -> str:
    about: JsonObject = {"id": "s-1", "app_name": "app", "user_id": "u", "state": {}}
    return json.dumps({**about, "events": list(events), **fields})


@pytest.mark.parametrize("file", [session(*EVENTS), json.dumps(EVENTS), jsonl(*EVENTS)])
def test_calls_without_ids_are_paired_in_every_layout(file: str) -> None:
    (found,) = parse_transcripts(file, name="s-1.json")

    assert (found.id, found.format) == ("s-1", "google-adk")
    assert shape(found) == SHAPE
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_id"]
    assert found.times[0] is not None


def test_javascript_spelling_is_read() -> None:
    called: JsonObject = {"functionCall": {"id": "c1", "name": "look", "args": {}}}
    seen: JsonObject = {"functionResponse": {"id": "c1", "name": "look", "response": {"a": 1}}}
    events: JsonValue = [
        {"author": "agent", "invocationId": "i", "content": {"role": role, "parts": [part]}}
        for role, part in (("model", called), ("user", seen))
    ]

    found = read(json.dumps({"id": "s", "appName": "a", "userId": "u", "events": events}))

    assert shape(found) == ["assistant:  +look(c1 {})", 'tool(c1): {"a":1}']


def test_usage_and_model_stand_at_their_answer() -> None:
    counted: JsonObject = {
        "prompt_token_count": 100,
        "cached_content_token_count": 60,
        "candidates_token_count": 5,
        "thoughts_token_count": 2,
    }
    answer = event("agent", text("ok"), usage_metadata=counted, model_version="gemini-test")

    found = read(session(event("user", text("hi")), answer))

    [usage] = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (40, 60, 7)
    assert (usage.after, usage.model, found.model) == (1, "gemini-test", "gemini-test")


def test_partial_events_and_events_without_content_are_counted() -> None:
    quiet = event("agent", content=None, actions={"state_delta": {"a": 1}})
    failed = event("agent", content=None, error_code="X")

    found = read(session(*EVENTS, event("agent", text("do"), partial=True), quiet, failed))

    assert len(found.messages) == len(SHAPE)
    assert dict(found.ignored) == {"partial event": 1, "event without content": 1, "error": 1}


def test_rewound_invocations_are_left_out() -> None:
    again = event("user", content=None, actions={"rewind_before_invocation_id": "i2"})
    events = [
        event("user", text("a"), invocation="i1"),
        event("user", text("b"), invocation="i2"),
        event("agent", text("c"), invocation="i2"),
        again,
        event("user", text("d"), invocation="i3"),
    ]

    found = read(session(*events))

    assert shape(found) == ["user: a", "user: d"]
    assert dict(found.ignored)["left branch"] == 2


def test_compactions_and_what_was_spoken_are_read() -> None:
    compacted: JsonObject = {"compaction": {"compacted_content": {"parts": [text("so far")]}}}
    spoken = event("agent", content=None, output_transcription={"text": "aloud", "finished": True})

    found = read(session(EVENTS[0], event("user", content=None, actions=compacted), spoken))

    assert [(one.at, one.summary) for one in found.compactions] == [(1, "so far")]
    assert shape(found) == ["user: hi", "assistant: aloud"]


def test_the_cases_of_an_eval_set_are_conversations() -> None:
    turn: JsonObject = {
        "user_content": {"role": "user", "parts": [text("hi")]},
        "intermediate_data": {
            "tool_uses": [{"name": "look", "args": {}}],
            "tool_responses": [{"name": "look", "response": {"result": "seen"}}],
        },
        "final_response": {"role": "model", "parts": [text("done")]},
    }
    cases: JsonValue = [{"eval_id": "one", "conversation": [turn]}, {"eval_id": "bad"}]

    [found] = parse_transcripts(
        json.dumps({"eval_set_id": "e", "eval_cases": cases}), name="e.json"
    )

    assert found.id == "one"
    assert [one.role for one in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert [one.reason.code for one in found.problems] == ["file.neither"]


def test_tools_and_model_of_logged_requests_are_read() -> None:
    request: JsonObject = {
        "model": "gemini-old",
        "config": {"tools": [{"function_declarations": [{"name": "look"}]}]},
    }

    found = read(session(EVENTS[0], event_logs=[{"model_request": request}]))

    assert found.model == "gemini-old"
    assert found.tools == [{"type": "function", "function": {"name": "look"}}]


def test_what_cannot_be_read_is_reported_and_a_session_without_events_named() -> None:
    found = read(session(EVENTS[0], 3, event("agent", {"function_call": {"args": {}}})))

    assert found.problems[0].reason.code == "file.no_record"
    assert len(found.problems) == 2
    assert "this looks like a Google ADK session" in refusal(session())
