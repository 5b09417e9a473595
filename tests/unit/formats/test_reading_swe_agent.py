"""What becomes of trajectories of SWE-agent and mini-swe-agent."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.reading import parse_transcripts
from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, refusal, shape


def entry(role: str, content: JsonValue, agent: str = "main", **fields: JsonValue) -> JsonObject:
    return {"role": role, "content": content, "agent": agent, **fields}


TEXTS: list[JsonValue] = [
    entry("system", "rules"),
    entry("user", "fix it"),
    entry("assistant", "I look.\n```\nls\n```", thought="I look.", action="ls"),
    entry("user", "a.py"),
]
FUNCTION: JsonObject = {"name": "bash", "arguments": '{"command": "ls"}'}
CALL: JsonObject = {"id": "c1", "type": "function", "function": FUNCTION}
CALLS: list[JsonValue] = [
    entry("user", "fix it", message_type="observation"),
    entry("assistant", "I look.", tool_calls=[CALL], thought="I look.", action="ls"),
    entry("tool", "a.py", tool_call_ids=["c1"]),
]
REPLAY: JsonObject = {
    "problem_statement": {"id": "task-1"},
    "agent": {"model": {"name": "m-1"}},
}


def trajectory(history: list[JsonValue], **fields: JsonValue) -> str:
    return json.dumps({"environment": "e", "trajectory": [], "history": history, **fields})


def test_a_history_of_text_is_read_as_it_was_sent() -> None:
    found = read(trajectory(TEXTS), name="task.traj")

    assert (found.id, found.title, found.format) == ("task", "fix it", "swe-agent")
    assert [one.role for one in found.messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("config", [REPLAY, json.dumps(REPLAY)])
def test_calls_task_and_model_are_read(config: JsonValue) -> None:
    found = read(trajectory(CALLS, replay_config=config))

    assert (found.id, found.model) == ("task-1", "m-1")
    assert shape(found) == [
        "user: fix it",
        'assistant: I look. +bash(c1 {"command": "ls"})',
        "tool(c1): a.py",
    ]


def test_thinking_and_lists_of_blocks_are_read() -> None:
    blocks: JsonValue = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    content: JsonValue = [{"type": "text", "text": "ok"}]

    found = read(trajectory([*CALLS, entry("assistant", content, thinking_blocks=blocks)]))

    assert (found.messages[-1].text, found.messages[-1].reasoning) == ("ok", "hm")


def test_each_agent_has_a_conversation_of_its_own() -> None:
    helper: list[JsonValue] = [entry("user", "help", "helper"), entry("assistant", "ok", "helper")]

    main, sub = parse_transcripts(trajectory([*TEXTS, *helper]), name="task.traj")

    assert (sub.id, sub.parent_id, len(main.messages)) == ("task/helper", "task", 4)
    assert shape(sub) == ["user: help", "assistant: ok"]


def test_the_chosen_attempt_is_read_once() -> None:
    chosen: JsonObject = {"history": TEXTS, "trajectory": []}
    other: JsonObject = {"history": CALLS, "trajectory": []}
    text = json.dumps({**chosen, "attempts": [other, chosen], "info": {}})

    found = parse_transcripts(text, name="task.traj")

    assert [(one.id, len(one.messages)) for one in found] == [("task", 4), ("task#2", 3)]


def test_a_demonstration_is_read_but_does_not_name_the_conversation() -> None:
    demo = entry("user", "an example", is_demo=True)

    found = read(trajectory([demo, *TEXTS]))

    assert (found.title, len(found.messages)) == ("fix it", 5)


def test_steps_without_a_history_are_read() -> None:
    step: JsonObject = {
        "response": "```ls```",
        "observation": "a.py",
        "action": "ls",
        "thought": "",
    }
    sent: JsonValue = [{"role": "system", "content": "rules"}, {"role": "user", "content": "fix"}]

    found = read(json.dumps({"trajectory": [{**step, "query": sent}, step], "info": {}}))

    assert shape(found)[:4] == ["system: rules", "user: fix", "assistant: ```ls```", "user: a.py"]
    assert len(found.messages) == 6


def test_a_bad_entry_is_reported_and_the_rest_read() -> None:
    found = read(trajectory([*CALLS, entry("ghost", "x"), 5]))

    assert len(found.messages) == 3
    assert [one.reason.code for one in found.problems][1] == "file.neither"
    said = refusal(trajectory([entry("ghost", "x")]))
    assert "this looks like a SWE-agent trajectory" in said


USAGE: JsonObject = {"prompt_tokens": 20, "completion_tokens": 3}
CONFIG: JsonObject = {"model": {"model_name": "m-1"}, "agent_type": "minisweagent.agents.X"}


def mini(*messages: JsonValue, **fields: JsonValue) -> str:
    about: JsonObject = {"info": {"config": CONFIG}, "trajectory_format": "mini-swe-agent-1"}
    return json.dumps({**about, "messages": list(messages), **fields})


def test_a_trajectory_of_mini_swe_agent_has_its_model_and_usage() -> None:
    response: JsonObject = {"id": "r1", "model": "m-1", "usage": USAGE}
    answer: JsonObject = {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
        "extra": {"response": response, "timestamp": 2.0, "cost": 0.1},
    }
    done: JsonObject = {"role": "exit", "content": "patch", "extra": {"submission": "patch"}}
    seen: JsonObject = {"role": "tool", "content": "a.py", "tool_call_id": "c1"}

    found = read(mini({"role": "user", "content": "fix it"}, answer, seen, done))

    assert (found.format, found.model) == ("mini-swe-agent", "m-1")
    assert shape(found)[1:] == ['assistant:  +bash(c1 {"command": "ls"})', "tool(c1): a.py"]
    assert [(one.call_id, one.input_tokens, one.after) for one in found.usage] == [("r1", 20, 1)]
    assert found.ignored == (("exit", 1),)


def test_responses_and_their_outputs_are_read() -> None:
    call: JsonObject = {"type": "function_call", "call_id": "c1", **FUNCTION}
    response: JsonObject = {
        "object": "response",
        "id": "r1",
        "output": [call],
        "usage": {"input_tokens": 9, "output_tokens": 1},
        "extra": {},
    }
    output: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}

    found = read(mini({"role": "user", "content": "fix it"}, response, {**output, "extra": {}}))

    assert shape(found)[1:] == ['assistant:  +bash(c1 {"command": "ls"})', "tool(c1): a.py"]
    assert [one.input_tokens for one in found.usage] == [9]


def test_a_mere_list_is_told_by_the_commands_in_it() -> None:
    task = "When done: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    talk: list[JsonValue] = [
        {"role": "user", "content": task},
        {"role": "user", "content": "fix"},
        {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
    ]

    assert read(json.dumps(talk)).format == "mini-swe-agent"
    assert read(json.dumps(talk[:2])).format == "openai"


def test_bad_messages_of_mini_swe_agent_are_reported() -> None:
    found = read(mini({"role": "user", "content": "a"}, {"role": "ghost"}, 4))

    assert len(found.problems) == 2
    assert "this looks like a mini-swe-agent trajectory" in refusal(mini({"role": "ghost"}))
