"""The edge: OpenAI dictionaries come back as they went in."""

from __future__ import annotations

import pytest

from ctxcore.errors import MessageError
from ctxcore.messages.openai import parse_message, to_full, to_openai
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message, Opaque, Reasoning, Text

SIGNED: dict[str, object] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "search", "arguments": "{}"},
    "extra_content": {"google": {"thought_signature": "s1"}},
}
SAME: list[dict[str, object]] = [
    {"role": "user", "content": "hi"},
    {"role": "developer", "content": "be brief"},
    {"role": "user", "content": "hi", "name": "ada"},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "x"}}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://e.org/a"}}]},
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA"}}]},
    {"role": "user", "content": [{"type": "hologram", "depth": [1, 2.5, None]}]},
    {"role": "assistant", "content": "", "refusal": "I cannot help with that."},
    {"role": "assistant", "content": "so", "reasoning_content": "let me think"},
    {
        "role": "assistant",
        "content": "so",
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    },
    {"role": "assistant", "content": None, "tool_calls": [SIGNED]},
    {"role": "tool", "content": "42", "tool_call_id": "c1", "name": "search"},
    {"role": "user", "content": "refund", "action": "REFUND", "vendor": {"n": [1]}},
    {"role": "user", "content": "lone \ud83d and \x00"},
]


@pytest.mark.parametrize("raw", SAME, ids=lambda raw: str(sorted(raw)))
def test_a_message_comes_back_as_it_was(raw: dict[str, object]) -> None:
    assert to_full(parse_message(raw)) == raw


def test_thinking_and_signatures_stay_behind_unless_asked_for() -> None:
    raw = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [SIGNED]}
    message = parse_message(raw)

    plain, full = to_openai(message), to_openai(message, with_reasoning=True)

    assert "hm" not in str(plain)
    assert "s1" not in str(plain)
    assert full == raw


def test_action_and_unknown_keys_are_not_sent() -> None:
    raw = {"role": "user", "content": "x", "action": "A", "vendor": 1}

    assert to_openai(parse_message(raw)) == {"role": "user", "content": "x"}


def test_a_legacy_function_call_becomes_a_tool_call() -> None:
    message = parse_message(
        {"role": "assistant", "function_call": {"name": "search", "arguments": {"q": 1}}}
    )

    assert (message.calls[0].id, message.calls[0].name) == ("", "search")
    assert message.calls[0].arguments == '{"q":1}'


def test_a_call_with_free_text_keeps_it_as_arguments() -> None:
    calls = [{"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]

    message = parse_message({"role": "assistant", "content": None, "tool_calls": calls})

    assert (message.calls[0].name, message.calls[0].arguments) == ("shell", "ls")


@pytest.mark.parametrize(
    ("role", "known"), [("function", "tool"), ("model", "assistant"), ("human", "user")]
)
def test_other_names_of_roles_are_known(role: str, known: str) -> None:
    assert parse_message({"role": role, "content": "x"}).role == known


def test_a_result_without_an_id_has_an_empty_one() -> None:
    assert parse_message({"role": "tool", "content": "x"}).answers == ""


def test_content_may_be_null_missing_or_a_list_of_texts() -> None:
    assert parse_message({"role": "assistant", "content": None}).content == ()
    assert parse_message({"role": "assistant"}).content == ()
    assert parse_message({"role": "user", "content": ["a"]}).content == (Text(text="a"),)


def test_what_a_message_says_leaves_thinking_out_and_names_the_unknown() -> None:
    content = (Reasoning(text="hm"), Text(text="look"), Opaque(provider="hologram", raw="{}"))
    message = Message(role="assistant", content=content)

    assert message.text == "look\n[hologram]"
    assert message.reasoning == "hm"


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("hi", "message 1"),
        ({"content": "x"}, "message 1, role"),
        ({"role": "robot"}, "message 1, role"),
        ({"role": "user", "content": 5}, "message 1, content"),
        ({"role": "user", "content": b"x"}, "message 1, content[0]"),
        ({"role": "user", "content": [5]}, "message 1, content[0]"),
        ({"role": "user", "content": [{"type": "x", "y": {1, 2}}]}, "message 1, content[0]"),
        ({"role": "user", "name": 5}, "message 1, name"),
        ({"role": "user", "action": 5}, "message 1, action"),
        ({"role": "assistant", "tool_calls": "x"}, "message 1, tool_calls"),
        ({"role": "assistant", "tool_calls": ["x"]}, "message 1, tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{}]}, "message 1, tool_calls[0], function"),
        (
            {"role": "assistant", "tool_calls": [{"function": {}}]},
            "message 1, tool_calls[0], name",
        ),
        ({"role": "user", "vendor": object()}, "message 1"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(raw: object, place: str) -> None:
    with pytest.raises(MessageError) as caught:
        parse_messages([{"role": "user", "content": "fine"}, raw])

    assert str(caught.value.place) == place


def test_values_and_dictionaries_may_be_mixed() -> None:
    value = Message(role="user", content=(Text(text="a"),))

    assert parse_messages([value, {"role": "user", "content": "a"}]) == [value, value]
