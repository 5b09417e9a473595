"""What becomes of OpenHands' events, those of its SDK, and its logs of model calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxcore.formats.reading import find_transcripts, parse_transcripts, read_transcripts
from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, jsonl, read, refusal, shape

FUNCTION: JsonObject = {"name": "bash", "arguments": '{"command": "ls"}'}
CALL: JsonObject = {"id": "c1", "type": "function", "function": FUNCTION}
SHAPE = [
    "system: rules",
    "user: fix it",
    'assistant: I look. +bash(c1 {"command": "ls"})',
    "tool(c1): a.py",
    "assistant: done",
]


def action(at: int, kind: str, source: str = "agent", **args: JsonValue) -> JsonObject:
    return {"id": at, "timestamp": TIME, "source": source, "action": kind, "args": args}


def observation(at: int, kind: str, content: str, cause: int | None = None) -> JsonObject:
    about: JsonObject = {"id": at, "timestamp": TIME, "source": "environment", "cause": cause}
    return {**about, "observation": kind, "content": content, "extras": {}}


def called(call_id: str = "c1", **response: JsonValue) -> JsonObject:
    """What is beside an action that a tool call of the model was, and its result."""
    said: JsonObject = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
    about: JsonObject = {"id": "r1", "model": "m-1", "choices": [{"message": said}]}
    return {
        "function_name": "bash",
        "tool_call_id": call_id,
        "model_response": {**about, **response},
    }


USAGE: JsonObject = {
    "prompt_tokens": 100,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 60},
}
EVENTS: list[JsonValue] = [
    action(
        0, "system", content="rules", tools=[{"type": "function", "function": {"name": "bash"}}]
    ),
    action(1, "message", "user", content="fix it"),
    observation(2, "agent_state_changed", ""),
    {**action(3, "run", command="ls"), "tool_call_metadata": called(usage=USAGE)},
    {**observation(4, "run", "a.py", cause=3), "tool_call_metadata": called()},
    action(5, "message", content="done"),
]


@pytest.mark.parametrize(
    "file",
    [
        json.dumps(EVENTS),
        jsonl(*EVENTS),
        json.dumps({"trajectory": EVENTS}),
        jsonl({"instance_id": "t", "history": EVENTS}),
        json.dumps({"history": [EVENTS[0:2], EVENTS[2:4], EVENTS[4:6]]}),
    ],
)
def test_every_layout_of_events_gives_the_same_conversation(file: str) -> None:
    (found,) = parse_transcripts(file, name="t.json")

    assert (found.id, found.format, found.model) == ("t", "openhands", "m-1")
    assert shape(found) == SHAPE
    assert found.ignored == (("observation/agent_state_changed", 1),)
    assert [tool["function"] for tool in found.tools] == [{"name": "bash"}]
    [usage] = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.after) == (40, 60, 2)


def test_actions_without_a_tool_call_are_calls_of_their_name() -> None:
    found = read(
        json.dumps(
            [
                action(1, "message", "user", content="fix it"),
                action(2, "run", command="ls", thought="I look."),
                observation(3, "run", "a.py", cause=2),
                action(4, "run", "user", command="pwd"),
                observation(5, "run", "/", cause=4),
            ]
        )
    )

    assert shape(found) == [
        "user: fix it",
        'assistant: I look. +run(event-2 {"command":"ls"})',
        "tool(event-2): a.py",
        "user: pwd",
        "user: /",
    ]


def test_events_of_early_versions_are_read() -> None:
    old: JsonObject = {"action_risk": None}
    history: JsonValue = [
        {"action": "message", "content": "fix it", "wait_for_response": False, **old},
        {"action": "run", "command": "ls", "thought": "I look.", **old},
        {"observation": "run", "content": "a.py", "exit_code": 0},
        {"action": "message", "content": "done", **old},
    ]

    found = read(json.dumps({"history": history, "issue": {}}))

    assert [(one.role, one.text) for one in found.messages] == [
        ("user", "fix it"),
        ("assistant", "I look."),
        ("tool", "a.py"),
        ("assistant", "done"),
    ]
    assert found.messages[1].calls[0].name == "run"
    assert found.messages[2].answers == found.messages[1].calls[0].id


def test_calls_of_one_response_are_one_answer() -> None:
    other: JsonObject = {"id": "c2", "function": {"name": "bash", "arguments": "{}"}}
    said: JsonObject = {"content": "both", "tool_calls": [CALL, other]}
    choices: JsonValue = [{"message": said}]
    events: list[JsonValue] = []
    for at, call_id in ((1, "c1"), (3, "c2")):
        metadata = called(call_id, choices=choices)
        events.append({**action(at, "run"), "tool_call_metadata": metadata})
        events.append({**observation(at + 1, "run", call_id), "tool_call_metadata": metadata})

    found = read(json.dumps(events))

    assert shape(found) == [
        'assistant: both +bash(c1 {"command": "ls"}) +bash(c2 {})',
        "tool(c1): c1",
        "tool(c2): c2",
    ]


def test_condensations_knowledge_and_images_are_read() -> None:
    recall: JsonObject = {
        "repo_instructions": "Use tabs.",
        "microagent_knowledge": [{"content": "git"}],
    }
    found = read(
        json.dumps(
            [
                action(1, "message", "user", content="see", image_urls=["https://a/b.png"]),
                {**observation(2, "recall", "Added"), "extras": recall},
                action(3, "condensation", summary="so far", forgotten_event_ids=[1]),
                observation(4, "error", "boom"),
            ]
        )
    )

    assert shape(found) == ["user: see\n[image]", "user: Use tabs.\n\ngit", "user: boom"]
    assert [(one.at, one.summary) for one in found.compactions] == [(2, "so far")]


def test_usage_beside_a_message_is_read_once() -> None:
    counts: JsonObject = {
        "model": "m-1",
        "prompt_tokens": 50,
        "completion_tokens": 2,
        "cache_read_tokens": 20,
        "cache_write_tokens": 10,
        "response_id": "r1",
    }
    metrics: JsonObject = {"token_usages": [counts]}
    events = [action(at, "message", content="ok") for at in (1, 2)]

    found = read(json.dumps([{**event, "llm_metrics": metrics} for event in events]))

    [usage] = found.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (20, 20, 10)


def test_a_folder_of_events_is_one_conversation(tmp_path: Path) -> None:
    events = tmp_path / "abc" / "events"
    events.mkdir(parents=True)
    for at, event in enumerate(EVENTS):
        (events / f"{at}.json").write_text(json.dumps(event))
    (events / "6.json").write_text("{")
    (tmp_path / "abc" / "metadata.json").write_text('{"title": "Repair", "llm_model": "m-2"}')

    [file] = find_transcripts(tmp_path)
    [found] = read_transcripts(file)

    assert (found.id, found.title) == ("abc", "Repair")
    assert shape(found) == SHAPE
    [problem] = found.problems
    assert "6.json" in str(problem.reason)


def sdk(at: int, kind: str, source: str = "agent", **fields: JsonValue) -> JsonObject:
    return {"id": f"id-{at}", "timestamp": TIME, "source": source, "kind": kind, **fields}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def said(role: str, words: str) -> JsonObject:
    return {"role": role, "content": [text(words)]}


SDK_EVENTS: list[JsonValue] = [
    sdk(0, "SystemPromptEvent", system_prompt=text("rules"), tools=[]),
    sdk(1, "MessageEvent", "user", llm_message=said("user", "fix it")),
    sdk(
        2,
        "ActionEvent",
        thought=[text("I look.")],
        reasoning_content="hm",
        llm_response_id="r1",
        tool_call={"id": "c1", **FUNCTION},
        tool_name="bash",
        tool_call_id="c1",
    ),
    sdk(
        3,
        "ObservationEvent",
        "environment",
        observation={"content": [text("a.py")]},
        tool_name="bash",
        tool_call_id="c1",
    ),
    sdk(4, "MessageEvent", llm_message=said("assistant", "done"), llm_response_id="r2"),
]


@pytest.mark.parametrize(
    "file",
    [
        json.dumps(SDK_EVENTS),
        jsonl(*SDK_EVENTS),
        json.dumps({"items": SDK_EVENTS}),
        jsonl({"instance_id": "t", "history": SDK_EVENTS}),
    ],
)
def test_events_of_the_sdk_are_read_in_every_layout(file: str) -> None:
    (found,) = parse_transcripts(file, name="t.json")

    assert found.format == "openhands-sdk"
    assert shape(found) == SHAPE
    assert found.messages[2].reasoning == "hm"


def test_other_events_of_the_sdk_are_read_or_counted() -> None:
    found = read(
        json.dumps(
            [
                *SDK_EVENTS[:3],
                sdk(
                    3, "AgentErrorEvent", error="no such tool", tool_name="bash", tool_call_id="c1"
                ),
                sdk(4, "Condensation", "environment", summary="so far", forgotten_event_ids=[]),
                sdk(5, "PauseEvent", "user"),
                sdk(6, "ACPToolCallEvent", tool_call_id="x", title="Edit", status="in_progress"),
                sdk(
                    7,
                    "ACPToolCallEvent",
                    tool_call_id="x",
                    title="Edit",
                    status="completed",
                    raw_input={"p": 1},
                    raw_output="ok",
                ),
                5,
            ]
        )
    )

    assert shape(found)[3:] == [
        "tool(c1): no such tool",
        'assistant:  +Edit(x {"p":1})',
        "tool(x): ok",
    ]
    assert [(one.at, one.summary) for one in found.compactions] == [(4, "so far")]
    assert dict(found.ignored) == {"PauseEvent": 1, "ACPToolCallEvent": 1}
    assert [one.reason.code for one in found.problems] == ["file.no_record"]


def test_a_folder_of_the_sdk_has_usage_and_branch_in_its_state(tmp_path: Path) -> None:
    events = tmp_path / "abc" / "events"
    events.mkdir(parents=True)
    other = sdk(5, "MessageEvent", llm_message=said("assistant", "or"), parent_id="id-3")
    for at, event in enumerate([*SDK_EVENTS, other]):
        (events / f"event-{at:05}-0000000{at}.json").write_text(json.dumps(event))
    counts: JsonObject = {"prompt_tokens": 30, "completion_tokens": 2, "response_id": "r1"}
    state: JsonObject = {
        "id": "conv",
        "agent": {"llm": {"model": "m-1"}},
        "leaf_event_id": "id-4",
        "stats": {"usage_to_metrics": {"agent": {"token_usages": [counts]}}},
    }
    (tmp_path / "abc" / "base_state.json").write_text(json.dumps(state))

    [file] = find_transcripts(tmp_path)
    [found] = read_transcripts(file)

    assert (found.id, found.model) == ("conv", "m-1")
    assert shape(found) == SHAPE
    assert found.ignored == (("left branch", 1),)
    assert [(one.input_tokens, one.after) for one in found.usage] == [(30, 2)]


ASKED: list[JsonValue] = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "fix it"},
]
ANSWER: JsonObject = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
RESPONSE: JsonObject = {
    "id": "r1",
    "model": "m-1",
    "choices": [{"message": ANSWER}],
    "usage": USAGE,
}


def log(**fields: JsonValue) -> str:
    about: JsonObject = {"messages": ASKED, "kwargs": {}, "timestamp": 5.0, "cost": 0.1}
    return json.dumps({**about, "response": RESPONSE, **fields})


def test_a_logged_call_is_its_request_and_its_answer() -> None:
    tool: JsonObject = {"type": "function", "function": {"name": "bash"}}

    found = read(log(kwargs={"tools": [tool]}))

    assert (found.id, found.format, found.model) == ("r1", "openhands-log", "m-1")
    assert shape(found) == SHAPE[:3]
    assert (len(found.tools), found.times[0] is None, found.times[2] is None) == (1, True, False)
    assert [(one.input_tokens, one.after) for one in found.usage] == [(40, 2)]


def test_of_calls_written_as_text_the_other_form_is_read() -> None:
    written: list[JsonValue] = [*ASKED, {"role": "assistant", "content": "<function=bash>"}]
    calls: list[JsonValue] = [*ASKED, ANSWER]
    said: JsonObject = {**RESPONSE, "choices": [{"message": {"role": "assistant", "content": "t"}}]}

    found = read(log(messages=written, fncall_messages=calls, response=said))
    raw = read(log(messages=ASKED, response=said, raw_response=RESPONSE))
    alone = read(log(messages=written, response=said))

    assert [bool(one.calls) for one in found.messages] == [False, False, True, False]
    assert shape(raw) == SHAPE[:3]
    assert alone.messages[2].text == "<function=bash>"


def test_a_logged_call_of_the_responses_api_is_read() -> None:
    item: JsonObject = {"type": "function_call", "call_id": "c1", **FUNCTION}
    response: JsonObject = {"id": "r", "output": [item], "usage": {"input_tokens": 4}}
    text = json.dumps(
        {
            "instructions": "rules",
            "input": [{"role": "user", "content": "fix it"}],
            "kwargs": {},
            "latency_sec": 1.0,
            "response": response,
        }
    )

    assert shape(read(text)) == [*SHAPE[:2], 'assistant:  +bash(c1 {"command": "ls"})']


def test_a_failed_call_is_read_and_files_that_cannot_be_are_named() -> None:
    failed = json.loads(log(error={"message": "no"}))
    del failed["response"]

    found = read(json.dumps(failed))

    assert (shape(found), found.ignored) == (SHAPE[:2], (("error", 1),))
    assert "looks like OpenHands events" in refusal(json.dumps([observation(1, "null", "")]))
    assert "looks like events of the OpenHands SDK" in refusal(json.dumps([sdk(1, "PauseEvent")]))
    assert "looks like an OpenHands log" in refusal(log(messages=[3], response={}))
