"""What calls of the Responses API return: shortened as its kind allows, counted as it is sent."""

from __future__ import annotations

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.errors import BudgetError
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import count_messages
from tests.shapes import PNG, Written

USER: JsonObject = {"role": "user", "content": "hi"}
THEN: JsonObject = {"role": "user", "content": "and then?"}
LONG = "line of the log\n" * 3_000
SHOT: JsonObject = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
EXITED: JsonObject = {"type": "exit", "exit_code": 1}


def pair(kind: str, output_kind: str, **output: object) -> Written:
    """A call of a kind, and what it returned."""
    call: JsonObject = {"type": kind, "call_id": "d"}
    words: JsonObject = {"function_call": {"name": "f", "arguments": "{}"}}.get(kind, {})  # type: ignore[assignment]
    own: JsonObject = {"name": "f", "input": "x"} if kind == "custom_tool_call" else words
    result: JsonObject = {"type": output_kind, "call_id": "d"}
    return [{**call, **own}, {**result, **output}]  # type: ignore[dict-item]  # JSON


OUTPUTS: dict[str, Written] = {
    "function": pair("function_call", "function_call_output", output=LONG),
    "parts": pair(
        "function_call", "function_call_output", output=[{"type": "input_text", "text": LONG}]
    ),
    "object": pair("function_call", "function_call_output", output={"rows": [LONG]}),
    "custom": pair("custom_tool_call", "custom_tool_call_output", output=LONG),
    "local shell": pair("local_shell_call", "local_shell_call_output", output=LONG),
    "apply patch": pair(
        "apply_patch_call", "apply_patch_call_output", status="completed", output=LONG
    ),
    "program": pair("program", "program_output", result=LONG),
    "odd": pair("odd_call", "odd_call_output", output=LONG),
    "shell": pair(
        "shell_call",
        "shell_call_output",
        output=[
            {"stdout": "so", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            {"stdout": LONG, "stderr": "late", "outcome": EXITED},
        ],
    ),
    "screen": pair("computer_call", "computer_call_output", output=SHOT),
    "tools": pair(
        "tool_search_call",
        "tool_search_output",
        execution="client",
        tools=[{"type": "function", "name": f"tool_{n}", "description": LONG} for n in range(3)],
    ),
    "rows": pair("odd_call", "odd_call_output", output={"rows": [LONG]}),
}
WORDED = ("function", "custom", "local shell", "apply patch", "odd", "shell", "program")


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("budget", [60, 120, 250, 500, 1_000, 4_000])
@pytest.mark.parametrize("end", [[THEN], []], ids=["then", "open"])
def test_what_is_sent_fits_as_it_is_said_to(name: str, budget: int, end: Written) -> None:
    try:
        context = fit([USER, *OUTPUTS[name], *end], max_tokens=budget)
    except BudgetError:
        return

    assert count_messages(context.in_shape()) <= budget


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_verdict_of_kept_is_the_callers_own_output(name: str) -> None:
    messages = [USER, *OUTPUTS[name], THEN]

    context = fit(messages, max_tokens=2_000)

    is_own = any(item is messages[2] for item in context.in_shape())
    assert is_own == (context.verdict(2).verdict == "kept")


@pytest.mark.parametrize("name", WORDED)
def test_words_are_shortened_in_an_output_of_the_same_kind(name: str) -> None:
    sent = fit([USER, *OUTPUTS[name]], max_tokens=500).in_shape()

    assert sent[1] is OUTPUTS[name][0]
    assert sent[2].keys() == OUTPUTS[name][1].keys()
    assert sent[2]["type"] == OUTPUTS[name][1]["type"]
    assert len(str(sent[2])) < len(str(OUTPUTS[name][1]))


def test_a_shortened_shell_output_is_one_command_that_ended_as_the_last_did() -> None:
    sent = fit([USER, *OUTPUTS["shell"]], max_tokens=500).in_shape()

    output = sent[2]["output"]
    assert isinstance(output, list)
    (command,) = output
    assert isinstance(command, dict)
    assert "line of the log" in str(command["stdout"])
    assert (command["stderr"], command["outcome"]) == ("", EXITED)


def test_where_words_stand_for_a_screen_its_call_is_a_functions() -> None:
    shots = [*pair("computer_call", "computer_call_output", output=SHOT)]

    sent = fit([USER, *shots], max_tokens=80).in_shape()

    assert [item.get("type") for item in sent[1:]] == ["function_call", "function_call_output"]
    assert sent[1]["name"] == "computer"
    assert str(sent[2]["output"]).startswith("[image")


def test_what_commands_printed_are_the_words_of_a_shell_output() -> None:
    assert parse_messages(OUTPUTS["shell"])[1].text == f"so\n{LONG}\nlate"


PENDING: list[tuple[JsonObject, JsonObject | None]] = [
    ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"call_id": "c"}),
    ({"type": "custom_tool_call", "call_id": "c", "name": "x", "input": "y"}, {"call_id": "c"}),
    ({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}, {"call_id": "c"}),
    ({"type": "apply_patch_call", "call_id": "c", "operation": {}}, {"status": "failed"}),
    ({"type": "local_shell_call", "id": "l", "call_id": "c", "action": {}}, {"id": "c"}),
    ({"type": "tool_search_call", "call_id": "c", "arguments": {}}, {"tools": []}),
    ({"type": "mcp_approval_request", "id": "m", "name": "n", "arguments": "{}"}, None),
    ({"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "click"}}, None),
]


@pytest.mark.parametrize(("call", "holds"), PENDING, ids=[str(one["type"]) for one, _ in PENDING])
def test_a_call_that_waits_is_answered_in_its_own_kind_or_not_at_all(
    call: JsonObject, holds: JsonObject | None
) -> None:
    context = fit([USER, call, THEN], max_tokens=1_000)

    sent = context.in_shape()

    assert sent[0] is USER
    assert sent[1] is call
    assert sent[-1] is THEN
    assert len(sent) == (3 if holds is None else 4)
    if holds is not None:
        kind = str(call["type"]).replace("search_call", "search")
        assert sent[2]["type"] == f"{kind}_output"
        assert sent[2].items() >= holds.items()
    assert count_messages(sent) <= context.tokens


@pytest.mark.parametrize("by", ["lsh", "c"])
def test_what_a_local_shell_returned_names_its_call_or_its_item(by: str) -> None:
    messages: Written = [
        USER,
        {"type": "local_shell_call", "id": "lsh", "call_id": "c", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": by, "output": "files"},
    ]

    context = fit(messages, max_tokens=1_000)

    assert context.repairs == ()
    assert [id(one) for one in context.in_shape()] == [id(one) for one in messages]
