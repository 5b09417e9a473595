"""Advice that changes nothing."""

from __future__ import annotations

import pytest

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.advising import check_tool_safety, recommend, tool_safety
from ctxcore.errors import MessageError
from ctxcore.messages.values import Message
from ctxcore.reasons.codes import ChoiceCode
from tests.histories import user
from tests.words import words

CHINESE = "请检查订单日志，并且说明原因。"


def remarks(count: int) -> list[Message]:
    """User messages of 500 characters and 100 words, 200 tokens each by the design's rule."""
    return [user(words(100)) for _ in range(count)]


def test_the_larger_of_the_rule_and_the_models_counter_is_compared() -> None:
    english, chinese = [user(words(500))], [user(CHINESE * 100)]

    # 2,000 tokens, of which half stay free
    assert recommend(english, max_tokens=2_000).usage_ratio == 0.999  # 2,499 characters / 2.5
    assert recommend(chinese, max_tokens=2_000).usage_ratio > len(CHINESE) * 100 / 2.5 / 1_000


def test_what_a_compaction_covers_does_not_count() -> None:
    active = Compaction(covered_until=40, summary="so far", summarized_until=40)
    history = remarks(45)

    whole = recommend(history, max_tokens=5_000)
    rest = recommend(history, max_tokens=5_000, state=CompactionState(active=active))

    assert (whole.strategy, whole.urgency) == ("summarize", "critical")
    assert rest.reason == ChoiceCode.SHORT(messages=5, chars=2_495)
    assert rest.urgency == "low"


def test_without_a_summarizer_it_recommends_to_truncate() -> None:
    advice = recommend(remarks(60), max_tokens=1_000, has_summarizer=False)

    assert (advice.strategy, advice.reason) == ("truncate", ChoiceCode.NO_SUMMARIZER())


def test_three_summaries_are_remembered() -> None:
    state = CompactionState(summaries=3)

    assert recommend(remarks(60), max_tokens=1_000, state=state).strategy == "truncate"


def test_no_room_at_all_is_critical() -> None:
    advice = recommend([user("go on")], max_tokens=0)

    assert (advice.urgency, advice.needs_optimization) == ("critical", True)


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(MessageError):
        recommend([{"role": "nobody"}], max_tokens=1_000)


@pytest.mark.parametrize(
    ("calls", "over_by", "message"),
    [
        (0, 0, "the input takes 800 tokens and 0 tool calls need 0 of 1,500"),
        (1, 0, "the input takes 800 tokens and 1 tool call needs 500 of 1,500"),
        (2, 300, "the input takes 800 tokens and 2 tool calls need 1,000 of 1,500: 300 too many"),
    ],
)
def test_tool_safety_says_how_many_tokens_are_missing(
    calls: int, over_by: int, message: str
) -> None:
    safety = tool_safety(800, 1_500, calls)

    assert (safety.is_safe, safety.over_by, safety.message) == (over_by == 0, over_by, message)


def test_an_input_above_the_budget_is_not_safe_even_without_calls() -> None:
    safety = check_tool_safety(remarks(10), max_tokens=2_000, tools_count=0)  # 1,000 stay free

    assert (safety.is_safe, safety.over_by) == (False, 990)  # 10 x int(499 / 2.5)
