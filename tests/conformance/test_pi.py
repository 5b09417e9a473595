"""The fourth source design, `pi`, row by row and resolution by resolution.

By its rule a message of 192 characters takes 100 tokens; by the model's own counter it takes 43.
"""

from __future__ import annotations

import json

import pytest

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
from ctxcore.compaction.plans import ANSWERS, Answer, Confirmation
from ctxcore.errors import BudgetError, CompactionRefusedError, PolicyError, SummarizerError
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.summarizers.protocol import SummaryRequest
from tests.conformance.conversations import (
    Scripted,
    assistant,
    lettered,
    letters,
    rounds,
    said,
    sent,
    user,
)

DESIGN = Policy.preset("pi")
SILENT = DESIGN.override(requires_confirmation=False)
PROMPT = text_message("system", letters(32))  # 20 tokens
TOOLS = [{"type": "function", "function": {"name": "read_file", "description": letters(80)}}]
STORY = Scripted("The user asked for a plan. The AI made one.")


def agree(question: Confirmation) -> Answer:
    """Somebody who always says yes."""
    return "compact"


# the trigger


def test_80_000_tokens_compact_at_64_000() -> None:
    budget = DESIGN.budget()

    assert (budget.window_tokens, budget.trigger_tokens) == (80_000, 64_000)
    assert DESIGN.budget(window_tokens=200_000).trigger_tokens == 64_000


def test_a_smaller_model_compacts_at_80_percent_of_its_window() -> None:
    assert DESIGN.budget(window_tokens=8_192).trigger_tokens == 6_553
    assert DESIGN.budget(window_tokens=1_000).trigger_tokens == 800


def test_it_compacts_exactly_at_64_000_and_not_one_token_before() -> None:
    below = lettered(*[1_992] * 63, 1_990)  # 996 and 4 each
    at = lettered(*[1_992] * 64)

    plan = plan_compaction(at, policy=DESIGN)

    assert plan_compaction(below, policy=DESIGN) is None
    assert compact(below, policy=DESIGN).reason == OutcomeCode.BELOW_TRIGGER(
        tokens=63_999, trigger=64_000
    ).by("chars/2")
    assert plan is not None
    assert (
        str(plan.trigger)
        == "input at the trigger: tokens 64,000, trigger 64,000 (counted by chars/2)"
    )


def test_characters_are_halved_and_a_message_takes_4_more() -> None:
    plan = plan_compaction(lettered(*[193] * 8), policy=DESIGN, max_tokens=1_000)

    assert plan is not None
    assert plan.trigger.numbers == {"tokens": 8 * (96 + 4), "trigger": 800}


def test_tool_definitions_count() -> None:
    history = lettered(*[192] * 7)  # 700
    definitions = len(json.dumps(TOOLS)) // 2

    plan = plan_compaction(history, policy=DESIGN, max_tokens=950, tools=TOOLS)

    assert plan_compaction(history, policy=DESIGN, max_tokens=950) is None
    assert plan is not None
    assert plan.trigger.numbers["tokens"] == 700 + definitions


def test_it_is_checked_before_the_users_message_is_added() -> None:
    assert DESIGN.check_at == "before_message"


def test_it_can_be_switched_off() -> None:
    off = DESIGN.override(trigger_ratio=1.0)

    result = compact(rounds(50, 192), policy=off, max_tokens=12_000, confirm=agree)

    assert not result.applied
    assert result.reason.code == OutcomeCode.SWITCHED_OFF


@pytest.mark.parametrize(
    ("field", "value"), [("trigger_ratio", 0.0), ("keep_turns", ()), ("summary_max_chars", 0)]
)
def test_a_setting_outside_its_range_is_refused(field: str, value: object) -> None:
    with pytest.raises(PolicyError, match=field):
        DESIGN.override(**{field: value})


# what stays


def test_system_prompt_tools_two_rounds_and_the_current_input_stay() -> None:
    history = [PROMPT, *rounds(20, 192), user("and now?")]

    result = compact(history, policy=SILENT, max_tokens=4_500, tools=TOOLS, summarizer=STORY)

    assert result.folded == tuple(range(1, 37))
    assert result.turns_folded == 18
    assert [result.context.verdict(at).verdict for at in (0, *range(37, 42))] == ["kept"] * 6
    assert result.context.breakdown.to_dict()["tools"] > 0
    assert sent(result.context)[-1] == "user: and now?"


def test_before_the_users_message_is_added_two_answered_rounds_stay() -> None:
    result = compact([PROMPT, *rounds(20, 192)], policy=SILENT, max_tokens=4_500, summarizer=STORY)

    assert result.folded == tuple(range(1, 37))


def test_so_many_rounds_stay_as_the_setting_says() -> None:
    policy = SILENT.override(keep_turns=(3, 1, 0))

    result = compact([PROMPT, *rounds(20, 192)], policy=policy, max_tokens=4_500, summarizer=STORY)

    assert result.folded == tuple(range(1, 35))


@pytest.mark.parametrize(("chars", "kept"), [(172, 5), (192, 3), (400, 1)])
def test_still_over_keeps_one_round_then_only_the_current_input(chars: int, kept: int) -> None:
    """180, 200 or 408 tokens a round, of which 373 fit.

    A compaction leaves 800; the summary may take 400 of them and its heading 19, the input takes 8.
    """
    history = [user("hello"), *rounds(12, chars), user("and now?")]
    policy = SILENT.override(goal_max_tokens=0)

    result = compact(history, policy=policy, max_tokens=1_000, summarizer=STORY)

    assert result.messages_removed == len(history) - kept
    assert result.context.tokens <= 1_000
    assert sent(result.context)[-1].endswith("and now?")
    assert not result.reason.mentions(OutcomeCode.STILL_OVER)
    assert "start a new session" not in str(result.reason)


def test_over_with_the_current_input_alone_it_advises_a_new_session() -> None:
    history = [*rounds(6, 192), user(letters(1_700))]  # 854 tokens by the rule

    result = compact(history, policy=SILENT, max_tokens=1_000, summarizer=STORY)

    assert result.applied
    assert result.messages_removed == 12
    assert result.reason.code == OutcomeCode.STILL_OVER
    assert result.reason.mentions(TriggerCode.INPUT_RATIO)
    assert str(result.reason).endswith("start a new session")
    assert "still too large (input at the trigger: tokens " in str(result.reason)


def test_with_nothing_to_fold_it_advises_a_new_session() -> None:
    result = compact([user(letters(1_700))], policy=SILENT, max_tokens=1_000, summarizer=STORY)

    assert (result.applied, result.reason.code) == (False, OutcomeCode.NOTHING_HELPS)
    assert str(result.reason) == "no message can be folded; start a new session"


def test_a_system_prompt_that_never_fits_is_an_error_with_numbers() -> None:
    history = [text_message("system", letters(6_000)), *rounds(3, 192), user("and now?")]

    with pytest.raises(BudgetError) as caught:
        compact(history, policy=SILENT, max_tokens=1_000, summarizer=STORY)

    assert caught.value.parts["system"] > 1_200
    assert caught.value.available == 1_000


# confirmation


FULL = [PROMPT, *rounds(10, 192), user("and now?")]  # 2,028 by the rule


def test_confirmation_is_required_by_default_and_nobody_to_ask_changes_nothing() -> None:
    state = CompactionState()

    result = compact(FULL, policy=DESIGN, max_tokens=2_500, summarizer=STORY, state=state)

    assert DESIGN.requires_confirmation
    assert (result.applied, result.needs_confirmation) == (False, True)
    assert result.reason.code == OutcomeCode.NEEDS_CONFIRMATION
    assert (result.state, result.summary, result.folded) == (state, "", ())
    assert len(result.context.messages) == len(FULL)


def test_without_anybody_to_ask_an_input_that_is_too_large_still_fits() -> None:
    result = compact(FULL, policy=DESIGN, max_tokens=600, summarizer=STORY)

    assert (result.applied, result.needs_confirmation) == (False, True)
    assert result.context.tokens <= 600


def test_a_person_is_told_current_and_max() -> None:
    asked: list[Confirmation] = []

    def ask(question: Confirmation) -> Answer:
        asked.append(question)
        return "compact"

    compact(FULL, policy=DESIGN, max_tokens=2_500, summarizer=STORY, confirm=ask)

    (question,) = asked
    assert (question.current_tokens, question.max_tokens) == (881, 2_500)
    assert "881 of 2,500 tokens" in str(question)
    assert question.plan.fold == tuple(range(1, 17))


def test_below_the_trigger_nobody_is_asked() -> None:
    def never(question: Confirmation) -> Answer:
        raise AssertionError(question)

    assert not compact(FULL, policy=DESIGN, max_tokens=2_600, confirm=never).applied


def test_compact_summarizes() -> None:
    result = answered("compact")

    assert (result.applied, result.summary_written) == (True, True)
    assert result.summary == "The user asked for a plan. The AI made one."


def test_drop_oldest_leaves_the_same_messages_out_without_a_summary() -> None:
    result = answered("drop_oldest")

    assert (result.strategy, result.summary_written) == ("drop_oldest", False)
    assert result.folded == answered("compact").folded
    assert "15 earlier messages are not shown" in str(result.context.messages)  # one is the goal
    assert (result.state.summaries, result.state.truncations) == (0, 1)


def test_new_session_leaves_all_but_the_current_input_and_the_original_request() -> None:
    result = answered("new_session")

    assert result.strategy == "new_session"
    assert result.folded == tuple(range(1, 21))
    assert result.turns_folded == 10
    assert [message["role"] for message in result.context.messages] == ["system", "user"]
    assert sent(result.context)[-1].endswith("and now?")


def test_new_session_leaves_the_summary_so_far_out() -> None:
    first = answered("compact")

    second = compact(
        [*FULL, assistant("done"), *rounds(10, 192), user("and then?")],
        policy=DESIGN,
        max_tokens=2_500,
        summarizer=STORY,
        state=first.state,
        confirm=lambda question: "new_session",
    )

    assert (second.applied, second.summary) == (True, "")
    assert "asked for a plan" not in str(second.context.messages)
    assert second.context.verdict(1).verdict == "kept"  # the original request
    assert second.context.verdict(2).verdict == "dropped"


def test_refuse_raises_with_current_and_max() -> None:
    with pytest.raises(CompactionRefusedError, match="881 of 2,500 tokens") as caught:
        answered("refuse")

    assert (caught.value.current_tokens, caught.value.max_tokens) == (881, 2_500)


def test_these_are_the_answers() -> None:
    assert ANSWERS == ("compact", "drop_oldest", "new_session", "refuse")


def test_who_asks_for_it_is_not_asked_back() -> None:
    result = compact(FULL, policy=DESIGN, max_tokens=10_000, summarizer=STORY, force=True)

    assert result.applied


def answered(answer: Answer) -> CompactionResult:
    """What comes of `answer` to a full conversation."""
    return compact(
        FULL, policy=DESIGN, max_tokens=2_500, summarizer=STORY, confirm=lambda question: answer
    )


# the summary


def test_500_characters_are_asked_for_in_the_third_person_and_1000_are_the_limit() -> None:
    summarizer = Scripted()

    compact(FULL, policy=SILENT, max_tokens=2_500, summarizer=summarizer)

    (request,) = summarizer.requests
    assert (request.asked_chars, request.max_chars) == (500, 1_000)
    assert request.form == "third_person"


def test_a_summary_over_its_limit_is_cut_at_a_sentence_end() -> None:
    sentence = "The user asked and the AI answered. "  # 36
    summarizer = Scripted(sentence * 50)

    result = compact(
        [PROMPT, *rounds(30, 492)], policy=SILENT, max_tokens=9_000, summarizer=summarizer
    )

    assert result.summary == (sentence * 27).strip()  # 27 x 36 = 972


def test_a_chinese_summary_over_its_limit_is_cut_at_a_sentence_end() -> None:
    sentence = "用户要求检查日志。"  # 9
    history = [make("请检查订单日志。" * 40) for _ in range(30) for make in (user, assistant)]

    result = compact(history, policy=SILENT, max_tokens=9_000, summarizer=Scripted(sentence * 150))

    assert result.summary == sentence * 111  # 999


def test_the_limit_is_a_setting() -> None:
    policy = SILENT.override(summary_max_chars=100, summary_asked_chars=80)

    result = compact(
        [PROMPT, *rounds(30, 492)],
        policy=policy,
        max_tokens=9_000,
        summarizer=Scripted("Ab. " * 50),
    )

    assert result.summary_chars == 99


def test_the_summary_is_a_user_message_after_the_system_prompt() -> None:
    policy = SILENT.override(goal_max_tokens=0)

    result = compact(FULL, policy=policy, max_tokens=2_500, summarizer=STORY)

    assert [message["role"] for message in result.context.messages[:3]] == [
        *("system", "user", "assistant")
    ]
    assert said(result.context.messages[1]).startswith(
        "[Summary of what came before]\nThe user asked for a plan. The AI made one.\n\nword"
    )


def test_the_summary_is_chinese_in_a_chinese_conversation() -> None:
    history = [make("请检查订单日志。" * 20) for _ in range(20) for make in (user, assistant)]

    result = compact(
        history, policy=SILENT, max_tokens=3_000, summarizer=Scripted("用户要求检查。")
    )

    assert "[对话摘要]\n用户要求检查。" in said(result.context.messages[0])


def test_the_result_tells_tokens_before_and_after_the_ratio_and_the_rounds() -> None:
    result = compact(FULL, policy=SILENT, max_tokens=2_500, summarizer=STORY)

    assert result.after_tokens == result.context.tokens
    assert result.saved_ratio == 1 - result.after_tokens / result.before_tokens > 0.5
    assert (result.turns_folded, result.summary) == (8, STORY.summarize(REQUEST))


REQUEST = SummaryRequest(messages=(), max_tokens=100)


def test_a_failed_summary_changes_nothing_while_the_input_fits() -> None:
    def fails(request: SummaryRequest) -> str:
        raise SummarizerError(problem="away")

    result = compact(FULL, policy=SILENT, max_tokens=2_500, summarizer=Scripted(fails))
    over = compact(FULL, policy=SILENT, max_tokens=600, summarizer=Scripted(fails))

    assert (result.applied, result.state.failures) == (False, 1)
    assert "away" in str(result.reason)
    assert (over.applied, over.summary_written) == (True, False)  # too large to be sent as it is


# the document's own tests


def test_100_messages_get_fewer_with_fewer_tokens() -> None:
    history = [
        make(f"Content {n}, and a little more.") for n in range(50) for make in (user, assistant)
    ]

    result = compact(history, policy=DESIGN, max_tokens=2_000, summarizer=STORY, confirm=agree)

    assert result.context.tokens < result.before_tokens
    assert len(result.context.messages) < 100
    assert result.turns_folded == 48


@pytest.mark.parametrize("answer", ["Done.", letters(400), "好的，已经完成。" * 20])
def test_50_prompts_in_a_window_of_1000_tokens_are_compacted_and_fit(answer: str) -> None:
    history, state, compactions = [PROMPT], CompactionState(), 0
    for n in range(50):
        before = compact(
            history,
            policy=DESIGN,
            max_tokens=1_000,
            summarizer=STORY,
            state=state,
            confirm=agree,
        )
        compactions, state = compactions + before.applied, before.state
        history.append(user(f"Test message {n}"))
        context = compact(history, policy=DESIGN, max_tokens=1_000, state=state).context
        assert context.tokens <= 1_000
        assert sent(context)[-1].endswith(f"Test message {n}")
        history.append(assistant(answer))

    assert compactions > 0
    assert state.summaries == compactions


# a conversation that grows


SPOKEN = {
    "en": (letters(40), letters(700), "- one\n- two\n" * 20),
    "zh": ("请检查订单日志。", "请检查订单日志，并且说明原因。" * 12, "好的，谢谢。" * 30),
}


@pytest.mark.parametrize("language", SPOKEN)
def test_sixty_turns_stay_within_budget_legal_and_append_only(language: str) -> None:
    texts = SPOKEN[language]
    history: list[Message] = [PROMPT]
    state, before = CompactionState(), None
    for turn in range(60):
        history.append(user(f"{turn} {texts[turn % 3]}"))
        result = compact(
            history,
            policy=DESIGN,
            max_tokens=2_000,
            state=state,
            summarizer=STORY,
            confirm=agree,
        )
        assert result.context.tokens <= 2_000
        assert [lint(result.context.messages, provider) for provider in PROVIDERS] == [[]] * 4
        assert covered(result.state) >= covered(state)
        if before is not None and not result.applied:
            kept = before.context.prefix_messages
            assert result.context.messages[:kept] == before.context.messages[:kept]
        before, state = result, result.state
        history.append(assistant(f"{turn} {texts[(turn + 1) % 3]}"))

    assert state.summaries > 5
    assert (state.truncations, state.failures) == (0, 0)


def covered(state: CompactionState) -> int:
    """How many messages the active compaction covers."""
    return state.active.covered_until if state.active else 0
