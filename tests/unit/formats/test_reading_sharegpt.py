"""What becomes of ShareGPT data sets, and of tool calls that are tags in a text."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.text_calls import python_call, read_answer
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, shape

TOOL: JsonObject = {"name": "look", "parameters": {"type": "object"}}
IN_ONE_FORM = {"type": "function", "function": TOOL}
CALL = '{"name": "look", "arguments": {"path": "."}}'
SHOWN = [
    "system: be short",
    "user: which files?",
    'assistant:  +look(call_1 {"path":"."})',
    "tool(call_1): a.py",
    "assistant: one: a.py",
]


def turns(*said: tuple[str, str]) -> list[JsonValue]:
    """Turns of a speaker and a text."""
    return [{"from": speaker, "value": text} for speaker, text in said]


def test_calls_and_results_are_turns_of_their_own() -> None:
    said = turns(
        ("human", "which files?"),
        ("function_call", CALL),
        ("observation", "a.py"),
        ("gpt", "one: a.py"),
    )

    found = read({"system": "be short", "conversations": said, "tools": json.dumps([TOOL])})

    assert shape(found) == SHOWN
    assert (found.format, found.tools) == ("sharegpt", [IN_ONE_FORM])
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_id"]


def test_calls_may_be_tags_in_the_answer() -> None:
    said = turns(
        ("system", "be short"),
        ("human", "which files?"),
        ("gpt", f"<think>look first</think>\n<tool_call>\n{CALL}\n</tool_call>"),
        ("tool", '<tool_response>\n{"name": "look", "content": "a.py"}\n</tool_response>'),
        ("gpt", "one: a.py"),
    )

    found = read({"id": "x", "conversations": said})

    assert shape(found) == SHOWN
    assert (found.id, found.messages[2].reasoning) == ("x", "look first")


def test_chat_messages_may_have_tags_too() -> None:
    messages: list[JsonValue] = [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "which files?"},
        {"role": "assistant", "content": f"<tool_call>{CALL}</tool_call>"},
        {"role": "user", "content": "<tool_response>a.py</tool_response>"},
        {"role": "assistant", "content": "one: a.py"},
    ]

    found = read({"messages": messages, "tools": [TOOL]})

    assert shape(found) == SHOWN
    assert (found.format, found.tools) == ("tagged-calls", [IN_ONE_FORM])


def test_messages_that_only_speak_of_tags_are_openais() -> None:
    text = "write <tool_call> before a call"

    found = read({"messages": [{"role": "assistant", "content": text}]})

    assert (found.format, found.messages[0].text) == ("openai", text)


def test_what_cannot_be_read_is_told_and_the_rest_goes_on() -> None:
    said: list[JsonValue] = [*turns(("human", "hi"), ("ghost", "boo")), {"from": "gpt"}]

    first, second = read_all(
        {"conversations": [*said, *turns(("gpt", "hello"))]},
        {"other": 1},
        {"conversations": turns(("human", "again"))},
    )

    assert shape(first) == ["user: hi", "assistant: hello"]
    assert shape(second) == ["user: again"]
    assert [(one.line, one.reason.code) for one in first.problems] == [
        (1, "file.speaker"),
        (1, "file.no_turn"),
        (2, "file.no_dialogue"),
    ]


def test_preference_data_has_the_chosen_answer() -> None:
    found = read(
        {
            "conversations": turns(("human", "hi")),
            "chosen": turns(("gpt", "hello"))[0],
            "rejected": turns(("gpt", "what?"))[0],
        }
    )

    assert shape(found) == ["user: hi", "assistant: hello"]
    assert found.ignored == (("rejected answer", 1),)


@pytest.mark.parametrize(
    "written",
    [
        CALL,
        f"[{CALL}]",
        "{'name': 'look', 'arguments': {'path': '.'}}",
        '{"name": "look", "arguments": \'{"path": "."}\'}',
        '{"type": "function", "function": {"name": "look", "parameters": {"path": "."}}}',
    ],
)
def test_calls_are_read_in_every_way_they_are_written(written: str) -> None:
    answer = read_answer(f"so:\n<tool_call>{written}</tool_call>\n")

    (call,) = answer.calls
    arguments = call.arguments
    assert (answer.text, call.name) == ("so:", "look")
    assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == {"path": "."}


@pytest.mark.parametrize("written", ["{", "look", "[1]", '{"arguments": {}}', "{1: {2}}"])
def test_what_is_no_call_stays_in_the_text(written: str) -> None:
    text = f"<tool_call>{written}</tool_call>"

    answer = read_answer(text)

    assert (answer.text, answer.calls) == (text, ())


def test_calls_as_python_code_keep_values_and_code() -> None:
    call = python_call("fs.find(3, path='.', deep=True, at=now())")

    assert call is not None
    assert call.name == "fs.find"
    assert call.arguments == {"arg0": 3, "path": ".", "deep": True, "at": "now()"}
    assert python_call("not a call") is None
