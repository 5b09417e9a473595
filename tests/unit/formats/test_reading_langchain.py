"""What becomes of LangChain messages and LangGraph states."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.reading import parse_transcripts
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.values import Media, Text
from tests.unit.formats.transcript_files import jsonl, read, refusal, shape

CALL: JsonObject = {"name": "look", "args": {"at": "x"}, "id": "c1", "type": "tool_call"}
SHAPE = [
    "user: hi",
    'assistant: ok +look(c1 {"at":"x"})',
    "tool(c1): seen",
    "assistant: done",
]


def constructor(name: str, **fields: JsonValue) -> JsonObject:
    """A message as `dumpd` writes it."""
    path: JsonValue = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}


def wrapped(kind: str, **fields: JsonValue) -> JsonObject:
    """A message as `messages_to_dict` writes it."""
    return {"type": kind, "data": {"type": kind, **fields}}


def flat(kind: str, **fields: JsonValue) -> JsonObject:
    """A message as `model_dump` writes it."""
    return {"type": kind, "additional_kwargs": {}, "response_metadata": {}, **fields}


DUMPED: list[JsonValue] = [
    constructor("HumanMessage", content="hi"),
    constructor("AIMessage", content="ok", tool_calls=[CALL]),
    constructor("ToolMessage", content="seen", tool_call_id="c1"),
    constructor("AIMessageChunk", content="done"),
]
WRAPPED: list[JsonValue] = [
    wrapped("human", content="hi"),
    wrapped("ai", content="ok", tool_calls=[CALL]),
    wrapped("tool", content="seen", tool_call_id="c1"),
    wrapped("ai", content="done"),
]
FLAT: list[JsonValue] = [
    flat("human", content="hi"),
    flat("ai", content="ok", tool_calls=[CALL]),
    flat("tool", content="seen", tool_call_id="c1"),
    flat("ai", content="done"),
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(DUMPED),
        json.dumps(WRAPPED, indent=1),
        jsonl(*WRAPPED),
        json.dumps(FLAT),
        json.dumps({"messages": DUMPED}),
        json.dumps({"values": {"messages": FLAT}, "next": []}),
        json.dumps({"checkpoint": {"channel_values": {"messages": DUMPED}}}),
        json.dumps({"lc": 1, "type": "constructor", "id": ["P"], "kwargs": {"messages": DUMPED}}),
    ],
)
def test_every_form_gives_the_same_conversation(text: str) -> None:
    (found,) = parse_transcripts(text, name="talk.json")

    assert found.format == "langchain"
    assert shape(found) == SHAPE


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "x"}}]},
        {"content": "", "tool_calls": [CALL]},
        {"content": [{"type": "tool_call", "id": "c1", "name": "look", "args": {"at": "x"}}]},
        {
            "content": "",
            "additional_kwargs": {
                "tool_calls": [
                    {"id": "c1", "function": {"name": "look", "arguments": '{"at":"x"}'}}
                ]
            },
        },
    ],
)
def test_calls_are_read_once_wherever_they_stand(fields: JsonObject) -> None:
    found = read(json.dumps([wrapped("human", content="hi"), wrapped("ai", **fields)]))

    [call] = found.messages[1].calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("c1", "look", {"at": "x"})


def test_a_call_that_could_not_be_parsed_keeps_its_text() -> None:
    bad: JsonObject = {"name": "look", "args": "{'at", "id": "c1", "error": "?"}
    found = read(json.dumps([wrapped("ai", content="", invalid_tool_calls=[bad])]))

    assert found.messages[0].calls[0].arguments == "{'at"


def test_thinking_is_read_from_every_place() -> None:
    block: JsonObject = {"type": "reasoning", "reasoning": "one"}
    summary: JsonObject = {"type": "reasoning", "summary": [{"text": "two"}]}
    signed: JsonObject = {"type": "thinking", "thinking": "three", "signature": "s"}
    beside: JsonObject = {"reasoning_content": "four"}
    content: JsonValue = [block, summary, signed, {"type": "text", "text": "said"}]

    found = read(json.dumps([wrapped("ai", content=content, additional_kwargs=beside)]))

    assert found.messages[0].reasoning == "one\ntwo\nfour\nthree"
    assert found.messages[0].text == "said"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": "QQ==", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "QQ==", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
    ],
)
def test_images_are_read_in_every_form(block: JsonObject) -> None:
    found = read(json.dumps([wrapped("human", content=["see", block])]))

    text, image = found.messages[0].content
    assert isinstance(text, Text)
    assert isinstance(image, Media)
    assert json.loads(image.raw)["image_url"]["url"] == "data:image/png;base64,QQ=="


def test_what_langchain_counted_excludes_what_was_cached() -> None:
    counted: JsonObject = {
        "input_tokens": 100,
        "output_tokens": 7,
        "input_token_details": {"cache_read": 60, "cache_creation": 30},
    }
    answer = wrapped(
        "ai", content="ok", usage_metadata=counted, response_metadata={"model_name": "m-1"}
    )

    found = read(json.dumps([wrapped("human", content="hi"), answer]))

    [usage] = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (10, 60, 30)
    assert (usage.output_tokens, usage.after, usage.model) == (7, 1, "m-1")
    assert found.model == "m-1"


def test_what_only_the_provider_counted_is_read() -> None:
    metadata: JsonObject = {"token_usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    found = read(json.dumps([wrapped("ai", content="ok", response_metadata=metadata)]))

    assert [(one.input_tokens, one.output_tokens) for one in found.usage] == [(9, 2)]


def test_a_summary_of_the_middleware_is_a_compaction() -> None:
    summary = wrapped("human", content="so far", additional_kwargs={"lc_source": "summarization"})

    found = read(json.dumps([summary, *WRAPPED]))

    assert shape(found) == SHAPE
    assert [(one.at, one.summary) for one in found.compactions] == [(0, "so far")]


def test_of_several_states_of_a_thread_the_longest_is_read() -> None:
    config: JsonObject = {"configurable": {"thread_id": "t-1"}}
    states: list[JsonValue] = [
        {"config": config, "values": {"messages": FLAT[:count]}} for count in (4, 2, 1)
    ]
    other: JsonObject = {"thread_id": "t-2", "values": {"messages": FLAT[:1]}}

    first, second = parse_transcripts(json.dumps([*states, other]), name="history.json")
    lone = read(jsonl({"values": {"messages": FLAT[:1]}}, {"values": {"messages": FLAT}}))

    assert (first.id, second.id) == ("t-1", "t-2")
    assert shape(first) == shape(lone) == SHAPE
    assert first.ignored == (("other state", 2),)


def test_the_answer_of_a_recorded_call_is_read_with_its_messages() -> None:
    run: JsonObject = {
        "inputs": {"messages": [DUMPED[:3]]},
        "outputs": {"generations": [[{"text": "done", "message": DUMPED[3]}]]},
    }

    assert shape(read(json.dumps(run))) == SHAPE


def test_other_messages_are_counted_or_reported() -> None:
    found = read(json.dumps([*WRAPPED, wrapped("remove", content=""), {"type": "human"}, 3]))

    assert shape(found) == SHAPE
    assert found.ignored == (("remove", 1),)
    assert [one.reason.code for one in found.problems] == ["file.neither", "file.neither"]


def test_a_file_without_a_readable_message_is_named() -> None:
    bad: JsonObject = {"tool_calls": [{"function": {}}]}
    said = refusal(json.dumps([wrapped("ai", content="", additional_kwargs=bad)]))

    assert "this looks like LangChain messages" in said
