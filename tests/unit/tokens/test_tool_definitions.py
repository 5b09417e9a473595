"""Tool definitions are counted as the TypeScript a model reads; anything else as its JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from ctxcore.errors import MessageError
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import (
    ToolTokens,
    count_messages,
    count_tools,
    counter_for,
    render_tools,
    tool_tokens,
)

COUNTER = counter_for("gpt-4o")

WEATHER: JsonObject = {
    "name": "get_weather",
    "description": "Get the weather",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "days": {"type": ["integer", "null"]},
            "places": {
                "type": "array",
                "items": {"type": "object", "properties": {"lat": {"type": "number"}}},
            },
        },
        "required": ["city"],
    },
}
RENDERED = """namespace functions {

// Get the weather
type get_weather = (_: {
// City name
city: string,
unit?: "c" | "f",
days?: number | null,
places?: {
    lat?: number,
}[],
}) => any;

} // namespace functions"""


def openai(function: JsonObject) -> JsonObject:
    return {"type": "function", "function": function}


def test_a_definition_is_rendered_as_a_typescript_declaration() -> None:
    assert render_tools([openai(WEATHER)]) == RENDERED


def test_every_providers_form_renders_the_same() -> None:
    anthropic: JsonObject = {
        "name": WEATHER["name"],
        "description": WEATHER["description"],
        "input_schema": WEATHER["parameters"],
    }
    gemini: JsonObject = {"function_declarations": [WEATHER]}

    assert render_tools([WEATHER]) == RENDERED
    assert render_tools([anthropic]) == RENDERED
    assert render_tools([gemini]) == RENDERED


def test_a_function_without_parameters_takes_none() -> None:
    assert "type now = () => any;" in render_tools([openai({"name": "now"})])
    assert "type now = () => any;" in render_tools([{"name": "now", "parameters": {}}])


def test_definitions_take_their_text_and_nine_tokens() -> None:
    assert count_tools([openai(WEATHER)], COUNTER) == COUNTER.count(RENDERED) + 9
    assert count_tools([openai({"name": "now"})], COUNTER) == 23


def test_no_definitions_take_nothing() -> None:
    assert count_tools([], COUNTER) == 0


@pytest.mark.parametrize(
    "tool",
    [
        {},
        {"type": "web_search"},
        {"name": 3},
        {"function": "not an object"},
        {"function": {"name": "f", "parameters": "not an object"}},
        {"function": {"name": "f", "parameters": {"properties": ["not", "an", "object"]}}},
        {"function": {"name": "f", "parameters": {"properties": {"x": 1}, "required": 2}}},
        {"function": {"name": "f", "parameters": {"properties": {"x": {"type": "array"}}}}},
        {"function": {"name": "f", "parameters": {"properties": {"x": {"anyOf": [None]}}}}},
        {"function_declarations": [None, 3]},
        {"name": "f", "description": {"not": "text"}},
        pytest.param({"name": object()}, id="a name that is no JSON"),
        {("odd", "key"): 1},
    ],
    ids=str,
)
def test_a_malformed_definition_still_counts(tool: dict[str, object]) -> None:
    assert count_tools([tool], COUNTER) > count_tools([{"name": "f"}], COUNTER) - 10


def test_a_bottomless_schema_counts() -> None:
    schema: dict[str, object] = {"type": "object"}
    schema["properties"] = {"again": schema}

    assert count_tools([{"name": "f", "parameters": schema}], COUNTER) > 9


@dataclass
class Tally:
    """Counts words and how often it was asked; hashable, so its counts are remembered."""

    asked: list[str] = field(default_factory=list)
    id: str = "tally"
    is_exact: bool = True

    __hash__ = object.__hash__

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text.split())


def test_the_same_definitions_are_counted_once() -> None:
    counter = Tally()

    first = count_tools([openai(WEATHER)], counter)

    assert count_tools([openai(dict(WEATHER))], counter) == first
    assert len(counter.asked) == 1


NOW: JsonObject = {"name": "now"}
SEARCH: JsonObject = {"name": "search", "description": "Searches. " * 40}
SHARED = count_tools([openai(NOW)], COUNTER) - tool_tokens([openai(NOW)], model="gpt-4o")[0].tokens


@pytest.mark.parametrize("model", [None, "gpt-4o", "gpt-4", "claude-opus-4-8"])
def test_each_definition_has_its_part_of_what_all_take(model: str | None) -> None:
    lists = [[openai(NOW)], [openai(WEATHER), openai(SEARCH), openai(NOW)], [SEARCH] * 9]

    shared = {
        count_tools(tools, counter_for(model))
        - sum(found.tokens for found in tool_tokens(tools, model=model))
        for tools in lists
    }

    assert len(shared) == 1
    assert shared.pop() > 0


def test_a_longer_definition_takes_more() -> None:
    found = tool_tokens([openai(WEATHER), openai(SEARCH), openai(NOW)], model="gpt-4o")

    assert [tool.name for tool in found] == ["get_weather", "search", "now"]
    assert found[1].tokens > found[0].tokens > found[2].tokens > 0
    request = count_messages([], model="gpt-4o", tools=[openai(WEATHER)])
    assert request - count_messages([], model="gpt-4o") == found[0].tokens + SHARED


def test_a_list_of_gemini_gives_one_for_each_function() -> None:
    gemini: JsonObject = {"function_declarations": [WEATHER, NOW]}

    assert tool_tokens([gemini]) == tool_tokens([openai(WEATHER), openai(NOW)])
    assert tool_tokens([]) == []


def test_a_definition_without_a_name_is_counted_all_the_same() -> None:
    [found] = tool_tokens([{"type": "web_search"}], model="gpt-4o")

    assert found == ToolTokens(name="", tokens=found.tokens)
    assert found.tokens > 0


def test_what_is_no_list_of_definitions_is_refused() -> None:
    with pytest.raises(MessageError, match=r"tools\[1\]"):
        tool_tokens([NOW, "now"])  # type: ignore[list-item]  # what is refused


def test_a_model_that_takes_only_texts_is_sent_none() -> None:
    tools = [{"type": "function", "function": {"name": "search"}}]
    counter = counter_for("local/smollm2-135m")
    if not counter.is_exact:
        pytest.skip("the built-in model's weights are not installed")

    assert [one.tokens for one in tool_tokens(tools, model="local/smollm2-135m")] == [0]
    assert count_tools(tools, counter) == 0
