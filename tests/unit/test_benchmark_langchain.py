"""The replay beside LangChain's middleware counts what it says, on talks to check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.langchain import OURS, Figures, contenders, replay, tokens_of
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result

TALK = [
    text_message("user", "Open /srv/app/gate_4711.txt and tell me."),
    text_message("assistant", "I will."),
    text_message("user", "Now."),
    Message(
        role="assistant",
        calls=(ToolCall(id="c", name="read", arguments='{"path":"/srv/app/gate_4711.txt"}'),),
    ),
    tool_result("c", "The gate is open."),
    text_message("assistant", "It is open."),
]
SIZES = [tokens_of(message) for message in TALK]


def figures(sends: Any, limit: int = 10_000) -> Figures:
    found = Figures()
    replay(TALK, sends, limit, found)
    return found


def test_everything_reuses_all_of_the_call_before() -> None:
    found = figures(list)
    sums = [sum(SIZES[:at]) for at in (1, 3, 5)]

    assert (found.calls, found.over, found.breaks) == (3, 0, 0)
    assert found.sent == sum(sums)
    assert found.cached == sum(sums[:2])
    assert found.literals == [True]
    assert found.cost == pytest.approx(sum(sums) - 0.9 * sum(sums[:2]))


def test_the_newest_message_alone_breaks_the_prefix_and_loses_the_literal() -> None:
    found = figures(lambda messages: messages[-1:])

    assert (found.breaks, found.cached) == (2, 0)
    assert found.literals == [False]


def test_calls_above_the_limit_are_counted() -> None:
    assert figures(list, limit=sum(SIZES[:3])).over == 1


def test_each_middleware_keeps_to_the_limit() -> None:
    said = [
        text_message(role, f"Crate {number} weighs {number * 17} kilos. " * 12)
        for number in range(30)
        for role in ("user", "assistant")
    ]
    limit = 3_000

    for name, sends in contenders(limit).items():
        found = Figures()
        replay(said, sends, limit, found)

        assert found.calls == 30
        assert found.over == 0 or "20 messages" in name
        assert found.sent < _whole(said), name
        assert found.breaks > 0, name


def test_a_middleware_sends_everything_that_fits() -> None:
    for name, sends in contenders(10_000).items():
        assert figures(sends).sent == figures(list).sent, name


def test_ours_is_what_the_others_are_compared_with() -> None:
    assert next(iter(contenders(1_000))) == OURS


def _whole(messages: Sequence[Message]) -> int:
    sizes = [tokens_of(message) for message in messages]
    calls = [at for at, one in enumerate(messages) if one.role == "assistant"]
    return sum(sum(sizes[:at]) for at in calls)
