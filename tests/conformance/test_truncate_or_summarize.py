"""The third source design, `truncate-or-summarize`, row by row and resolution by resolution.

By its rule a message of 250 characters takes 100 tokens; by the model's own counter it takes 54.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.advising import check_tool_safety, recommend
from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
from ctxcore.compaction.strategies import Uses, choose, level_of, scores
from ctxcore.errors import SummarizerError
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy, Preference
from ctxcore.reasons.codes import ChoiceCode, OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.protocol import SummaryRequest
from tests.conformance.conversations import (
    Scripted,
    assistant,
    chain,
    lettered,
    letters,
    rounds,
    said,
    sent,
    user,
)

DESIGN = Policy.preset("truncate-or-summarize")
FAST, QUALITY = DESIGN.override(preference="fast"), DESIGN.override(preference="quality")
NO_GOAL = QUALITY.override(goal_max_tokens=0)  # the original request would stay, and not count
PREFERENCES: tuple[Preference, ...] = ("fast", "balanced", "quality")
PROMPT = text_message("system", letters(50))  # 20 tokens


def leaving(available: int) -> int:
    """The limit of a model that leaves so much for the input: 2,000 stay free, at most half."""
    return available + min(2_000, available)


# available, and when something is done


@pytest.mark.parametrize(
    ("window", "available"), [(8_192, 6_192), (4_096, 2_096), (4_000, 2_000), (3_000, 1_500)]
)
def test_2000_tokens_are_reserved_and_at_most_half(window: int, available: int) -> None:
    assert DESIGN.budget(window_tokens=window).usable_tokens == available


def test_max_tokens_is_4096_unless_the_user_or_the_model_says() -> None:
    def window(policy: Policy, model: str | None) -> int:
        budget = fit([user("go on")], policy=policy, model=model).budget
        assert budget is not None
        return budget.window_tokens

    assert window(DESIGN, None) == 4_096
    assert window(DESIGN, "nobody/knows") == 4_096
    assert window(DESIGN, "gpt-4") == 8_192
    assert window(DESIGN.override(window_tokens=6_000), "gpt-4") == 6_000
    assert window(DESIGN.override(window_tokens=6_000), None) == 6_000


def test_a_limit_that_a_call_names_is_the_models_and_leaves_2000_free() -> None:
    history = rounds(30, 250)  # 6,000 tokens by the rule

    result = compact(history, policy=DESIGN, max_tokens=4_096)
    budget = result.context.budget

    assert budget is not None
    assert (budget.window_tokens, budget.reserve_tokens, budget.usable_tokens) == (
        *(4_096, 2_000),
        2_096,
    )
    assert result.applied
    assert result.context.tokens <= 2_096
    assert fit(history, policy=DESIGN, max_tokens=3_000).tokens <= 1_500
    assert recommend(rounds(10, 250), max_tokens=4_000).usage_ratio == 1.0


def test_characters_are_divided_by_two_and_a_half() -> None:
    plan = plan_compaction(rounds(10, 250), policy=DESIGN, max_tokens=leaving(1_999))

    assert plan is not None
    assert (
        str(plan.trigger)
        == "input above available: tokens 2,000, available 1,999 (counted by chars/2.5)"
    )


def test_an_input_equal_to_available_is_left_alone_and_one_token_more_is_not() -> None:
    at = compact(rounds(10, 250), policy=DESIGN, max_tokens=leaving(2_000))
    above = compact(
        [*rounds(9, 250), *lettered(250, 253)], policy=DESIGN, max_tokens=leaving(2_000)
    )

    assert not at.applied
    assert at.reason == OutcomeCode.AT_TRIGGER(tokens=2_000, trigger=2_000).by("chars/2.5")
    assert at.context.messages == fit(rounds(10, 250)).messages
    assert above.applied


def test_knowledge_and_web_context_count() -> None:
    texts = {"knowledge": letters(300), "web": letters(200)}  # 200 tokens and their frames

    without = compact(rounds(9, 250), policy=DESIGN, max_tokens=leaving(2_000))
    with_them = compact(rounds(9, 250), policy=DESIGN, max_tokens=leaving(2_000), knowledge=texts)

    assert without.trigger is None
    assert with_them.trigger is not None
    assert with_them.trigger.rule == TriggerCode.ABOVE_AVAILABLE
    assert with_them.context.breakdown.to_dict()["knowledge"] > 100  # it stays
    assert with_them.state == without.state  # what is done about it is done for that call


def test_the_models_counter_asks_too_where_it_says_more() -> None:
    """Chinese takes 0.4 tokens a character by the rule, and more by this vocabulary."""
    history = [user("请检查订单日志，好吗？" * 20) for _ in range(20)]

    result = compact(history, policy=DESIGN, max_tokens=leaving(2_000))

    assert str(result.trigger).startswith("input above usable")
    assert result.after_tokens == result.context.tokens <= 2_000


def test_what_stays_fits_by_both_counters() -> None:
    """Four rounds fit by the rule, which is what the document looks at, but not as they count."""
    text = "请检查订单日志。" * 110
    history = [make(text) for _ in range(30) for make in (user, assistant)]

    result = compact(
        history, policy=QUALITY, max_tokens=leaving(4_000), summarizer=Scripted("已检查。")
    )

    assert result.state.active is not None
    covered = result.state.active.covered_until
    assert [at for at in range(covered, 60) if result.context.verdict(at).verdict != "kept"] == []
    assert result.after_tokens == result.context.tokens <= 4_000


def test_a_tool_turn_is_checked_like_a_message() -> None:
    history = [*rounds(8, 250), user("look"), *chain("a", letters(1_500))]

    assert DESIGN.check_at == "before_send"
    assert compact(history, policy=DESIGN, max_tokens=leaving(2_000)).applied


# rounds kept


@pytest.mark.parametrize(
    ("messages", "kept"),
    [(15, 8), (16, 8), (29, 8), (30, 6), (31, 6), (49, 6), (50, 4), (51, 4), (200, 4)],
)
def test_rounds_kept_by_message_count(messages: int, kept: int) -> None:
    """Each user message is a round here, and the last one waits for its answer."""
    greeting = assistant(letters(50_000))
    history = [greeting, *(user(f"remark {n}") for n in range(messages - 1))]

    plan = plan_compaction(history, policy=DESIGN, max_tokens=leaving(20_000))

    assert plan is not None
    assert plan.keep == tuple(range(messages - kept - 1, messages))


def test_the_system_prompt_counts_as_a_message() -> None:
    history = [PROMPT, assistant(letters(50_000)), *(user(f"remark {n}") for n in range(13))]

    plan = plan_compaction(history, policy=DESIGN, max_tokens=leaving(20_000))

    assert plan is not None
    assert (plan.strategy, len(plan.keep)) == ("summarize", 9)


def test_below_15_messages_all_are_kept_unless_they_do_not_fit() -> None:
    history = [assistant(letters(2_500)), *(user(f"remark {n}") for n in range(13))]

    fits = compact(history, policy=QUALITY, max_tokens=leaving(2_000), summarizer=Scripted())
    over = compact(history, policy=QUALITY, max_tokens=leaving(1_000), summarizer=Scripted())

    assert not fits.applied
    assert (over.strategy, over.reason) == ("emergency_truncation", ChoiceCode.FEW(messages=14))
    assert over.folded == (0,)


def test_where_eight_rounds_are_everything_the_gates_still_choose() -> None:
    history = [PROMPT, *rounds(8, 600)]

    fast = compact(history, policy=FAST, max_tokens=leaving(2_000), summarizer=Scripted())
    quality = compact(history, policy=QUALITY, max_tokens=leaving(2_000), summarizer=Scripted())

    assert (fast.strategy, fast.summary_written) == ("emergency_truncation", False)
    assert (quality.strategy, quality.summary_written) == ("summarize", True)


def test_rounds_that_do_not_fit_give_way_oldest_first() -> None:
    result = compact([PROMPT, *rounds(30, 1_000)], policy=DESIGN, max_tokens=leaving(2_500))

    assert result.strategy == "truncate"
    # Four rounds are 3,200 tokens; five messages are 2,000, the original request 400 more.
    assert result.folded == tuple(range(1, 56))
    assert result.after_tokens == result.context.tokens


def test_system_and_last_user_message_always_stay() -> None:
    work = [message for n in range(12) for message in chain(f"c{n}", letters(500))]
    history = [PROMPT, *rounds(10, 250), user("fix the last one"), *work]

    for policy in (DESIGN, QUALITY):
        result = compact(history, policy=policy, max_tokens=leaving(1_500), summarizer=Scripted())

        assert result.context.verdict(0).verdict == "kept"
        assert "fix the last one" in str(result.context.messages)


# gates


LONG = Uses()


def method(
    messages: int, chars: int, preference: Preference = "quality", uses: Uses = LONG
) -> tuple[str, Reason]:
    """What is chosen, and why."""
    chosen = choose(
        messages=messages, chars=chars, uses=uses, preference=preference, max_summaries=3
    )
    return chosen.method, chosen.reason


def test_gate_1_no_summarizer_truncates() -> None:
    none = Uses(has_summarizer=False, summaries=3)

    assert method(60, 20_000, uses=none) == ("truncate", ChoiceCode.NO_SUMMARIZER())
    assert method(5, 100, uses=none) == ("truncate", ChoiceCode.NO_SUMMARIZER())


@pytest.mark.parametrize("preference", PREFERENCES)
def test_gate_2_under_10_messages_or_2000_characters_truncates(preference: Preference) -> None:
    assert method(9, 50_000, preference) == (
        "truncate",
        ChoiceCode.SHORT(messages=9, chars=50_000),
    )
    assert method(60, 1_999, preference) == (
        "truncate",
        ChoiceCode.SHORT(messages=60, chars=1_999),
    )
    assert method(9, 1_999, preference, Uses(summaries=3))[1].code == ChoiceCode.SHORT


def test_gate_2_lets_10_messages_of_2000_characters_pass() -> None:
    assert method(10, 2_000) == ("summarize", ChoiceCode.QUALITY())


def test_gate_3_three_summaries_truncate_whatever_is_preferred() -> None:
    limit = ChoiceCode.LIMIT(count=3, most=3)

    assert method(60, 20_000, uses=Uses(summaries=3)) == ("truncate", limit)
    assert method(60, 20_000, "fast", Uses(summaries=3)) == ("truncate", limit)
    assert method(60, 20_000, uses=Uses(summaries=2))[0] == "summarize"


@pytest.mark.parametrize("messages", [10, 20, 30])
def test_gate_4_10_to_30_messages(messages: int) -> None:
    assert method(messages, 5_000, "fast") == ("truncate", ChoiceCode.FAST())
    assert method(messages, 5_000, "quality") == ("summarize", ChoiceCode.QUALITY())
    assert method(messages, 5_000, "balanced")[1].code == ChoiceCode.SCORES


@pytest.mark.parametrize("messages", [31, 60])
def test_gate_4_over_30_messages(messages: int) -> None:
    long = ChoiceCode.LONG(messages=messages)

    assert method(messages, 5_000, "fast") == ("truncate", ChoiceCode.FAST())
    assert method(messages, 5_000, "balanced") == ("summarize", long)
    assert method(messages, 5_000, "quality") == ("summarize", long)


# scores


WEIGHTS = [("fast", 0.8, 0.2), ("balanced", 0.5, 0.5), ("quality", 0.2, 0.8)]
SCORES = [
    # messages, characters, truncations, summaries -> truncate, summarize
    (30, 10_000, 4, 2, 100, 100),
    (50, 10_000, 4, 2, 100, 100),
    (51, 10_000, 4, 2, 70, 100),
    (50, 10_001, 4, 2, 70, 100),
    (50, 10_000, 5, 2, 80, 100),
    (51, 10_001, 5, 2, 20, 100),
    (10, 2_000, 0, 2, 100, 100),
    (9, 2_000, 0, 2, 100, 70),
    (10, 1_999, 0, 2, 100, 70),
    (10, 2_000, 0, 3, 100, 30),  # 30 + 30 - 50 + 20
    (9, 1_999, 0, 3, 100, -30),
]


@pytest.mark.parametrize(("preference", "truncate_weight", "summarize_weight"), WEIGHTS)
@pytest.mark.parametrize(
    ("messages", "chars", "truncations", "summaries", "truncate", "summarize"), SCORES
)
def test_scores_and_their_weights(
    messages: int,
    chars: int,
    truncations: int,
    summaries: int,
    truncate: int,
    summarize: int,
    preference: Preference,
    truncate_weight: float,
    summarize_weight: float,
) -> None:
    uses = Uses(truncations=truncations, summaries=summaries)

    scored = scores(messages=messages, chars=chars, uses=uses, preference=preference)

    assert scored == pytest.approx(
        {"truncate": truncate * truncate_weight, "summarize": summarize * summarize_weight}
    )


def test_the_higher_score_wins_and_a_tie_truncates() -> None:
    assert method(30, 10_000, "balanced") == (
        "truncate",
        ChoiceCode.SCORES(truncate=50, summarize=50),
    )
    assert method(30, 10_001, "balanced") == (
        "summarize",
        ChoiceCode.SCORES(truncate=35, summarize=50),
    )
    assert method(30, 10_000, "balanced", Uses(truncations=5)) == (
        "summarize",
        ChoiceCode.SCORES(truncate=40, summarize=50),
    )


def test_a_truncation_is_never_refused_however_many_there_were() -> None:
    state = CompactionState(truncations=50)

    result = compact(
        [PROMPT, *rounds(15, 250)], policy=FAST, max_tokens=leaving(1_800), state=state
    )

    assert (result.applied, result.strategy) == (True, "truncate")
    assert result.state.truncations == 51


# three summaries a session


def test_after_three_summaries_it_truncates_and_the_summaries_stay() -> None:
    history, state = [PROMPT], CompactionState()
    done: list[tuple[str, int]] = []
    summarizer = Scripted(lambda request: f"{request.previous} Part {len(done)}.".strip())
    for _ in range(5):
        history += rounds(20, 250)
        result = compact(
            history, policy=DESIGN, max_tokens=leaving(3_000), summarizer=summarizer, state=state
        )
        state = result.state
        done.append((result.strategy, state.summaries))

    assert done == [
        *(("summarize", 1), ("summarize", 2), ("summarize", 3)),
        *(("truncate", 3), ("truncate", 3)),
    ]
    assert "Part 0. Part 1. Part 2." in said(result.context.messages[1])
    assert not result.summary_written
    assert state.truncations == 2


def test_a_summary_in_the_same_words_is_a_summary_too() -> None:
    first = compact(
        [PROMPT, *rounds(20, 250)], policy=DESIGN, max_tokens=leaving(3_000), summarizer=SAME
    )

    second = compact(
        [PROMPT, *rounds(40, 250)],
        policy=DESIGN,
        max_tokens=leaving(3_000),
        summarizer=SAME,
        state=first.state,
    )

    assert second.summary_written
    assert second.state.summaries == 2


SAME = Scripted("It went on as before.")


# how long a summary is


def asked(source_chars: int) -> SummaryRequest:
    """What a summarizer is asked for where 18 messages of so many characters fold."""
    each, rest = divmod(source_chars, 18)
    history = [*lettered(each + rest, *[each] * 17), *rounds(6, 1_000)]
    summarizer = Scripted()
    limit = 4_800 + source_chars * 2 // 5 - 20  # a message is cut to whole tokens

    result = compact(history, policy=NO_GOAL, max_tokens=leaving(limit), summarizer=summarizer)

    assert result.source_chars == source_chars
    return summarizer.requests[0]


@pytest.mark.parametrize(
    ("source_chars", "length", "detail"),
    [
        (450, 50, "brief"),  # half of the least, 100
        (499, 50, "brief"),
        (500, 100, "key_points"),
        (700, 105, "key_points"),
        (1_999, 299, "key_points"),
        (2_000, 300, "layered"),
        (5_300, 795, "layered"),
        (5_400, 800, "layered"),
        (18_020, 800, "layered"),
    ],
)
def test_15_percent_of_the_source_within_100_and_800(
    source_chars: int, length: int, detail: str
) -> None:
    request = asked(source_chars)

    assert (request.asked_chars, request.detail) == (length, detail)
    assert request.form == "layered"


def test_a_summary_over_800_characters_is_cut_at_a_sentence_end() -> None:
    long = Scripted("The user asked and was answered. " * 40)

    result = compact(
        [PROMPT, *rounds(30, 250)], policy=QUALITY, max_tokens=leaving(4_000), summarizer=long
    )

    assert 760 < result.summary_chars <= 800
    assert result.summary.endswith("answered.")


# the header


def test_the_summary_is_the_second_system_message_and_says_both_lengths() -> None:
    result = compact(
        [PROMPT, *rounds(20, 250)],
        policy=NO_GOAL,
        max_tokens=leaving(3_500),
        summarizer=Scripted("They spoke of words."),
    )

    roles = [message["role"] for message in result.context.messages]
    assert roles[:3] == ["system", "system", "user"]
    assert said(result.context.messages[1]) == (
        "[Conversation summary · source 7000 chars, summary 20 chars] They spoke of words."
    )


def test_the_header_is_chinese_in_a_chinese_conversation() -> None:
    history = [make("请检查订单日志。" * 10) for _ in range(20) for make in (user, assistant)]

    result = compact(
        history, policy=NO_GOAL, max_tokens=leaving(1_250), summarizer=Scripted("已检查。")
    )

    assert said(result.context.messages[0]) == "[历史对话总结 · 原文2240字，总结4字] 已检查。"
    assert result.context.messages[0]["role"] == "system"


# emergencies


@pytest.mark.parametrize(
    "error",
    [SummarizerError(problem="away"), TimeoutError("60 s"), ValueError("odd"), KeyError("x")],
    ids=lambda error: type(error).__name__,
)
def test_any_exception_of_the_summarizer_ends_in_an_emergency_truncation(error: Exception) -> None:
    def fails(request: SummaryRequest) -> str:
        raise error

    history = [PROMPT, *rounds(30, 250), user("and now?")]  # 6,023 tokens

    result = compact(history, policy=QUALITY, max_tokens=leaving(4_000), summarizer=Scripted(fails))

    assert (result.applied, result.strategy) == (True, "emergency_truncation")
    assert result.reason.code == OutcomeCode.TRUNCATED_INSTEAD
    assert not result.summary_written
    # The system prompt, the marker, the original request (100) and the 38 newest.
    assert result.folded == tuple(range(1, 23))
    assert result.turns_folded == 11
    assert sent(result.context)[-1] == "user: and now?"
    assert result.state.failures == 1


@pytest.mark.parametrize("answer", ["", "Error: overloaded", '{"name": "f", "arguments": {}}'])
def test_a_useless_summary_is_an_emergency_too(answer: str) -> None:
    result = compact(
        [PROMPT, *rounds(30, 250)],
        policy=QUALITY,
        max_tokens=leaving(4_000),
        summarizer=Scripted(answer),
    )

    assert (result.applied, result.strategy) == (True, "emergency_truncation")
    assert not result.summary_written


# advice and tool safety


@pytest.mark.parametrize(
    ("tokens", "urgency"),
    [
        (100, "low"),
        (599, "low"),
        (600, "medium"),
        (799, "medium"),
        (800, "high"),
        (949, "high"),
        (950, "critical"),
        (2_000, "critical"),
    ],
)
def test_urgency_by_usage(tokens: int, urgency: str) -> None:
    advice = recommend(lettered(tokens * 5 // 2 + 1), max_tokens=leaving(1_000))

    assert (advice.usage_ratio, advice.urgency) == (tokens / 1_000, urgency)


def test_optimization_is_needed_above_available_only() -> None:
    assert not recommend(lettered(2_500), max_tokens=leaving(1_000)).needs_optimization
    assert recommend(lettered(2_503), max_tokens=leaving(1_000)).needs_optimization


def test_each_planned_call_needs_500_tokens() -> None:
    history = rounds(2, 250)  # 400

    safe = check_tool_safety(history, max_tokens=leaving(1_900), tools_count=3)
    unsafe = check_tool_safety(history, max_tokens=leaving(1_899), tools_count=3)

    assert (safe.is_safe, safe.over_by) == (True, 0)
    assert (unsafe.is_safe, unsafe.over_by) == (False, 1)
    assert unsafe.message == (
        "the input takes 400 tokens and 3 tool calls need 1,500 of 1,899: 1 too many"
    )


# the result


def test_a_result_says_what_was_done_and_why() -> None:
    result = compact(
        [PROMPT, *rounds(20, 250)],
        policy=NO_GOAL,
        max_tokens=leaving(3_500),
        summarizer=Scripted("They spoke of words."),
    )

    assert (result.strategy, result.reason) == ("summarize", ChoiceCode.LONG(messages=41))
    assert str(result.reason) == "long: 41 messages"
    assert result.messages_removed == 28  # six rounds stay
    assert result.turns_folded == 14
    assert result.tokens_saved == result.before_tokens - result.context.tokens > 0
    assert (result.summary_written, result.source_chars, result.summary_chars) == (True, 7_000, 20)
    assert result.level == "balanced"


@pytest.mark.parametrize(
    ("ratio", "level"),
    [(0.10, "minimal"), (0.15, "balanced"), (0.25, "detailed"), (0.40, "complete")],
)
def test_levels_by_the_share_that_is_asked_for(ratio: float, level: str) -> None:
    summarizer = Scripted()
    policy = NO_GOAL.override(summary_chars_ratio=ratio)

    result = compact(
        lettered(*[100] * 18, *[1_000] * 12),
        policy=policy,
        max_tokens=leaving(5_400),
        summarizer=summarizer,
    )

    assert result.level == level == level_of(ratio)
    assert summarizer.requests[0].asked_chars == int(1_800 * ratio)


def test_a_truncation_is_recorded_and_stays() -> None:
    history = [PROMPT, *rounds(15, 250)]
    first = compact(history, policy=FAST, max_tokens=leaving(2_900))
    history += rounds(1, 50)

    second = compact(history, policy=FAST, max_tokens=leaving(2_900), state=first.state)

    assert (first.strategy, first.context.tokens < 2_900) == ("truncate", True)
    assert first.state.active is not None
    assert first.state.active.is_truncation
    assert (second.applied, second.state) == (False, first.state)
    kept = first.context.prefix_messages
    assert second.context.messages[:kept] == first.context.messages[:kept]
    assert "[17 earlier messages are not shown]" in said(second.context.messages[1])


# the document's own tests


def conversation() -> list[Message]:
    """System, greeting and 13 rounds: 1,272 tokens, of which eight rounds take 768."""
    return [PROMPT, assistant("Hello there"), *rounds(13, 120)]


TWO_THOUSAND = DESIGN.override(window_tokens=2_000)  # 1,000 available


def test_28_messages_become_17_with_11_removed() -> None:
    result = compact(conversation(), policy=TWO_THOUSAND)

    assert (result.strategy, result.messages_removed) == ("truncate", 11)
    assert len(result.context.messages) == 17
    assert result.folded == tuple(range(1, 12))


def test_28_messages_become_18_with_a_summary() -> None:
    policy = TWO_THOUSAND.override(preference="quality")

    result = compact(conversation(), policy=policy, summarizer=Scripted("They learn Python."))

    assert (result.strategy, result.messages_removed) == ("summarize", 11)
    assert len(result.context.messages) == 18
    assert said(result.context.messages[1]).endswith("They learn Python.")


OUTCOMES = [
    (5, "fast", "truncate"),
    (5, "balanced", "truncate"),
    (5, "quality", "truncate"),
    (30, "fast", "truncate"),
    (30, "balanced", "truncate"),
    (30, "quality", "summarize"),
    (60, "fast", "truncate"),
    (60, "balanced", "summarize"),
    (60, "quality", "summarize"),
]


@pytest.mark.parametrize(("messages", "preference", "strategy"), OUTCOMES)
def test_the_documents_nine_outcomes(messages: int, preference: Preference, strategy: str) -> None:
    history = lettered(*[250] * messages)
    limit = messages * 100 - 50

    advice = recommend(history, max_tokens=leaving(limit), preference=preference)
    result = compact(
        history,
        policy=DESIGN.override(preference=preference),
        max_tokens=leaving(limit),
        summarizer=Scripted(),
    )

    assert (advice.strategy, advice.needs_optimization) == (strategy, True)
    assert result.applied
    assert result.summary_written == (strategy == "summarize")
    assert result.strategy == ("emergency_truncation" if messages == 5 else strategy)


def test_an_empty_list_is_left_alone() -> None:
    result = compact([], policy=DESIGN, max_tokens=leaving(1_000), summarizer=Scripted())

    assert (result.applied, result.context.messages) == (False, [])
    assert recommend([], max_tokens=leaving(1_000)).urgency == "low"


def test_few_messages_are_left_alone() -> None:
    assert not compact(rounds(2, 250), policy=DESIGN, max_tokens=leaving(1_000)).applied


def test_a_large_limit_is_skipped() -> None:
    history = rounds(50, 250)

    result = compact(history, policy=DESIGN, max_tokens=leaving(100_000), summarizer=Scripted())

    assert result.reason == OutcomeCode.BELOW_TRIGGER(tokens=10_000, trigger=100_000).by(
        "chars/2.5"
    )
    assert len(result.context.messages) == 100


# a conversation that grows


def texts(chinese: bool) -> Sequence[str]:
    """What is said in a turn: a short remark, a long one, a list."""
    if chinese:
        return ("请检查订单日志。", "请检查订单日志，并且说明原因。" * 12, "好的，谢谢。" * 30)
    return (letters(40), letters(700), "- one\n- two\n" * 20)


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("preference", PREFERENCES)
def test_sixty_turns_stay_within_budget_legal_and_append_only(
    preference: Preference, chinese: bool
) -> None:
    policy, said_here = DESIGN.override(preference=preference), texts(chinese)
    history, state = [PROMPT], CompactionState()
    before: CompactionResult | None = None
    for turn in range(60):
        history.append(user(f"{turn} {said_here[turn % 3]}"))
        result = compact(
            history, policy=policy, max_tokens=leaving(2_096), state=state, summarizer=Scripted()
        )
        assert result.context.tokens <= 2_096
        assert [lint(result.context.messages, provider) for provider in PROVIDERS] == [[]] * 4
        assert covered(result.state) >= covered(state)
        if before is not None and not result.applied:
            kept = before.context.prefix_messages
            assert result.context.messages[:kept] == before.context.messages[:kept]
        before, state = result, result.state
        history.append(assistant(f"{turn} {said_here[(turn + 1) % 3]}"))

    assert state.summaries <= 3
    assert (state.summaries == 0) == (preference == "fast")
    assert state.truncations > 3
    assert state.failures == 0


def covered(state: CompactionState) -> int:
    """How many messages the active compaction covers."""
    return state.active.covered_until if state.active else 0


def test_a_system_message_in_the_second_place_is_legal_everywhere() -> None:
    result = compact(
        [PROMPT, assistant("Hello"), *rounds(20, 250)],
        policy=QUALITY,
        max_tokens=leaving(3_000),
        summarizer=Scripted(),
    )

    roles = [message["role"] for message in result.context.messages]
    assert roles[:3] == ["system", "system", "user"]
    assert [lint(result.context.messages, provider) for provider in PROVIDERS] == [[]] * 4
