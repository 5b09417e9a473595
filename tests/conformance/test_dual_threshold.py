"""The second source design, `dual-threshold`, row by row and resolution by resolution."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit, ruling
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.triggers import find_trigger, measure
from ctxcore.errors import PolicyError
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.rules import rule_counter
from tests.conformance.conversations import (
    Scripted,
    assistant,
    chain,
    said,
    sent,
    sized,
    system,
    talk,
    user,
    words,
)
from tests.histories import call

DESIGN = Policy.preset("dual-threshold")
EXACT = DESIGN.override(counting="tiktoken")
NO_GOAL = EXACT.override(goal_max_tokens=0)


def summarized(summary: str, messages: int, language: str = "en") -> CompactionState:
    """The state in which `summary` stands for the first `messages` messages."""
    record = Compaction(
        covered_until=messages,
        summarized_until=messages,
        covered_messages=messages,
        summary=summary,
        summary_tokens=counter_for(None).count(summary),
        language="zh" if language == "zh" else "en",
    )
    return CompactionState(active=record, summaries=1)


def verdicts(context: Context) -> list[str]:
    """What became of each message."""
    return [verdict.verdict for verdict in context.verdicts]


def listing(count: int, **more: object) -> str:
    """A tool output with so many items, and their total."""
    items = [
        {"id": at, "title": f"Meeting {at}", "notes": f"bring the report number {at}"}
        for at in range(1, count + 1)
    ]
    return json.dumps({"success": True, "items": items, "total": count, **more})


# the budget


def test_76_800_of_128_000_are_usable_and_split_into_19_448_and_48_620() -> None:
    budget = DESIGN.budget(system_tokens=2_000)

    assert (budget.window_tokens, budget.usable_tokens) == (128_000, 76_800)
    assert budget.history_tokens == 74_800
    assert (budget.summary_tokens, budget.recent_tokens) == (19_448, 48_620)


def test_a_system_prompt_of_2_156_leaves_74_644_split_into_19_407_and_48_519() -> None:
    budget = fit([system(2_156), user("hi")], policy=DESIGN).budget

    assert budget is not None
    assert (budget.usable_tokens, budget.history_tokens) == (76_800, 74_644)
    assert (budget.summary_tokens, budget.recent_tokens) == (19_407, 48_519)


def test_the_upper_threshold_is_50_000_and_the_lower_30_000() -> None:
    budget = DESIGN.budget(system_tokens=2_000)

    assert (budget.trigger_tokens, budget.target_tokens) == (50_000, 30_000)


def test_thresholds_scale_with_a_smaller_window_of_the_model() -> None:
    budget = DESIGN.budget(window_tokens=32_000)  # a quarter of 128,000

    assert (budget.usable_tokens, budget.trigger_tokens, budget.target_tokens) == (
        19_200,
        12_500,
        7_500,
    )


@pytest.mark.parametrize("field", ["usable_ratio", "summary_history_ratio", "recent_history_ratio"])
@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_ratios_go_from_0_to_1(field: str, value: float) -> None:
    with pytest.raises(PolicyError):
        DESIGN.override(**{field: value})


def test_the_shares_of_summary_and_recent_are_at_most_1_together() -> None:
    DESIGN.override(summary_history_ratio=0.35)

    with pytest.raises(PolicyError):
        DESIGN.override(summary_history_ratio=0.36)


# the context


def test_a_context_is_system_summary_as_second_system_message_and_recent_ones() -> None:
    history = [system(50), *talk(12, 100), user("and now?")]

    context = fit(history, policy=NO_GOAL, state=summarized("1. It was named c-4711.", 5))

    assert sent(context)[1:2] == [
        "system: [Conversation summary]\n1. It was named c-4711.\n---",
    ]
    assert [message["role"] for message in context.messages][:3] == ["system", "system", "user"]
    assert verdicts(context) == ["kept"] + ["summarized"] * 4 + ["kept"] * 9
    assert [lint(context.messages, provider) for provider in PROVIDERS] == [[], [], [], []]


def test_the_summary_is_headed_in_chinese_for_a_chinese_conversation() -> None:
    state = summarized("1. 2026-01-15 创建了 5 个日程", 2, "zh")

    context = fit([user("建日程"), assistant("好的"), user("现在呢？")], policy=DESIGN, state=state)

    assert sent(context)[0] == "system: 【对话历史总结】\n1. 2026-01-15 创建了 5 个日程\n---"


def test_at_10_messages_nothing_is_done_while_all_of_it_fits() -> None:
    output = words(20_000)
    history = [system(100), *talk(6, 9_000), user("look"), *chain("a", output), assistant("so")]

    context = fit(history, policy=DESIGN)  # 54,000 and 20,000: above both thresholds
    result = compact(history, policy=DESIGN, summarizer=Scripted())

    assert verdicts(context) == ["kept"] * 11
    assert said(context.messages[9]) == output
    assert (result.applied, result.trigger) == (False, None)
    assert result.context.messages == context.messages


def test_at_11_messages_tool_outputs_are_shortened() -> None:
    history = [*talk(7, 50), user("look"), *chain("a", listing(40)), assistant("so")]

    assert verdicts(fit(history[1:], policy=DESIGN)) == ["kept"] * 10
    assert verdicts(fit(history, policy=DESIGN))[9] == "compressed"


def test_at_10_messages_or_fewer_it_acts_when_over_budget() -> None:
    with_output = [user("look"), *chain("a", words(90_000)), assistant("so"), user("and now?")]
    long = [*talk(8, 10_000), user("and now?")]  # 80,000 of 76,800

    context = fit(with_output, policy=DESIGN)
    result = compact(long, policy=EXACT, summarizer=Scripted())

    assert verdicts(context) == ["kept", "kept", "compressed", "kept", "kept"]
    assert plan_compaction(with_output, policy=DESIGN) is None
    assert result.applied
    assert result.context.tokens <= 76_800


# tool outputs


def test_a_tool_output_of_200_tokens_is_whole_and_a_longer_one_is_not() -> None:
    history = [*talk(10, 50), user("look")]
    at, over = words(200), words(201)

    whole = fit([*history, *chain("a", at)], policy=DESIGN)
    shorter = fit([*history, *chain("a", over)], policy=DESIGN)

    assert said(whole.messages[-1]) == at
    assert shorter.verdict(12).verdict == "compressed"


def test_a_long_json_output_shows_status_total_and_the_first_and_last_two() -> None:
    context = fit([*talk(10, 50), user("look"), *chain("a", listing(20))], policy=DESIGN)

    shown = json.loads(said(context.messages[-1]))

    assert shown["success"] is True
    assert shown["total"] == 20
    assert shown["compressed"] is True
    assert [item if isinstance(item, str) else item["id"] for item in shown["items_preview"]] == [
        1,
        2,
        "... (16 omitted)",
        19,
        20,
    ]
    assert counter_for(None).count(said(context.messages[-1])) <= 200


def test_outputs_are_shortened_with_200_tokens_unless_a_user_says_otherwise() -> None:
    history = [*talk(10, 50), user("look"), *chain("a", listing(20))]

    off = fit(history, policy=DESIGN.override(shortens_always=False))
    smaller = fit(history, policy=DESIGN.override(shorten_over_tokens=80))

    assert said(off.messages[-1]) == listing(20)
    assert counter_for(None).count(said(smaller.messages[-1])) <= 80


def test_of_all_presets_only_this_one_and_the_default_compress_tool_outputs() -> None:
    history = []
    for turn in range(12):
        history += [user("look"), *chain(f"c{turn}", listing(40)), assistant("so")]

    compressing = {
        name
        for name in Policy.presets()
        if "compressed"
        in verdicts(
            compact(
                history,
                policy=Policy.preset(name),
                max_tokens=30_000,
                summarizer=Scripted(),
                force=True,
            ).context
        )
    }

    assert compressing == {"dual-threshold", "default"}


# when a compaction starts


def test_a_total_above_50_000_triggers_and_one_of_50_000_does_not() -> None:
    wide = EXACT.override(recent_history_ratio=0.74)  # 56,832: only the thresholds speak
    at, above = talk(25, 2_000), [*talk(24, 2_000), sized("user", 2_001)]

    assert plan_compaction(at, policy=wide) is None
    plan = plan_compaction(above, policy=wide)

    assert plan is not None
    assert str(plan.trigger) == (
        "history above the upper threshold: tokens 50,001, upper 50,000, lower 30,000"
        " (counted by tiktoken)"
    )


def test_the_oldest_fold_until_the_rest_and_the_summary_are_below_30_000() -> None:
    result = compact(talk(51, 1_000), policy=EXACT, summarizer=Scripted(words(15_000)))

    record = result.state.active
    assert record is not None
    rest = sum(1_000 for _ in range(51)) - 1_000 * len(result.folded)
    assert result.folded == tuple(range(len(result.folded)))
    assert rest + result.context.breakdown.summary < 30_000
    # one message fewer, with a summary of a quarter of its source, would not be below
    assert rest + 1_000 + (len(result.folded) - 1) * 250 >= 30_000 - 100


def test_a_long_summary_of_a_model_still_leaves_rest_and_summary_below_30_000() -> None:
    summarizer = Scripted("So it was said. " * 20_000)

    result = compact(talk(51, 1_000), policy=EXACT, summarizer=summarizer)

    rest = 1_000 * (51 - len(result.folded))
    assert result.applied
    assert rest + result.context.breakdown.summary < 30_000
    assert summarizer.requests[0].max_tokens <= 19_448


def test_a_first_summary_needs_20_messages() -> None:
    roomy = EXACT.override(recent_history_ratio=0.74)  # above the upper threshold, all of it shown

    assert plan_compaction(talk(19, 2_700), policy=roomy) is None  # 51,300
    assert plan_compaction(talk(20, 2_700), policy=roomy) is not None


def test_a_further_summary_needs_10_new_messages() -> None:
    roomy = EXACT.override(recent_history_ratio=0.74)
    state = summarized(words(1_000), 5)

    assert plan_compaction(talk(14, 5_700), policy=roomy, state=state) is None  # 9: 51,300
    assert plan_compaction(talk(15, 5_200), policy=roomy, state=state) is not None  # 10: 52,000


@pytest.mark.parametrize(("new", "is_enough"), [(990, False), (1_100, True)])
def test_a_further_summary_needs_new_tokens_above_0_5_of_the_summary(
    new: int, is_enough: bool
) -> None:
    low = EXACT.override(upper_tokens=2_000, lower_tokens=1_500)
    state = summarized(words(2_000), 5)  # 11 x 90 and 11 x 100 are 990 and 1,100

    plan = plan_compaction(talk(16, new // 11), policy=low, state=state)

    assert (plan is not None) is is_enough


def test_the_minimums_are_waived_where_anything_would_be_uncovered() -> None:
    history = talk(19, 2_600)  # 49,400: below 50,000, and above the recent budget of 48,620

    result = compact([system(2_000), *history], policy=EXACT, summarizer=Scripted())

    assert str(result.trigger) == (
        "beyond the recent budget: tokens 49,400, recent budget 48,620 (counted by tiktoken)"
    )
    assert "dropped" not in verdicts(result.context)


def test_15_messages_of_10_000_tokens_are_compacted() -> None:
    result = compact(talk(15, 10_000), policy=EXACT, summarizer=Scripted())

    assert result.applied
    assert result.context.tokens < 30_000
    assert "dropped" not in verdicts(result.context)


def test_switched_off_it_does_nothing_while_all_of_it_fits() -> None:
    history = [*talk(60, 1_000), user("look"), *chain("a", listing(40)), user("and now?")]

    result = compact(history, policy=DESIGN.override(trigger_ratio=1.0), summarizer=Scripted())

    assert not result.applied
    assert verdicts(result.context) == ["kept"] * 64


def test_switched_off_it_leaves_a_gap_marker_where_not_all_of_it_fits() -> None:
    off = NO_GOAL.override(trigger_ratio=1.0)

    result = compact(talk(100, 1_000), policy=off, summarizer=Scripted())

    assert not result.applied
    assert verdicts(result.context) == ["dropped"] * 51 + ["kept"] * 49  # 49 in 49,920
    assert sent(result.context)[0].endswith("[51 earlier messages are not shown]")


# recent messages


def test_a_chain_that_does_not_fit_is_skipped_whole_and_leaves_a_gap_marker() -> None:
    policy = NO_GOAL.override(shortens_always=False, trigger_ratio=1.0)
    history = [*talk(12, 50), user("read it"), *chain("big", words(4_000)), assistant("read")]
    history += [*talk(4, 50), user("and now?")]

    context = fit(history, policy=policy, max_tokens=3_000)  # 1,950 for recent messages

    assert verdicts(context) == ["kept"] * 13 + ["dropped"] * 2 + ["kept"] * 6
    assert "user: read it\n\n[2 earlier messages are not shown]" in sent(context)


def test_a_chain_stays_with_all_of_its_results_or_goes_with_all_of_them() -> None:
    policy = NO_GOAL.override(shortens_always=False, trigger_ratio=1.0)
    both = [assistant("", call("a"), call("b")), tool_result("a", words(900))]
    both.append(tool_result("b", words(900)))
    history = [*talk(10, 50), user("look"), *both, assistant("done"), user("and now?")]

    large = fit(history, policy=policy, max_tokens=4_000)  # 2,600 for recent messages
    small = fit(history, policy=policy, max_tokens=2_000)  # 1,300

    assert verdicts(large) == ["kept"] * 16
    assert verdicts(small)[10:] == ["kept", "dropped", "dropped", "dropped", "kept", "kept"]


def test_a_large_current_message_does_not_push_out_what_fits_beside_it() -> None:
    history = [*talk(12, 1_000), sized("user", 20_000)]  # 32,000 of 48,620
    state = summarized(words(15_000), 0)

    context = fit(history, policy=NO_GOAL, state=state)

    assert verdicts(context) == ["kept"] * 13


# counting


def test_it_counts_by_estimate_unless_a_user_wants_tiktoken() -> None:
    assert DESIGN.counting == "estimate"

    rules = {name: rule_counter(name, None) for name in ("estimate", "tiktoken")}

    assert [rule.counter.id for rule in rules.values() if rule] == ["estimate:o200k", "cl100k_base"]


def measured(history: list[Message], policy: Policy) -> tuple[int, int, bool]:
    """The history by the policy's rule and by the model's counter, and whether a rule fires."""
    counter = counter_for(None)
    call = Call(
        policy=policy, counter=counter, budget=policy.budget(), **ruling(policy, None, None)
    )
    size = measure(ListHistory(history, counter), call)
    return size.ruling.history_tokens, size.history_tokens, find_trigger(size, call) is not None


def test_the_presets_own_rule_feeds_the_triggers() -> None:
    history = talk(40, 1_104)  # 1,100 words: 5,499 characters

    by_characters = measured(history, DESIGN.override(counting="chars/2"))
    by_vocabulary = measured(history, EXACT)

    assert by_characters == (40 * (5_499 // 2 + 4), 44_160, True)
    assert by_vocabulary == (44_160, 44_160, False)


def test_that_a_context_fits_is_checked_with_the_models_counter() -> None:
    few = "\U0001f9ff" * 400  # few characters, many tokens
    history = [user(f"{few} {at}") for at in range(40)]
    policy = DESIGN.override(counting="chars/2.5", window_tokens=20_000)

    context = fit(history, policy=policy)
    plan = plan_compaction(history, policy=policy)

    assert context.tokens <= 12_000
    assert plan is not None
    assert plan.trigger.is_by_model


def test_what_the_models_counter_would_leave_out_is_folded_though_the_rule_sees_room() -> None:
    few = "\U0001f9ff" * 100
    history = [user(f"{few} {at}") for at in range(27)]
    policy = NO_GOAL.override(counting="chars/2.5", window_tokens=20_000)
    budget = policy.budget()
    by_rule, by_model, _ = measured(history, policy)
    assert by_rule < budget.recent_tokens < by_model

    result = compact(history, policy=policy, summarizer=Scripted())

    assert result.applied
    assert "dropped" not in verdicts(result.context)


# the summary and the state


def test_the_state_holds_what_the_document_lists() -> None:
    result = compact(talk(60, 1_000), policy=EXACT, summarizer=Scripted(words(1_500)))

    record = result.state.active
    assert record is not None
    folded = len(result.folded)
    assert (record.summary, record.summary_tokens) == (words(1_500), 1_500)
    assert (record.covered_until, record.covered_messages) == (folded, folded)
    assert record.source_tokens == 1_000 * (folded - 1)  # the original request stays as it is
    assert record.compression_rate == 1 - 1_500 / record.source_tokens


def test_a_summary_of_1_500_tokens_for_12_000_is_a_compression_rate_of_87_5_percent() -> None:
    record = Compaction(covered_until=50, summary_tokens=1_500, source_tokens=12_000)

    assert record.compression_rate == 0.875


def test_a_further_summary_may_be_longer_than_the_new_messages_alone() -> None:
    low = EXACT.override(upper_tokens=3_000, lower_tokens=2_900)
    history = talk(30, 100)
    state = summarized(words(2_000), 15)

    result = compact(history, policy=low, state=state, summarizer=Scripted(words(1_300)))

    assert result.applied
    assert result.summary == words(1_300)  # of 2,000 before and one message of 100


def test_extractive_points_are_numbered_and_dated() -> None:
    day = datetime(2026, 1, 15, 9, 0, tzinfo=UTC)
    messages = tuple(user(f"Please create meeting {at} on Monday.") for at in range(3))
    request = SummaryRequest(
        messages=messages, dates=(day,) * 3, max_tokens=200, form=DESIGN.summary_form
    )

    summary = ExtractiveSummarizer(counter_for(None)).summarize(request)

    assert summary.splitlines()[0] == "1. 2026-01-15 user: Please create meeting 0 on Monday."


# when it runs, and the account of a call


def test_it_runs_before_each_call_of_a_model() -> None:
    assert DESIGN.check_at == "before_send"


def test_every_number_of_the_documents_log_is_there() -> None:
    history = [system(2_156), *talk(48, 900), user("and now?")]

    context = fit(history, policy=DESIGN)

    budget, parts = context.budget, context.breakdown
    assert budget is not None
    assert budget.window_tokens == 128_000
    assert (budget.usable_tokens, parts.system) == (76_800, 2_156 + 3)
    assert parts.summary == 0
    assert parts.recent == 48 * 900 + 7
    assert context.tokens == parts.system + parts.summary + parts.recent
    assert verdicts(context) == ["kept"] * 50


def test_a_context_under_this_design_is_the_same_from_the_same_messages() -> None:
    counter = counter_for(None)
    history = [*talk(20, 100), user("look"), *chain("a", listing(50))]
    call = Call(policy=DESIGN, counter=counter, budget=DESIGN.budget())

    one, other = (build_context(ListHistory(history, counter), call) for _ in range(2))

    assert json.dumps(one.messages) == json.dumps(other.messages)
