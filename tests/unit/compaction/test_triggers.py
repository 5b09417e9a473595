"""Measuring a session and the rules that start a compaction, with their numbers."""

from __future__ import annotations

import pytest

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.triggers import Trigger
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from tests.histories import assistant, user
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
    counted = compact(remarks(7), max_tokens=1_000, tools=tools, knowledge={"a": words(40)})
    assert counted.trigger is not None
    assert counted.trigger.rule == TriggerCode.INPUT_RATIO


def test_sliding_summary_measures_summary_and_messages_against_its_share() -> None:
    # usable 1,000, 15 of them for the estimated system prompt: history 591, trigger 472
    fired = trigger(remarks(6, 75), SLIDING, 1_000)

    assert str(fired) == "history at the trigger: tokens 474, trigger 472"
    assert trigger(remarks(6, 74), SLIDING, 1_000) is None


def test_sliding_summary_waits_for_six_messages() -> None:
    result = compact(remarks(5, 96), policy=SLIDING, max_tokens=1_000)

    assert result.reason == OutcomeCode.TOO_FEW_MESSAGES(messages=5, needed=6)


def test_the_lookback_is_no_trigger_of_its_own() -> None:
    assert trigger(remarks(42, 1), SLIDING, 100_000) is None


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
    reason = compact(remarks(2), max_tokens=1_000).reason

    assert reason == OutcomeCode.BELOW_TRIGGER(tokens=203, trigger=800)
    assert str(reason) == "below the trigger: 203 of 800 tokens"


def test_an_unknown_window_never_starts_by_itself_but_may_be_asked() -> None:
    quiet = compact(remarks(30), model="nobody/knows")
    asked = compact(remarks(30), model="nobody/knows", force=True)

    assert quiet.reason.code == OutcomeCode.WINDOW_UNKNOWN
    assert asked.applied


# each rule with its numbers; `fired` names it even where there is nothing to fold


def fired(history: list[Message], policy: Policy, usable: int) -> Trigger | None:
    """The rule that fires."""
    return compact(history, policy=policy, max_tokens=usable).trigger


def quiet(**fields: object) -> Policy:
    """A policy with no rule but those that `fields` switch on."""
    return Policy(trigger_ratio=None).override(**fields)


def test_so_many_turns_since_the_last_compaction_are_a_trigger() -> None:
    policy = quiet(max_turns=5)
    history = [message for _ in range(5) for message in (user("ask"), assistant("answer"))]

    assert trigger(history[:8], policy, 1_000) is None
    assert str(trigger(history, policy, 1_000)) == "number of turns: turns 5, most 5"


def test_turns_count_from_the_newest_message_that_the_last_compaction_saw() -> None:
    history = [message for _ in range(9) for message in (user("ask"), assistant("answer"))]
    active = Compaction(covered_until=4, seen_until=10, summarized_until=4, summary="so far")
    state = CompactionState(active=active)

    assert trigger(history[:16], quiet(max_turns=4), 1_000, state=state) is None
    assert trigger(history, quiet(max_turns=4), 1_000, state=state) is not None


def test_the_model_may_ask_once_until_it_asks_again() -> None:
    policy = quiet(summary_marker="!!!SUMMARY!!!", min_gain_ratio=0.0)
    history = [*remarks(8), assistant("I lose the thread. !!!SUMMARY!!!"), user("go on")]

    first = compact(history, policy=policy, max_tokens=2_000)
    after = compact(history, policy=policy, max_tokens=2_000, state=first.state)
    later = [*history, assistant("!!!SUMMARY!!!"), user("go on")]

    assert first.applied
    assert first.trigger == Trigger(reason=TriggerCode.MARKED())
    assert (after.applied, after.trigger) == (False, None)
    assert trigger(later, policy, 2_000, state=first.state) is not None


def test_only_the_newest_answer_of_the_model_asks() -> None:
    policy = quiet(summary_marker="!!!SUMMARY!!!")
    mark = "!!!SUMMARY!!!"

    assert trigger([*remarks(8), user(mark)], policy, 2_000) is None
    assert trigger([*remarks(8), assistant(mark), user("x"), assistant("y")], policy, 2_000) is None
    assert trigger([*remarks(8), assistant(mark)], quiet(), 2_000) is None


def test_little_that_remains_is_a_trigger() -> None:
    policy = quiet(remaining_ratio=0.25)  # 750 of 1,000 may be taken

    assert trigger([*remarks(7), user(words(43))], policy, 1_000) is None  # 3 + 700 + 47
    assert str(trigger([*remarks(7), user(words(44))], policy, 1_000)) == (
        "too little free: 249 tokens left, minimum 250"
    )


def test_the_upper_threshold_must_be_passed_and_the_lower_is_named() -> None:
    policy = quiet(upper_tokens=700, lower_tokens=300, strategies=("fold_to_lower",))

    assert trigger([*remarks(6), user(words(93))], policy, 1_000) is None  # 3 + 600 + 97
    assert str(trigger([*remarks(6), user(words(94))], policy, 1_000)) == (
        "input above the upper threshold: tokens 701, upper 700, lower 300"
    )


def test_messages_beyond_their_share_are_a_trigger() -> None:
    policy = quiet(recent_history_ratio=0.5, trigger_on="history", first_min_messages=20)

    assert fired(remarks(5), policy, 1_000) is None
    assert str(fired([*remarks(5), user("x")], policy, 1_000)) == (
        "beyond the recent budget: tokens 505, recent budget 500"
    )


def test_an_input_above_available_by_the_policys_own_counter_is_a_trigger() -> None:
    policy = quiet(counting="chars/2", strategies=("fold_oldest",))
    history = [user("word " * 100)] * 4  # 104 tokens each, 254 by the rule

    assert trigger(history, policy, 1_016) is None
    assert str(trigger(history, policy, 1_015)) == (
        "input above available: tokens 1,016, available 1,015 (counted by chars/2)"
    )


# which rule is named when several fire


MARKED = [*remarks(9), assistant("!!!SUMMARY!!!")]


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, TriggerCode.MARKED),
        ({"summary_marker": None}, TriggerCode.BEYOND_RECENT),
        ({"summary_marker": None, "recent_history_ratio": None}, TriggerCode.MANY_TURNS),
    ],
)
def test_urgent_rules_are_named_before_patient_ones(fields: dict[str, object], rule: str) -> None:
    policy = Policy(
        summary_marker="!!!SUMMARY!!!", recent_history_ratio=0.01, max_turns=3
    ).override(**fields)

    found = fired(MARKED, policy, 1_000)

    assert found is not None
    assert found.rule == rule


def test_patient_rules_are_named_in_their_order() -> None:
    every: dict[str, object] = {
        **{"max_turns": 3, "trigger_ratio": 0.5},
        **{"upper_tokens": 500, "remaining_ratio": 0.5},
    }
    named = []
    for gone in (None, *every):
        every |= {} if gone is None else {gone: None}
        found = fired(remarks(9), Policy().override(**every), 850)
        named.append(found.rule if found else "")

    assert named == [
        *(TriggerCode.MANY_TURNS, TriggerCode.INPUT_RATIO),
        *(TriggerCode.INPUT_UPPER, TriggerCode.LITTLE_REMAINS, TriggerCode.OVERFLOW),
    ]


def test_rules_that_can_wait_wait_for_their_messages_and_urgent_ones_do_not() -> None:
    policy = quiet(max_turns=3, first_min_messages=8, recent_history_ratio=0.036)

    assert fired(remarks(7, 1), policy, 1_000) is None  # 7 are beyond three turns, but too few
    assert str(fired(remarks(7, 2), policy, 1_000)) == (
        "beyond the recent budget: tokens 42, recent budget 36"
    )


def test_a_next_summary_waits_for_messages_and_for_tokens() -> None:
    policy = quiet(max_turns=1, next_min_messages=3, next_min_ratio=0.5)
    active = Compaction(covered_until=4, summarized_until=4, summary=words(196), seen_until=4)
    state = CompactionState(active=active)

    assert trigger(remarks(6), policy, 2_000, state=state) is None  # 2 messages
    assert trigger([*remarks(4), *remarks(3, 20)], policy, 2_000, state=state) is None  # 72 tokens
    assert trigger(remarks(7), policy, 2_000, state=state) is not None


def test_exactly_at_a_limit_that_must_be_passed_it_says_so() -> None:
    policy = quiet(upper_tokens=703, lower_tokens=300)

    assert compact(remarks(7), policy=policy, max_tokens=1_000).reason == (
        OutcomeCode.AT_TRIGGER(tokens=703, trigger=703)
    )
