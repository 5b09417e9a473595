"""What is no text for a provider never reaches one: names of tools, and summaries."""

from __future__ import annotations

import pytest

from ctxcore import compact, fit, lint
from ctxcore.messages.values import JsonObject

NAME = "re\ud800ad"
SAID: list[JsonObject] = [
    {"role": role, "content": f"{number}. {'what about it? ' * 20}"}
    for number in range(20)
    for role in ("user", "assistant")
]


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_a_tool_whose_name_has_a_lone_surrogate_makes_a_legal_context(model: str) -> None:
    call: JsonObject = {
        "id": "1",
        "type": "function",
        "function": {"name": NAME, "arguments": "{}"},
    }
    messages: list[JsonObject] = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": NAME, "content": "b"},
        {"role": "user", "content": "c"},
    ]

    sent = fit(messages, max_tokens=4_000, model=model).messages

    assert lint(sent, "openai") == []
    assert "\\ud800" not in ascii(sent)


def test_a_summary_with_a_lone_surrogate_and_nul_is_used_as_it_can_be_sent() -> None:
    result = compact(
        SAID, max_tokens=1_500, model="gpt-4o", summarizer=lambda *_: "They asked \ud800 \x00 all."
    )

    assert result.summary == "They asked \ufffd \x00 all."


def test_a_summary_of_nothing_else_is_told_as_empty() -> None:
    result = compact(SAID, max_tokens=1_500, model="gpt-4o", summarizer=lambda *_: "\ud800\x00")

    assert "empty" in str(result.reason)
