"""Which shape a list is in, and what is refused: everything that is none, by name."""

from __future__ import annotations

import dataclasses
import types

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import lint
from ctxcore.errors import MessageError
from ctxcore.messages.shapes.reading import parse_messages, parse_one, read_list
from ctxcore.messages.shapes.values import SHAPES, Shape
from ctxcore.messages.values import text_message
from tests.shapes import Step, Turn, write

Raw = dict[str, object]

TALK: list[Raw] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
WORKED = [Turn(asked="look", steps=(Step(calls=(("search", "42"), ("read", "x")), words="so"),))]
ONE_OF_EACH: dict[Shape, Raw] = {
    "openai": {"role": "tool", "tool_call_id": "a", "content": "42"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "42"}],
    },
    "responses": {"type": "function_call_output", "call_id": "a", "output": "42"},
    "gemini": {"role": "user", "parts": [{"text": "hi"}]},
}
MAKERS = {
    "openai": "OpenAI's",
    "anthropic": "Anthropic's",
    "responses": "OpenAI's Responses",
    "gemini": "Gemini's",
}


def refusal(messages: object) -> MessageError:
    """The error that reading `messages` ends with."""
    with pytest.raises(MessageError) as caught:
        parse_messages(messages)  # type: ignore[arg-type]  # wrong on purpose
    return caught.value


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_that_of_the_whole_list(shape: Shape) -> None:
    assert read_list(write(shape, WORKED)).shape == shape


def test_words_alone_are_openais_and_every_other_shape_but_geminis() -> None:
    passed = read_list(TALK)

    assert passed.shape == "openai"
    assert passed.also == {"anthropic", "responses"}


def test_a_message_that_fits_several_shapes_is_read_in_that_of_the_others() -> None:
    passed = read_list([*TALK, ONE_OF_EACH["anthropic"]])

    assert (passed.shape, passed.also) == ("anthropic", frozenset())


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_a_mixed_list_is_refused_at_the_first_message_that_does_not_fit(
    first: Shape, other: Shape
) -> None:
    if first == other:
        return

    error = refusal([ONE_OF_EACH[first], ONE_OF_EACH[first], ONE_OF_EACH[other]])

    assert str(error) == (
        f"message 2: is in {MAKERS[other]} format, the messages before it in {MAKERS[first]}; "
        "convert one of them"
    )


def test_talk_among_geminis_contents_is_refused() -> None:
    assert str(refusal([ONE_OF_EACH["gemini"], *TALK]).place) == "message 1"
    assert str(refusal([*TALK, ONE_OF_EACH["gemini"]]).place) == "message 2"


@pytest.mark.parametrize("shape", SHAPES)
def test_values_stand_among_dictionaries_of_any_shape(shape: Shape) -> None:
    value = text_message("user", "so")
    raw = write(shape, WORKED)

    passed = read_list([*raw, value])

    assert passed.messages[-1] is value
    assert passed.places_of(len(passed.messages) - 1) == (len(raw),)


def test_thinking_parts_are_words_of_openai_and_of_anthropic() -> None:
    thought: Raw = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}

    assert read_list([*TALK, thought, ONE_OF_EACH["openai"]]).shape == "openai"
    assert read_list([*TALK, thought, ONE_OF_EACH["anthropic"]]).shape == "anthropic"


def test_an_unknown_part_with_a_type_is_of_no_shape_alone() -> None:
    odd: Raw = {"role": "user", "content": [{"type": "hologram", "depth": 1}]}

    assert read_list([odd]).shape == "openai"
    assert read_list([odd, ONE_OF_EACH["anthropic"]]).messages[0].text == "[hologram]"


def of_library(module: str, name: str, **attributes: object) -> object:
    """An object of another library's class."""
    return type(name, (), {"__module__": module, **attributes})()


@dataclasses.dataclass
class Said:
    """A message of somebody's own."""

    role: str = "user"
    content: str = "hi"


FOREIGN: list[tuple[object, str, str]] = [
    (of_library("langchain_core.messages.human", "HumanMessage"), "HumanMessage", "convert_to_ope"),
    (of_library("pydantic_ai.messages", "ModelRequest"), "ModelRequest of pydantic_ai", "role"),
    (of_library("openai.types.chat", "ChatCompletionMessage"), "openai", "model_dump"),
    (of_library("anthropic.types", "Message"), "a Message of anthropic", "model_dump"),
    (of_library("google.genai.types", "Content"), "a Content of google.genai", "model_dump"),
    (of_library("haystack.dataclasses", "ChatMessage"), "haystack", "to_openai_dict_format"),
    (of_library("shop", "Chat", model_dump=lambda self: {}), "a Chat of shop", "model_dump"),
    (Said(), "a Said", "dataclasses.asdict"),
    (types.SimpleNamespace(role="user"), "SimpleNamespace", "expected a message"),
    ("hi", "is text", '{"role": "user"'),
    (None, "is None", "expected a message"),
    (5, "is 5", "expected a message"),
    (b"hi", "a value of type bytes", "expected a message"),
    (("user", "hi"), "is a tuple", "expected a message"),
    ({"from": "human", "value": "hi"}, "ShareGPT", "human is user"),
    ({"type": "human", "content": "hi"}, "LangChain dumped", "messages_from_dict"),
    ({"type": "ai", "data": {"content": "hi"}}, "LangChain dumped", "messages_from_dict"),
    ({"lc": 1, "type": "constructor", "id": [], "kwargs": {}}, "LangChain serialized", "load"),
    ({"kind": "request", "parts": []}, "Pydantic AI", "role"),
    ({"id": "1", "role": "user", "parts": [{"type": "text", "text": "hi"}]}, "Vercel", "convertTo"),
    ({"role": "user", "content": [{"text": "hi"}]}, "Bedrock Converse", "type"),
    ({"role": "user", "content": [{"toolUse": {"name": "x"}}]}, "Bedrock Converse", "type"),
    ({"role": "model", "content": [{"functionCall": {}}]}, "Gemini's parts", "'parts'"),
    ({"role": "user", "text": "hi"}, "'text'", "rename the key to 'content'"),
    ({"role": "user", "contents": ["hi"]}, "'contents'", "rename the key to 'content'"),
    ({"role": "user", "message": "hi"}, "Cohere", "rename the key to 'content'"),
    ({"author": {"role": "user"}, "content": {"parts": []}}, "ChatGPT export", "author.role"),
    ({"choices": []}, "whole answer", '["choices"][0]["message"]'),
    ({"message": {"role": "user", "content": "hi"}}, "choice of", '["message"]'),
    ({"type": "text", "text": "hi"}, "one content part", "content"),
    ({"type": "user", "uuid": "u", "message": {"role": "user"}}, "Claude Code", "read_transcripts"),
    ({"type": "response_item", "payload": {}}, "Codex", "payload"),
    ({"type": "user", "timestamp": "t", "message": {"content": "hi"}}, "Claude Code", "message"),
    ({"author": "user", "content": {"parts": [{"text": "hi"}]}}, "Google's ADK", '["content"]'),
    ({"agent": {}, "raw_item": {}, "type": "tool_call_item"}, "agent's run", '["raw_item"]'),
    ({"role": "user", "parts": {"text": "hi"}}, "not a list", "[part]"),
    ({"text": "hi"}, "a Gemini part", '"parts"'),
    (
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "args": {}}]},
        "tool_calls[0], function",
        "convert_to_openai_messages",
    ),
    ({"type": "gemini", "content": "hi"}, "Gemini CLI", "parts"),
    ({"id": 1, "messages": []}, "whole conversation", '["messages"]'),
    ({"id": 1, "conversations": []}, "ShareGPT", "human is user"),
    ({"type": "tool_call", "name": "f", "args": {}}, "one tool call", "tool_calls"),
    ({"session": "s", "text": "hi"}, "role", "None is not one of"),
    ({"type": "nothing known"}, "unknown type", "expected a message"),
    ({"role": "user", "content": {"text": "hi"}}, "is an object", "list"),
    ({"role": "user", "content": [{"type": "text"}]}, "text", "missing"),
    (
        {"role": "user", "content": [of_library("anthropic.types", "TextBlock")]},
        "TextBlock",
        "dump",
    ),
]


@pytest.mark.parametrize(("raw", "looks_like", "way_out"), FOREIGN, ids=range(len(FOREIGN)))
def test_what_is_no_message_is_named_with_its_place_and_what_reads_it(
    raw: object, looks_like: str, way_out: str
) -> None:
    error = refusal([*TALK, raw])

    assert str(error.place).startswith("message 2")
    assert looks_like in str(error)
    assert way_out in str(error)


@pytest.mark.parametrize(
    ("messages", "looks_like"),
    [
        ("hello", "is text"),
        (None, "is None"),
        (5, "is 5"),
        (b"hello", "is bytes"),
        ({"messages": TALK, "model": "m"}, '["messages"]'),
        ({"input": TALK}, '["input"]'),
        ({"contents": []}, '["contents"]'),
        ({"role": "user", "content": "hi"}, "put it into a list"),
        ({"a": 1}, "keys 'a'"),
        (object(), "pass a list of messages"),
    ],
)
def test_what_is_no_list_is_refused(messages: object, looks_like: str) -> None:
    error = refusal(messages)

    assert str(error.place) == "messages"
    assert looks_like in str(error.problem)


def test_an_item_that_only_names_another_needs_no_type() -> None:
    items: list[Raw] = [{"role": "user", "content": "hi"}, {"id": "rs_1"}]

    context = fit(items, max_tokens=1_000)

    assert context.shape == "responses"
    assert context.in_shape()[1] is items[1]


def test_a_message_may_have_no_words_at_all() -> None:
    assert [message.content for message in parse_messages([{"role": "assistant"}])] == [()]
    assert parse_messages([{"role": "assistant", "id": "m1", "content": None}])[0].content == ()


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ({"role": "user", "content": "x", "refusal": 5}, "refusal"),
        ({"role": "user", "content": "x", "reasoning_content": ["x"]}, "reasoning_content"),
        ({"role": "user", "content": "x", "thinking_blocks": {}}, "thinking_blocks"),
        ({"role": "user", "content": "x", "thinking_blocks": [5]}, "thinking_blocks[0]"),
        ({"role": "assistant", "function_call": "x"}, "function_call"),
        ({"role": "tool", "content": "x", "tool_call_id": {}}, "tool_call_id"),
        ({"role": "assistant", "content": [{"type": "tool_use"}]}, "content[0], name"),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": 5}]},
            "content[0], content",
        ),
        ({"role": "user", "parts": [5]}, "parts[0]"),
        ({"role": "user", "parts": [{"text": 5}]}, "parts[0], text"),
        ({"role": "user", "parts": [{"functionCall": {}}]}, "parts[0], name"),
        ({"role": "user", "parts": [{"inlineData": {"data": 5}}]}, "parts[0], data"),
        ({"type": "function_call", "call_id": "a"}, "name"),
        ({"type": "message", "role": "user"}, "content"),
    ],
)
def test_values_of_a_wrong_type_are_refused_with_their_place(raw: Raw, place: str) -> None:
    assert str(refusal([raw]).place) == f"message 0, {place}"


def test_what_is_nested_too_deeply_or_turns_in_circles_is_refused() -> None:
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    circle: list[object] = []
    circle.append(circle)

    assert str(refusal([{"role": "user", "content": "x", "data": deep}]).problem) == (
        "is nested too deeply"
    )
    assert "is not JSON" in str(refusal([{"role": "user", "content": "x", "data": circle}]))


def test_one_message_alone_may_not_stand_for_several() -> None:
    results = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in "ab"]

    assert parse_one(TALK[0]).text == "hi"
    with pytest.raises(MessageError, match="contains 2 messages"):
        parse_one({"role": "user", "content": results})


@pytest.mark.parametrize(
    ("tools", "place"),
    [({}, "tools"), ("x", "tools"), (5, "tools"), ([{}, "x"], "tools[1]"), ([None], "tools[0]")],
)
def test_tools_that_are_no_list_of_objects_are_refused(tools: object, place: str) -> None:
    with pytest.raises(MessageError) as caught:
        fit(TALK, max_tokens=500, tools=tools)  # type: ignore[arg-type]  # wrong on purpose

    assert str(caught.value.place) == place


@pytest.mark.parametrize(
    ("knowledge", "place"),
    [
        ("x", "knowledge"),
        (["x"], "knowledge"),
        ({"faq": 5}, "knowledge['faq']"),
        ({5: "x"}, "knowledge[5]"),
    ],
)
def test_knowledge_that_is_no_texts_by_name_is_refused(knowledge: object, place: str) -> None:
    with pytest.raises(MessageError) as caught:
        fit(TALK, max_tokens=500, knowledge=knowledge)  # type: ignore[arg-type]  # wrong on purpose

    assert str(caught.value.place) == place


def test_lint_finds_what_is_not_paired_in_anthropics_messages_at_their_places() -> None:
    calls = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in "ab"]
    results = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in "ac"]
    messages: list[Raw] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [*results, {"type": "text", "text": "and?"}]},
    ]

    found = [(one.rule, one.at) for one in lint(messages, "anthropic")]

    assert found == [("missing_result", 1), ("orphan_result", 2)]


def test_lint_tells_what_cannot_be_read_and_goes_on() -> None:
    messages: list[object] = [TALK[0], "hello", ONE_OF_EACH["gemini"], {"role": "robot"}, *TALK]

    found = lint(messages, "openai")

    assert [(one.rule, one.at) for one in found] == [("format", 1), ("format", 2), ("format", 3)]
