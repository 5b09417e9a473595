"""What becomes of messages of the Vercel AI SDK."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.reading import parse_transcripts
from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, jsonl, read, refusal, shape

SHAPE = ["user: hi", 'assistant: ok +look(c1 {"at":"x"})', "tool(c1): seen", "assistant: done"]
CALL: JsonObject = {"toolCallId": "c1"}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def ui(role: str, *parts: JsonValue, **fields: JsonValue) -> JsonObject:
    return {"id": "m", "role": role, "parts": list(parts), "createdAt": TIME, **fields}


NEWER: list[JsonValue] = [
    ui("user", text("hi")),
    ui(
        "assistant",
        {"type": "step-start"},
        text("ok"),
        {
            "type": "tool-look",
            "state": "output-available",
            "input": {"at": "x"},
            "output": "seen",
            **CALL,
        },
        {"type": "step-start"},
        text("done"),
    ),
]
INVOCATION: JsonObject = {
    "state": "result",
    "toolName": "look",
    "args": {"at": "x"},
    "result": "seen",
    **CALL,
}
OLDER: list[JsonValue] = [
    {"role": "user", "content": "hi"},
    ui(
        "assistant",
        text("ok"),
        {"type": "tool-invocation", "toolInvocation": INVOCATION},
        text("done"),
        content="okdone",
    ),
]
SENT: list[JsonValue] = [
    {"role": "user", "content": [text("hi")]},
    {
        "role": "assistant",
        "content": [
            text("ok"),
            {"type": "tool-call", "toolName": "look", "input": {"at": "x"}, **CALL},
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolName": "look",
                "output": {"type": "text", "value": "seen"},
                **CALL,
            }
        ],
    },
    {"role": "assistant", "content": "done"},
]


@pytest.mark.parametrize(
    "file",
    [
        json.dumps(NEWER),
        json.dumps(OLDER),
        json.dumps(SENT),
        jsonl(*NEWER),
        json.dumps({"id": "talk", "messages": NEWER}),
        jsonl({"id": "talk", "messages": SENT}),
    ],
)
def test_every_version_gives_the_same_conversation(file: str) -> None:
    (found,) = parse_transcripts(file, name="talk.json")

    assert (found.id, found.format) == ("talk", "ai-sdk")
    assert shape(found) == SHAPE


def test_calls_beside_a_text_are_read() -> None:
    message: JsonObject = {"role": "assistant", "content": "done", "toolInvocations": [INVOCATION]}

    assert shape(read(json.dumps([message]))) == [
        'assistant:  +look(c1 {"at":"x"})',
        "tool(c1): seen",
        "assistant: done",
    ]


def test_calls_in_every_state_are_read() -> None:
    failed: JsonObject = {"state": "output-error", "errorText": "boom", "input": {}}
    open_call: JsonObject = {"type": "dynamic-tool", "toolName": "go", "state": "input-available"}

    found = read(
        json.dumps(
            [
                ui(
                    "assistant",
                    {"type": "tool-look", **failed, **CALL},
                    {**open_call, "toolCallId": "c2", "input": {"a": 1}},
                )
            ]
        )
    )

    assert shape(found) == [
        'assistant:  +look(c1 {}) +go(c2 {"a":1})',
        "tool(c1): boom",
    ]


def test_thinking_and_media_are_read_and_other_parts_counted() -> None:
    image: JsonObject = {"type": "file", "mediaType": "image/png", "url": "https://a/b.png"}
    sheet: JsonObject = {
        "type": "file",
        "mediaType": "text/csv",
        "url": "data:text/csv;base64,YQ==",
    }
    thought: JsonObject = {"type": "reasoning", "text": "hm"}

    found = read(
        json.dumps(
            [
                ui("user", text("see"), image, sheet, {"type": "data-weather", "data": 1}),
                ui("assistant", thought, text("ok")),
                ui("assistant", {"type": "step-start"}),
            ]
        )
    )

    assert shape(found) == ["user: see\n[image]\n[file]", "assistant: ok"]
    assert found.messages[1].reasoning == "hm"
    assert dict(found.ignored) == {"part/data-weather": 1, "blank assistant": 1}
    assert found.times[0] is not None


def test_what_is_no_message_is_reported() -> None:
    found = read(json.dumps([*NEWER, {"role": "ghost", "parts": []}]))

    assert [one.reason.code for one in found.problems] == ["file.neither"]
    assert "looks like Vercel AI SDK messages" in refusal(
        json.dumps([ui("assistant", {"type": "step-start"})])
    )
