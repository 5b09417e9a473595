"""Calls made at once are one message with their results, however a list holds them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import lint
from ctxcore.messages.shapes.reading import parse_messages, read_list
from ctxcore.messages.values import JsonObject
from tests.shapes import Written, broken_rules, handed_back, inside

HI: JsonObject = {"role": "user", "content": "hi"}
GEMINI_HI: JsonObject = {"role": "user", "parts": [{"text": "hi"}]}


def use(*ids: str) -> JsonObject:
    """An assistant message with calls."""
    blocks = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ids]
    return {"role": "assistant", "content": blocks}  # type: ignore[dict-item]  # JSON


def results(*ids: str, words: str = "") -> JsonObject:
    """A user's message with results."""
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": f"of {i}"} for i in ids]
    said = [{"type": "text", "text": words}] if words else []
    return {"role": "user", "content": [*blocks, *said]}  # type: ignore[list-item]  # JSON


def asks(*names: str) -> JsonObject:
    """A content of Gemini's with calls."""
    return {"role": "model", "parts": [{"functionCall": {"name": n, "args": {}}} for n in names]}


def responds(*names: str, **of_all: str) -> JsonObject:
    """A content with responses."""
    held = [{"name": n, "response": {"result": f"of {n}"}, **of_all} for n in names]
    return {"role": "user", "parts": [{"functionResponse": one} for one in held]}  # type: ignore[dict-item]


SPLIT: dict[str, Written] = {
    "calls": [HI, use("a"), use("b"), results("a", "b")],
    "calls and words": [HI, use("a"), {"role": "assistant", "content": "so"}, results("a")],
    "results": [HI, use("a", "b"), results("a"), results("b")],
    "results and words": [HI, use("a", "b"), results("a", words="note"), results("b")],
    "both": [HI, use("a"), use("b"), results("a", words="note"), results("b", words="more")],
    "geminis calls": [GEMINI_HI, asks("f"), asks("g"), responds("f", "g")],
    "geminis calls of one name": [GEMINI_HI, asks("f"), asks("f"), responds("f"), responds("f")],
    "an id on one side": [GEMINI_HI, asks("f"), responds("f", id="x")],
    "a signature behind": [
        GEMINI_HI,
        asks("f"),
        {"role": "model", "parts": [{"text": "", "thoughtSignature": "s"}]},
        responds("f"),
    ],
}


@pytest.mark.parametrize("name", SPLIT)
def test_calls_and_results_that_are_split_are_paired(name: str) -> None:
    context = fit(SPLIT[name], max_tokens=1_000)

    assert {repair.kind for repair in context.repairs} <= {"merged"}
    assert lint(SPLIT[name], "openai") == []
    sent = context.in_shape()
    joined = [block for message in sent for block in inside(message)]
    own = [block for message in SPLIT[name] for block in inside(message)]
    assert sorted(map(str, joined)) == sorted(map(str, own))


def test_neighbours_with_calls_are_one_message_of_both_places() -> None:
    passed = read_list(SPLIT["calls"])

    assert [call.id for call in passed.messages[1].calls] == ["a", "b"]
    assert passed.places == ((0,), (1, 2), (3,), (3,))
    assert [id(one) for one in handed_back(passed)] == [id(one) for one in SPLIT["calls"]]


def test_neighbours_with_calls_of_gemini_are_sent_as_one() -> None:
    raw = SPLIT["geminis calls"]

    sent = fit(raw, max_tokens=1_000).in_shape()

    assert broken_rules("gemini", sent) == []
    assert [id(part) for part in inside(sent[1])] == [
        id(part) for one in raw[1:3] for part in inside(one)
    ]


def test_a_call_that_changed_in_a_joined_message_leaves_the_other_as_it_is() -> None:
    raw = [HI, use("a"), use("a"), results("a", "a")]

    context = fit(raw, max_tokens=1_000)

    assert [repair.kind for repair in context.repairs] == ["renamed_call"]
    first, second = inside(context.in_shape()[1])
    assert first is inside(raw[1])[0]
    assert second == {**inside(raw[2])[0], "id": second["id"]}
    assert second["id"] != "a"


def test_a_call_given_up_is_not_answered_by_a_later_response_of_its_name() -> None:
    messages = parse_messages([GEMINI_HI, asks("f"), GEMINI_HI, asks("f"), responds("f")])

    assert messages[-1].answers == messages[-2].calls[0].id


def test_values_are_not_joined() -> None:
    value = replace(parse_messages([HI, use("a")])[1])

    assert [len(one.calls) for one in parse_messages([HI, value, use("b")])] == [0, 1, 1]
