"""References to originals: how they are written, and which tool answers them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.fitting import fit
from ctxcore.compression.markers import REFERENCE_TOKENS, parse_reference, with_reference
from ctxcore.compression.own_tools import (
    EXPAND_NAME,
    EXPAND_TOOL,
    RECALL_NAME,
    RECALL_TOOL,
    is_own_call_with,
    with_own_tools,
    without_own_tools,
)
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import counter_for
from tests.histories import outputs

OTHER: JsonObject = {"type": "function", "function": {"name": "search"}}
NAMESAKE: JsonObject = {"type": "function", "function": {"name": "expand_tool_output"}}


@given(outputs(), st.integers(min_value=1, max_value=999_999))
def test_json_stays_json_and_the_text_stays_as_it_was(output: str, seq: int) -> None:
    told = with_reference(output, seq)

    assert f"m{seq}" in told
    try:
        value = json.loads(output)
    except ValueError:
        assert told.startswith(output)
        return
    if isinstance(value, dict) and value:
        assert json.loads(told) == {**value, "… whole": f"m{seq}"}
    elif isinstance(value, list) and value:
        assert json.loads(told) == [*value, f"… whole: m{seq}"]


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", "one line", "code { }"])
def test_a_reference_takes_no_more_than_is_kept_free_for_it(text: str) -> None:
    counter = counter_for("gpt-4o")

    taken = counter.count(with_reference(text, 999_999)) - counter.count(text)

    assert 0 < taken <= REFERENCE_TOKENS


@pytest.mark.parametrize("ref", ["m12", "12", "… whole: m12", "[… whole: m12]", " m12 "])
def test_a_reference_is_read_as_models_write_it(ref: str) -> None:
    assert parse_reference(ref) == 12


@pytest.mark.parametrize("ref", ["", "m", "m-1", "twelve", "m1:4", "m" + "9" * 40])
def test_what_is_no_reference_is_none(ref: str) -> None:
    assert parse_reference(ref) is None


def test_a_tool_is_offered_beside_others_and_never_beside_a_namesake() -> None:
    both = (EXPAND_NAME, RECALL_NAME)

    assert with_own_tools([OTHER], both) == (OTHER, RECALL_TOOL, EXPAND_TOOL)
    assert with_own_tools([OTHER], [RECALL_NAME]) == (OTHER, RECALL_TOOL)
    assert with_own_tools([], both) == ()
    assert with_own_tools([OTHER, NAMESAKE], both) == (OTHER, NAMESAKE, RECALL_TOOL)
    assert without_own_tools(with_own_tools([OTHER], both)) == (OTHER,)


def test_calls_of_a_namesake_are_the_callers() -> None:
    assert is_own_call_with(EXPAND_NAME, [OTHER, EXPAND_TOOL])
    assert not is_own_call_with(EXPAND_NAME, [OTHER, NAMESAKE])
    assert is_own_call_with(RECALL_NAME, [OTHER, NAMESAKE])
    assert not is_own_call_with("search", [OTHER])


def test_fit_writes_no_reference() -> None:
    ask = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    long = "\n".join(f"line {n} of the report says {n * 7}" for n in range(900))
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "", "tool_calls": [ask]},
        {"role": "tool", "tool_call_id": "c", "content": long},
    ]

    context = fit(messages, max_tokens=3_000, tools=[OTHER, EXPAND_TOOL])

    assert context.verdict(2).verdict == "compressed"
    assert "whole:" not in str(context.messages)
