"""Measuring a session and the rules that start a compaction, with their numbers."""

from __future__ import annotations

from ctxcore.assembly.records import Compaction, CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.measuring import Trigger
from ctxcore.messages.values import Message
from ctxcore.policy import Policy
from tests.histories import user
from tests.words import words

SLIDING = Policy.preset("sliding-summary")


def remarks(count: int, size: int = 96) -> list[Message]:
    """User messages of `size` words, which take 4 tokens more each."""
    return [user(words(size)) for _ in range(count)]


def trigger(history: list[Message], policy: Policy, usable: int, **more: object) -> Trigger | None:
    """The rule that asks for a compaction."""
    plan = plan_compaction(history, policy=policy, max_tokens=usable, **more)  # type: ignore[arg-type]  # its own keywords
    return plan.trigger if plan else None


def test_the_default_starts_at_eighty_percent_of_the_input() -> None:
    below, at = remarks(7), [*remarks(7), user(words(93))]  # 3 + 700; 3 + 700 + 97

    assert trigger(below, Policy(), 1_000) is None
    assert str(trigger(at, Policy(), 1_000)) == "input at the trigger: tokens 800, trigger 800"


def test_tools_and_knowledge_count_towards_the_trigger() -> None:
    tools = [{"type": "function", "function": {"name": "search", "description": words(60)}}]

    assert trigger(remarks(7), Policy(), 1_000, tools=tools) is None
    assert trigger(remarks(7), Policy(), 1_000, tools=tools, knowledge={"a": words(40)})


def test_sliding_summary_measures_summary_and_messages_against_its_share() -> None:
    # usable 1,000, 15 of them for the estimated system prompt: history 591, trigger 472
    fired = trigger(remarks(6, 75), SLIDING, 1_000)

    assert str(fired) == "history at the trigger: tokens 474, trigger 472"
    assert trigger(remarks(6, 74), SLIDING, 1_000) is None


def test_sliding_summary_waits_for_six_messages() -> None:
    result = compact(remarks(5, 96), policy=SLIDING, max_tokens=1_000)

    assert result.reason == "only 5 messages; 6 are needed"


def test_a_message_beyond_the_lookback_is_a_trigger_of_its_own() -> None:
    assert trigger(remarks(41, 1), SLIDING, 100_000) is None

    fired = trigger(remarks(42, 1), SLIDING, 100_000)

    assert str(fired) == "beyond the lookback: uncovered messages 42, looked at 40"


def test_an_input_above_usable_is_a_trigger_whatever_the_number_of_messages() -> None:
    fired = trigger(remarks(5, 246), SLIDING, 1_000)

    assert str(fired) == "input above usable: tokens 1,253, usable 1,000"


def test_only_what_is_uncovered_counts_and_the_summary() -> None:
    active = Compaction(covered_until=8, summary=words(50), summarized_until=8)
    state = CompactionState(active=active)

    result = compact(remarks(10), max_tokens=1_000, state=state)

    assert not result.applied
    assert 250 < result.before_tokens < 400


def test_excluded_messages_do_not_count() -> None:
    state = CompactionState(excluded=frozenset({1, 2, 3}))

    assert trigger(remarks(9), Policy(), 1_000)
    assert trigger(remarks(9), Policy(), 1_000, state=state) is None


def test_below_the_trigger_it_says_how_far() -> None:
    assert compact(remarks(2), max_tokens=1_000).reason == "below the trigger: 203 of 800 tokens"


def test_an_unknown_window_never_starts_by_itself_but_may_be_asked() -> None:
    quiet = compact(remarks(30), model="nobody/knows")
    asked = compact(remarks(30), model="nobody/knows", force=True)

    assert "unknown" in quiet.reason
    assert asked.applied
