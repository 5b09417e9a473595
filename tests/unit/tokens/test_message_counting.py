"""Message counting: frames, calls, results and names, with numbers to check by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ctxcore.errors import MessageError
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import (
    JsonObject,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    text_message,
    tool_result,
)
from ctxcore.tokens.count import (
    count_each,
    count_message,
    count_messages,
    count_reasoning,
    count_tokens,
    counter_by_id,
    counter_for,
)


@dataclass(frozen=True)
class Words:
    """Counts words, so that numbers can be checked by eye."""

    id: str = "words"
    is_exact: bool = True

    def count(self, text: str) -> int:
        return len(text.split())


WORDS = Words()


def call(name: str, arguments: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def test_a_message_takes_four_tokens_and_its_words() -> None:
    assert count_message(text_message("user", "one two three"), WORDS) == 4 + 3


def test_an_empty_message_takes_its_frame() -> None:
    assert count_message(Message(role="user"), WORDS) == 4


def test_a_name_takes_one_token_and_its_words() -> None:
    message = Message(role="user", content=(Text(text="one"),), name="Ann")

    assert count_message(message, WORDS) == 4 + 1 + (1 + 1)


def test_parts_are_summed_one_by_one() -> None:
    parts = (Text(text="one two"), Refusal(text="no"), Opaque(provider="x", raw='{"a": 1}'))

    assert count_message(Message(role="assistant", content=parts), WORDS) == 4 + 2 + 1 + 2


def test_a_call_takes_thirteen_tokens_its_name_and_its_arguments() -> None:
    message = Message(role="assistant", calls=(call("search", '{"q": 1}'), call("now", "{}")))

    assert count_message(message, WORDS) == (13 + 1 + 2) + (13 + 1 + 1)


def test_words_before_a_call_have_their_own_frame() -> None:
    calls = (call("now", "{}"),)
    message = Message(role="assistant", content=(Text(text="let me look"),), calls=calls)

    assert count_message(message, WORDS) == (4 + 3) + (13 + 1 + 1)


def test_a_result_takes_ten_tokens_its_words_and_the_functions_name() -> None:
    output = "three words here"

    assert count_message(tool_result("c1", output), WORDS) == 10 + 3
    assert count_message(tool_result("c1", output), WORDS, function_name="search") == 10 + 3 + 1
    assert count_message(tool_result("c1", output, name="two words"), WORDS) == 10 + 3 + 2


def test_a_result_finds_the_functions_name_in_the_call_it_answers() -> None:
    asking = Message(
        role="assistant", calls=(call("search web", "{}", "a"), call("now", "{}", "b"))
    )
    history = [text_message("user", "hi"), asking, tool_result("b", "x"), tool_result("a", "x")]

    assert count_each(history, WORDS) == [5, (13 + 2 + 1) + (13 + 1 + 1), 10 + 1 + 1, 10 + 1 + 2]


def test_thinking_is_counted_apart() -> None:
    thinking = (Reasoning(text="let me think"), Reasoning(text="", raw='{"data": "x"}'))
    message = Message(role="assistant", content=(*thinking, Text(text="yes")))

    assert count_message(message, WORDS) == 4 + 1
    assert count_reasoning(message, WORDS) == 3 + 2
    assert count_reasoning(text_message("user", "hi"), WORDS) == 0


def test_a_conversation_takes_three_tokens_and_its_messages() -> None:
    history: list[JsonObject] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "hello world"},
    ]

    assert count_messages(history) == 3 + (4 + 6) + (4 + 2)
    assert count_messages([parse_message(raw) for raw in history]) == count_messages(history)
    assert count_messages([]) == 3


def test_a_conversation_with_a_tool_turn_adds_up() -> None:
    history: list[JsonObject] = [
        {"role": "user", "content": "hello world"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "hello world"},
    ]

    assert count_messages(history) == 3 + (4 + 2) + (13 + 1 + 1) + (10 + 2 + 1)


def test_definitions_beside_a_system_message_take_four_tokens_less() -> None:
    tools = [{"type": "function", "function": {"name": "now"}}]
    asked: JsonObject = {"role": "user", "content": "hi"}
    told: JsonObject = {"role": "developer", "content": "hi"}

    assert count_messages([asked], tools=tools) - count_messages([asked]) == 23
    assert count_messages([told], tools=tools) - count_messages([told]) == 23 - 4
    assert count_messages([told], tools=[]) == count_messages([told])


def test_what_is_not_a_message_is_refused() -> None:
    with pytest.raises(MessageError, match="message 1"):
        count_messages([{"role": "user", "content": "hi"}, {"role": "nobody"}])


def test_a_model_decides_who_counts() -> None:
    assert count_tokens("你好,世界!今天天气怎么样?") == 9
    assert count_tokens("你好,世界!今天天气怎么样?", model="gpt-4") == 17
    assert count_tokens("hello", model="claude-opus-4-8") == round(5 * 0.350)
    assert counter_for("gpt-4o").is_exact
    assert not counter_for("gemini/gemini-2.5-pro").is_exact


def test_a_counter_is_found_again_by_its_id() -> None:
    for model in (None, "gpt-4", "claude-opus-4-8", "unheard-of"):
        assert counter_by_id(counter_for(model).id) == counter_for(model)
    with pytest.raises(ValueError, match="no token counter has the id 'words'"):
        counter_by_id("words")


@pytest.mark.parametrize(
    ("item", "least", "most"),
    [
        ({"type": "image_generation_call", "id": "ig", "result": "iVBORw0K" * 20_000}, 765, 850),
        (
            {"type": "web_search_call", "id": "ws", "encrypted_content": "Eo8BCioI" * 2_000},
            100,
            150,
        ),
    ],
)
def test_what_is_no_text_is_not_counted_as_text(
    item: dict[str, object], least: int, most: int
) -> None:
    assert least <= count_messages([item]) <= most
