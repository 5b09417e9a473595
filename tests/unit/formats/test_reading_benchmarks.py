"""What becomes of the files of tau-bench, of the function-calling leaderboard and of ToolBench."""

from __future__ import annotations

import json

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, shape

ASKED: JsonObject = {"role": "user", "content": "cancel it"}
CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "cancel", "arguments": '{"id":1}'},
}
TRAJECTORY: list[JsonValue] = [
    {"role": "system", "content": "policy"},
    ASKED,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"},
]
SHOWN = [
    "system: policy",
    "user: cancel it",
    'assistant:  +cancel(c1 {"id":1})',
    "tool(c1): done",
]


def test_a_result_of_tau_bench_is_named_after_its_task() -> None:
    found = read_all([{"task_id": 3, "trial": 1, "reward": 1.0, "info": {}, "traj": TRAJECTORY}])

    assert [(one.format, one.id) for one in found] == [("tau-bench", "task-3-trial-1")]
    assert shape(found[0]) == SHOWN


def test_simulations_of_tau2_bench_leave_the_users_own_calls_out() -> None:
    call: JsonObject = {"id": "c1", "name": "cancel", "arguments": {"id": 1}}
    counted: JsonObject = {"prompt_tokens": 5, "completion_tokens": 2}
    messages: list[JsonValue] = [
        {**ASKED, "turn_idx": 0, "timestamp": "2026-03-01T10:00:00"},
        {"role": "assistant", "content": "", "tool_calls": [call], "usage": counted},
        {"role": "tool", "id": "c1", "content": "done", "requestor": "assistant"},
        {"role": "user", "content": None, "tool_calls": [{**call, "requestor": "user"}]},
        {"role": "tool", "id": "c1", "content": "shown", "requestor": "user"},
    ]

    found = read({"tasks": [], "simulations": [{"id": "s", "task_id": "t", "messages": messages}]})

    assert (found.id, shape(found)) == ("s", SHOWN[1:])
    assert [(one.after, one.input_tokens, one.output_tokens) for one in found.usage] == [(1, 5, 2)]
    assert found.ignored == (("call by the user", 1), ("result of a call by the user", 1))
    assert found.times[0] is not None


def test_examples_as_text_show_results_of_calls_that_are_not_there() -> None:
    text = "user: cancel it\nassistant: None\ntool: done\nassistant: It is\ncancelled."

    found = read({"messages_display": text})

    assert shape(found) == [
        "user: cancel it",
        "assistant:  +unknown(call_1 {})",
        "tool(call_1): done",
        "assistant: It is\ncancelled.",
    ]
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_calls_shown"]


def test_a_question_has_its_turns_and_functions() -> None:
    function: JsonObject = {"name": "ls", "parameters": {"type": "dict", "properties": {}}}
    found = read_all(
        {"id": "multi_1", "question": [[ASKED], [], [ASKED]], "function": [function]},
        {"id": "simple_1", "question": [ASKED], "function": function},
    )

    assert [(one.format, one.id, len(one.messages)) for one in found] == [
        ("bfcl", "multi_1", 2),
        ("bfcl", "simple_1", 1),
    ]
    assert found[0].tools == found[1].tools == [{"type": "function", "function": function}]


def test_the_log_of_a_result_has_questions_and_outputs() -> None:
    log: list[JsonValue] = [
        [{"role": "state_info", "content": {}}],
        {
            "begin_of_turn_query": [ASKED],
            "step_0": [
                {"role": "assistant", "content": "…", "reasoning_content": "hm"},
                {"role": "handler_log", "content": "ok"},
                {"role": "tool", "content": "done"},
            ],
            "step_1": [{"role": "assistant", "content": "it is cancelled"}],
        },
    ]
    answers: list[JsonValue] = [[[{"cancel": '{"id":1}'}], "it is cancelled"]]
    found = read(
        {
            "id": "multi_1",
            "result": answers,
            "inference_log": log,
            "input_token_count": [[10, 20]],
            "output_token_count": [[3, 4]],
        }
    )

    assert shape(found) == [
        "user: cancel it",
        'assistant:  +cancel(call_1 {"id":1})',
        "tool(call_1): done",
        "assistant: it is cancelled",
    ]
    assert [(one.after, one.input_tokens, one.output_tokens) for one in found.usage] == [
        (1, 10, 3),
        (3, 20, 4),
    ]
    assert found.messages[1].reasoning == "hm"
    assert found.ignored == (("handler_log", 1),)


def test_calls_of_a_prompted_model_are_those_that_were_decoded() -> None:
    steps: list[JsonValue] = [
        {"role": "assistant", "content": "[cancel(id=1)]"},
        {"role": "handler_log", "content": "", "model_response_decoded": ["cancel(id=1)"]},
        {"role": "tool", "content": "done"},
    ]
    log: list[JsonValue] = [{"begin_of_turn_query": [ASKED], "step_0": steps}]

    found = read({"id": "m", "result": [["[cancel(id=1)]"]], "inference_log": log})

    assert shape(found)[1:] == [
        'assistant: [cancel(id=1)] +cancel(call_1 {"id":1})',
        "tool(call_1): done",
    ]


def test_a_result_without_a_log_is_the_answer_alone() -> None:
    text, calls = read_all(
        {"id": "simple_1", "result": "[ls()]", "latency": 1.5, "input_token_count": 9},
        {"id": "simple_2", "result": [{"ls": "{}"}], "latency": 1.5},
    )

    assert shape(text) == ["assistant: [ls()]"]
    assert [usage.input_tokens for usage in text.usage] == [9]
    assert shape(calls) == ["assistant:  +ls(call_1 {})"]


def node(kind: str, said: str, *children: JsonValue, **more: JsonValue) -> JsonObject:
    """A node of an answer tree."""
    return {"node_type": kind, "description": said, "children": list(children), **more}


def test_the_final_chain_of_an_answer_tree_is_read() -> None:
    lost = node("Thought", "give up")
    answer = node("Action Input", '{"text": "a.py"}', observation="ok", observation_code=3)
    chain = node(
        "Action",
        "look",
        node("Action Input", "{}", node("Action", "Finish", answer), observation="a.py"),
    )
    made: JsonObject = {"query": "which files?", "function": [{"name": "look"}]}
    tree: JsonObject = {"tree": node("Action Input", "", lost, chain)}

    found = read({"win": True, "tree": tree, "answer_generation": made})

    assert shape(found) == [
        "user: which files?",
        "assistant:  +look(call_1 {})",
        "tool(call_1): a.py",
        'assistant:  +Finish(call_2 {"text": "a.py"})',
        "tool(call_2): ok",
    ]
    assert (found.format, found.ignored) == ("toolbench", (("left branch", 1),))
    assert found.tools == [{"type": "function", "function": {"name": "look"}}]


def test_the_messages_of_a_chain_are_taken_where_they_are_listed() -> None:
    call: JsonObject = {"name": "look", "arguments": "{}"}
    messages: list[JsonValue] = [
        {"role": "user", "content": "which files?"},
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "look", "content": "a.py"},
        {"role": "assistant", "content": "one: a.py"},
    ]
    made: JsonObject = {"query": "which files?", "train_messages": [messages[:2], messages]}

    found = read({"win": True, "answer_generation": made})

    assert shape(found) == [
        "user: which files?",
        "assistant:  +look(call_1 {})",
        "tool(call_1): a.py",
        "assistant: one: a.py",
    ]


def test_dialogues_for_training_have_their_calls_in_the_text() -> None:
    action = f"Thought: look first\nAction: look\nAction Input: {json.dumps({'path': '.'})}"
    said = [("system", "tools"), ("user", "which?"), ("assistant", action), ("function", "a.py")]
    turns: list[JsonValue] = [{"from": speaker, "value": text} for speaker, text in said]

    found = read({"id": "Step 1: which?", "conversations": turns})

    assert (found.format, shape(found)[2:]) == (
        "toolbench",
        ['assistant: Thought: look first +look(call_1 {"path": "."})', "tool(call_1): a.py"],
    )
