"""Names of tools and ids of calls that a provider refuses: renamed where they are sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.rules.values import SentNames, defined_names, is_sent_everywhere
from ctxcore.compaction.compacting import compact
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import Message, ToolCall, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import RepairCode
from ctxcore.tokens.families import Provider
from tests.histories import assistant, user

DEFINED: list[dict[str, Any]] = [{"type": "function", "function": {"name": "my tool.v1"}}]


def talk(name: str, call_id: str = "a") -> list[Message]:
    """A turn with one call."""
    asking = assistant("", ToolCall(id=call_id, name=name, arguments="{}"))
    return [user("hi"), asking, tool_result(call_id, "42", name=name)]


@pytest.mark.parametrize(
    ("name", "refusing"),
    [
        ("my tool.v1", PROVIDERS),
        ("my.tool", ("openai", "anthropic", "bedrock")),
        ("files:read", ("openai", "anthropic", "bedrock")),
        ("1st", ("gemini",)),
        ("x" * 65, PROVIDERS),
        ("", PROVIDERS),
        ("读取", PROVIDERS),
        ("search", ()),
    ],
)
def test_lint_finds_a_tool_name_in_definitions_and_calls(
    name: str, refusing: tuple[Provider, ...]
) -> None:
    tools = [{"type": "function", "function": {"name": name}}]

    for provider in PROVIDERS:
        found = [one.at for one in lint(talk(name), provider, tools=tools)]
        places = [None, 1, 2] if name else [None, 1]
        assert found == (places if provider in refusing else [])


@pytest.mark.parametrize(
    ("call_id", "refusing"),
    [
        ("functions.search:0", ("anthropic", "bedrock")),
        ("x" * 41, ("openai",)),
        ("x" * 65, ("openai", "bedrock")),
        ("call_1", ()),
        ("call_1__thought__" + "a+/=" * 50, ()),
    ],
)
def test_lint_finds_an_id_of_a_form_that_is_refused(
    call_id: str, refusing: tuple[Provider, ...]
) -> None:
    for provider in PROVIDERS:
        found = [one.at for one in lint(talk("search", call_id), provider)]
        assert found == ([1, 2] if provider in refusing else [])


def test_a_context_tells_what_it_renamed_and_the_definitions_follow() -> None:
    context = fit(talk("my tool.v1"), tools=DEFINED, max_tokens=1_000)

    assert context.renamed_tools == {"my_tool_v1": "my tool.v1"}
    assert parse_message(context.messages[1]).calls[0].name == "my_tool_v1"
    assert context.messages[2]["name"] == "my_tool_v1"
    assert defined_names(context.sent_tools(DEFINED)) == ["my_tool_v1"]
    renamed = RepairCode.RENAMED_TOOL(name="my tool.v1", new_name="my_tool_v1")
    assert [repair.reason for repair in context.repairs] == [renamed] * 3
    assert [repair.at for repair in context.repairs] == [None, 1, 2]


def test_a_definition_is_renamed_before_it_is_called() -> None:
    context = fit([user("hi")], tools=DEFINED, max_tokens=1_000)

    assert context.renamed_tools == {"my_tool_v1": "my tool.v1"}
    [call] = context.own_calls([ToolCall(id="a", name="my_tool_v1", arguments="{}")])
    assert call.name == "my tool.v1"


def test_what_is_sent_is_counted() -> None:
    plain = [{"type": "function", "function": {"name": "my_tool_v1"}}]

    renamed = fit(talk("my tool.v1"), tools=DEFINED, max_tokens=1_000)

    assert renamed.tokens == fit(talk("my_tool_v1"), tools=plain, max_tokens=1_000).tokens


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
def test_every_shape_is_sent_the_new_name(shape: Any) -> None:
    sent = str(fit(talk("my tool.v1"), tools=DEFINED, max_tokens=1_000).in_shape(shape))

    assert "my_tool_v1" in sent
    assert "my tool.v1" not in sent


def test_an_id_is_renamed_with_its_result_and_told() -> None:
    context = fit(talk("search", "functions.search:0"), max_tokens=1_000)

    call = parse_message(context.messages[1]).calls[0]
    assert re.fullmatch(r"functions_search_0_[0-9a-f]{6}", call.id)
    assert context.messages[2]["tool_call_id"] == call.id
    assert context.renamed_ids == {call.id: "functions.search:0"}
    assert [repair.kind for repair in context.repairs] == ["renamed_id"]


def test_names_that_would_become_the_same_have_a_suffix_each() -> None:
    names = SentNames(["a b", "a.b", "a_b"])

    sent = [names.of(name) for name in ("a b", "a.b", "a_b")]

    assert len(set(sent)) == 3
    assert sent[2] == "a_b"


def test_the_order_of_definitions_changes_no_name() -> None:
    one, other = SentNames(["a b", "a.b"]), SentNames(["a.b", "a b"])

    assert one.original == other.original


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "my tool", "input_schema": {}},
        {"type": "function", "name": "my tool"},
        {"function_declarations": [{"name": "my tool"}, {"name": "other"}]},
        {"toolSpec": {"name": "my tool"}},
    ],
)
def test_definitions_of_every_form_are_renamed_and_left_alone(tool: dict[str, Any]) -> None:
    context = fit([user("hi")], tools=[tool], max_tokens=1_000)

    assert defined_names(context.sent_tools([tool]))[0] == "my_tool"
    assert defined_names([tool])[0] == "my tool"


@given(st.lists(st.text(max_size=70), max_size=6, unique=True))
def test_names_stay_apart_and_can_be_told_back(defined: list[str]) -> None:
    names = SentNames(defined)

    sent = [names.of(name) for name in defined]

    assert len(set(sent)) == len(defined)
    assert all(map(is_sent_everywhere, sent))
    assert [names.original.get(name, name) for name in sent] == defined


def test_a_name_becomes_the_same_in_every_turn() -> None:
    history = [*talk("files.read"), assistant("done"), *talk("my.other", "b")]

    first = fit(history[:4], max_tokens=1_000).messages
    second = fit(history, max_tokens=1_000).messages

    assert second[: len(first)] == first


@pytest.mark.parametrize(
    "fields", [{"tool_limits": (("my tool.v1", 60),)}, {"protected_tools": ("my tool.v1",)}]
)
def test_limits_by_the_own_name_hold_for_a_context_that_comes_back(fields: Any) -> None:
    history: list[Message] = []
    for n in range(6):
        asking = assistant("", ToolCall(id=f"c{n}", name="my tool.v1", arguments="{}"))
        output = "\n".join(f"line {k} of {n}: data" for k in range(120))
        history += [user(f"go {n}"), asking, tool_result(f"c{n}", output), assistant("ok")]
    policy = Policy(strategies=("shorten_tool_outputs",), trigger_ratio=0.3).override(**fields)
    came_back = fit(history, tools=DEFINED, max_tokens=100_000).messages

    own = compact(history, tools=DEFINED, policy=policy, max_tokens=6_000)
    back = compact(came_back, tools=DEFINED, policy=policy, max_tokens=6_000)

    assert back.context.messages == own.context.messages


odd_names = st.one_of(
    st.sampled_from(["search", "my tool", "my_tool", "my.tool", "工具", "", " ", "1st", "x" * 80]),
    st.sampled_from(["expand_tool_output", "expand tool output", "_", "a\n"]),
    st.text(max_size=70),
)
odd_ids = st.one_of(
    st.sampled_from(["a", "b", "", " ", "a b", "x" * 100, "functions.search:0", "a\n"]),
    st.sampled_from(["call_1__thought__sig==", "__thought__x"]),
    st.text(max_size=60),
)


@given(
    st.lists(st.lists(st.tuples(odd_ids, odd_names), min_size=1, max_size=3), max_size=4),
    st.lists(odd_names, max_size=5, unique=True),
)
def test_whatever_names_and_ids_there_are_every_provider_takes_what_is_sent(
    turns: list[list[tuple[str, str]]], defined: list[str]
) -> None:
    history = [user("go")]
    for turn in turns:
        calls = [ToolCall(id=one, name=name, arguments="{}") for one, name in turn]
        history.append(assistant("", *calls))
        history += [tool_result(one, "42", name=name) for one, name in turn]
    tools = [{"type": "function", "function": {"name": name}} for name in defined]

    context = fit(history, tools=tools, max_tokens=100_000)

    sent = context.sent_tools(tools)
    assert [lint(context.messages, one, tools=sent) for one in PROVIDERS] == [[], [], [], []]
    again = fit(context.messages, tools=tools, max_tokens=100_000)
    assert again.messages == context.messages
