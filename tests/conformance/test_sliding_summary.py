"""The first source design, `sliding-summary`, row by row and resolution by resolution."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from ctxcore.assembly.building import Call
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import fit
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.triggers import measure
from ctxcore.errors import SummarizerError
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.tokens.count import count_message, counter_for
from ctxcore.tokens.exact import ExactCounter
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

DESIGN = Policy.preset("sliding-summary")
OFF = DESIGN.override(trigger_ratio=1.0)
NO_PROMPT = DESIGN.override(system_estimate_tokens=0)
LEGAL: list[list[object]] = [[], [], [], []]

# With an input budget of 10,000 and no system prompt the history budget is 6,000: a compaction
# starts at 4,800 and leaves 2,400.
BUDGET = 10_000


def summarized(summary: str, messages: int, language: str = "en") -> CompactionState:
    """The state in which `summary` stands for the first `messages` messages."""
    tokens = counter_for(None).count(summary)
    record = Compaction(
        covered_until=messages,
        summarized_until=messages,
        covered_messages=messages,
        summary=summary,
        summary_tokens=tokens,
        language="zh" if language == "zh" else "en",
    )
    return CompactionState(active=record, summaries=1)


def shown(context: Context) -> list[int]:
    """The places of the messages that are in a context as they were said."""
    return [at for at, verdict in enumerate(context.verdicts) if verdict.verdict == "kept"]


def verdicts(context: Context) -> list[str]:
    """What became of each message."""
    return [verdict.verdict for verdict in context.verdicts]


# the budget


def test_the_history_budget_is_73_142_of_a_window_of_128_000() -> None:
    budget = DESIGN.budget()

    assert (budget.window_tokens, budget.reserve_tokens) == (128_000, 4_096)
    assert budget.history_tokens == 73_142  # int((128,000 - 4,096 - 2,000) x 0.60)


def test_a_measured_system_prompt_replaces_the_estimate_of_2_000() -> None:
    assert DESIGN.budget(system_tokens=5_000).history_tokens == 71_342
    assert DESIGN.budget(system_tokens=100).history_tokens == 74_282

    measured = fit([system(5_000), user("hi")], policy=DESIGN).budget

    assert measured is not None
    assert measured.history_tokens == 71_342


def test_it_runs_after_an_answer_is_stored() -> None:
    assert DESIGN.check_at == "after_answer"


def test_the_trigger_is_0_80_and_the_target_0_40_of_the_history_budget() -> None:
    budget = DESIGN.budget()

    assert (budget.trigger_tokens, budget.target_tokens) == (58_513, 29_256)


def test_a_smaller_window_of_the_model_scales_the_budget_and_that_of_the_router() -> None:
    budget = DESIGN.budget(window_tokens=32_000)

    # a quarter of 128,000: 500 for the system prompt, 2,000 for the router
    assert budget.history_tokens == int((32_000 - 4_096 - 500) * 0.60) == 16_442
    assert budget.router_tokens == 2_000


def test_a_larger_window_of_the_model_changes_nothing() -> None:
    assert DESIGN.budget(window_tokens=1_000_000) == DESIGN.budget()


def test_all_presets_can_be_given_one_window() -> None:
    history = [system(50), *talk(9, 100, last="user")]

    windows = {
        name: fit(history, policy=Policy.preset(name), max_tokens=BUDGET).budget
        for name in Policy.presets()
    }

    usable = {name: budget.usable_tokens for name, budget in windows.items() if budget}
    third = usable.pop("truncate-or-summarize")  # its document's limit holds the reply too
    assert (set(usable.values()), third) == ({BUDGET}, BUDGET - 2_000)


# counting


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("你好，世界", 6),
        ("查询 class c-4711 的成绩", 10),
    ],
    ids=["empty", "English", "Chinese", "mixed"],
)
def test_the_document_counts_with_the_vocabulary_cl100k(text: str, tokens: int) -> None:
    rule = rule_counter("document", None)

    assert rule is not None
    assert rule.count(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("hello", 2), ("hello world", 4), ("你好，世界。", 2), ("x" * 1_000, 400)],
)
def test_without_a_vocabulary_the_document_counts_characters_by_2_5(
    text: str, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExactCounter, "is_exact", False)
    rule = rule_counter("document", None)

    assert rule is not None
    assert rule.count(text) == tokens


def test_the_document_adds_4_a_message() -> None:
    rule = rule_counter("document", "gpt-4")

    assert rule is not None
    assert count_message(user("hello world"), rule) == 6
    assert count_message(assistant(""), rule) == 4


def test_the_documents_counter_is_offered_by_name_and_feeds_the_trigger() -> None:
    history = talk(6, 796)  # 4,776 by either counter; the trigger is at 4,800
    measured = {
        name: measure(
            ListHistory(history, counter_for("gpt-4")),
            Call(
                policy=DESIGN,
                counter=counter_for("gpt-4"),
                rule=rule_counter("document", "gpt-4") if name == "document" else None,
            ),
        ).ruling.history_tokens
        for name in ("document", "model")
    }

    assert measured == {"document": 4_776, "model": 4_776}


# what a context shows


def test_whole_messages_fill_the_budget_from_the_newest_to_the_oldest() -> None:
    history = [*talk(30, 500, last="assistant"), user("and now?")]

    context = fit(history, policy=NO_PROMPT, max_tokens=BUDGET)

    # 12 x 500 fill 6,000; the original request and the current message stay beside them
    assert shown(context) == [0, *range(18, 31)]
    assert 6_000 <= context.breakdown.recent <= 6_007  # neighbouring user messages are merged


def test_the_summary_takes_its_tokens_from_the_budget() -> None:
    history = [*talk(30, 500, last="assistant"), user("and now?")]
    long = summarized(words(1_450), 10)

    without = fit(history, policy=NO_PROMPT, max_tokens=BUDGET)
    with_it = fit(history, policy=NO_PROMPT, max_tokens=BUDGET, state=long)

    assert len(shown(without)) - len(shown(with_it)) == 3  # of 500 each


def test_the_first_message_that_does_not_fit_ends_the_choice() -> None:
    history = [user("start"), sized("assistant", 100), sized("user", 3_100)]
    history += [sized("assistant", 3_000), user("and now?")]

    context = fit(history, policy=NO_PROMPT.override(goal_max_tokens=0), max_tokens=BUDGET)

    assert verdicts(context) == ["dropped", "dropped", "dropped", "kept", "kept"]
    assert sent(context)[0] == "user: [3 earlier messages are not shown]"


def test_the_current_message_does_not_take_from_the_history_budget() -> None:
    # 12 x 500 fill the 6,000 of the history; the current 1,000 come on top
    history = [*talk(30, 500, last="assistant"), sized("user", 1_000)]

    context = fit(history, policy=NO_PROMPT.override(goal_max_tokens=0), max_tokens=BUDGET)

    assert shown(context) == list(range(18, 31))
    assert 7_000 < context.tokens <= BUDGET


def test_a_window_holds_more_than_40_messages_while_tokens_allow() -> None:
    history = talk(61, 20, last="user")

    for policy in (DESIGN, OFF):
        assert shown(fit(history, policy=policy)) == list(range(61))


def test_a_tool_loop_does_not_push_what_is_looked_at_out() -> None:
    history = [*talk(40, 20), user("look it up")]
    for number in range(5):
        history += chain(f"c{number}", "found nothing")

    context = fit(history, policy=OFF)

    assert "dropped" not in verdicts(context)


def test_a_single_message_is_elided_above_20_000_characters() -> None:
    long, fitting = "x" * 20_001, "y" * 20_000
    history = [user(long), assistant("ok"), user(fitting), assistant("ok"), user("and now?")]

    context = fit(history, policy=DESIGN)

    assert context.verdict(0).verdict == "compressed"
    assert "characters left out" in said(context.messages[0])
    assert len(said(context.messages[0])) <= 20_000
    assert said(context.messages[2]) == fitting
    assert verdicts(context)[1:] == ["kept"] * 4


def test_an_image_is_not_lost_with_the_characters_around_it() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/board.png"}}
    content = [{"type": "text", "text": "x" * 30_000}, image]

    context = fit([{"role": "user", "content": content}], policy=DESIGN)

    assert context.messages == [{"role": "user", "content": content}]


def test_a_tool_output_of_fewer_characters_is_not_shortened() -> None:
    output = words(3_000)  # 14,999 characters, 30 percent of the input budget
    history = [user("look"), *chain("a", output), assistant("so"), user("and now?")]

    context = fit(history, policy=NO_PROMPT, max_tokens=BUDGET)

    assert verdicts(context) == ["kept"] * 5


def test_what_is_elided_when_it_enters_a_context_is_not_a_trigger_in_full() -> None:
    huge = user("word " * 400_000)  # 400,000 tokens stored, at most 20,000 characters shown
    history = [*talk(6, 20), huge, assistant("I have read it."), user("and now?")]

    assert plan_compaction(history, policy=DESIGN) is None
    assert "dropped" not in verdicts(fit(history, policy=DESIGN))


def test_the_summary_is_a_user_and_assistant_pair_before_the_kept_messages() -> None:
    history = [user("Which class?"), *talk(3, 50), user("later"), assistant("yes"), user("now?")]
    state = summarized("The class is c-4711.", 4)

    context = fit(history, policy=DESIGN, state=state)
    without_goal = fit(history, policy=DESIGN.override(goal_max_tokens=0), state=state)

    header = "[Context: Summary of earlier conversation (4 turns)]:\nThe class is c-4711."
    rest = [
        "assistant: Understood. I have the context from our earlier conversation.",
        "user: later",
        "assistant: yes",
        "user: now?",
    ]
    assert sent(without_goal) == [f"user: {header}", *rest]
    assert sent(context) == [f"user: Which class?\n\n{header}", *rest]
    roles = [message["role"] for message in context.messages]
    assert all(one != other for one, other in pairwise(roles))


def test_the_pair_is_in_chinese_for_a_chinese_conversation() -> None:
    history = [user("班级是 c-4711"), assistant("好的"), user("现在呢？")]

    context = fit(history, policy=DESIGN, state=summarized("班级是 c-4711。", 2, "zh"))

    assert "[上下文：之前对话的总结（2 轮）]：\n班级是 c-4711。" in said(context.messages[0])
    assert sent(context)[1] == "assistant: 明白了，我已了解之前的对话内容。"


# the router's text


def test_the_router_reads_one_line_a_message_without_the_current_one() -> None:
    history: list[Message | dict[str, object]] = [
        {"role": "user", "content": "show me\nclass c-4711"},
        {"role": "assistant", "content": "Here it is.", "action": "show_class"},
        {"role": "user", "content": "and now?"},
    ]

    text = fit(history, policy=DESIGN).render_text()

    assert text == "USER: show me class c-4711\nASSISTANT: [show_class] Here it is."


def test_the_routers_text_is_empty_before_the_first_message() -> None:
    assert fit([user("hi")], policy=DESIGN).render_text() == ""
    assert fit([system(20), user("hi")], policy=DESIGN).render_text() == ""


def test_the_routers_text_shows_an_answered_turn_whole() -> None:
    text = fit([user("hi"), assistant("hello")], policy=DESIGN).render_text()

    assert text == "USER: hi\nASSISTANT: hello"


def test_the_routers_text_is_headed_by_the_summary_and_its_turns() -> None:
    history = [*talk(4, 20), user("later"), assistant("yes"), user("and now?")]

    text = fit(
        history,
        policy=DESIGN.override(goal_max_tokens=0),
        state=summarized("The class is c-4711.", 4),
    ).render_text()

    assert text == (
        "[Earlier conversation summary (4 turns)]:\nThe class is c-4711.\n\n"
        "USER: later\nASSISTANT: yes"
    )


def test_the_routers_text_counts_rendered_lines_without_4_a_message() -> None:
    # `USER: ` and `ASSISTANT: ` take a few tokens each, so measure the line itself
    history = [*talk(10, 104), user("and now?")]
    context = fit(history, policy=DESIGN)
    count = counter_for(None).count
    line = {role: count(f"{role}: {words(100)}") for role in ("USER", "ASSISTANT")}
    ends = count("\n") * 2
    room = line["ASSISTANT"] + line["USER"] + line["ASSISTANT"] + ends

    assert context.render_text(room).count("\n") == 2
    assert context.render_text(room - 1).count("\n") == 1


@pytest.mark.parametrize("summary_words", [0, 3, 400])
@pytest.mark.parametrize("limit", [0, 5, 20, 60, 100, 300, 600, 2_000])
def test_the_routers_text_never_exceeds_its_tokens(limit: int, summary_words: int) -> None:
    history = [*talk(4, 20), *(user(f"{at}: so?") for at in range(60)), assistant("yes")]
    state = summarized(words(summary_words), 4) if summary_words else None

    text = fit([*history, user("and now?")], policy=DESIGN, state=state).render_text(limit)

    assert counter_for(None).count(text) <= limit
    assert text.endswith("ASSISTANT: yes") or limit < 500
    assert bool(text) or limit <= 20


def test_a_summary_too_long_for_a_router_is_cut_and_keeps_its_header() -> None:
    context = fit([*talk(4, 20), user("so?")], policy=DESIGN, state=summarized(words(400), 4))

    text = context.render_text(60)

    assert text.startswith("[Earlier conversation summary (4 turns)]:\nword word")
    assert "characters left out" in text


def test_a_router_has_8_000_tokens_and_an_agent_73_142_for_one_session() -> None:
    history = [system(2_000), *talk(40, 1_500), user("and now?")]

    context = fit(history, policy=OFF)

    text = context.render_text()
    assert context.budget is not None
    assert (context.budget.history_tokens, context.budget.router_tokens) == (73_142, 8_000)
    assert verdicts(context).count("dropped") == 0  # 40 x 1,500 are 60,000
    assert text.count("\n") + 1 == 5  # of 1,498 or so each
    assert counter_for(None).count(text) <= 8_000
    assert text.splitlines()[-1].startswith("ASSISTANT: ")


# when a compaction starts


def test_fewer_than_6_messages_never_trigger() -> None:
    assert plan_compaction(talk(5, 1_100), policy=NO_PROMPT, max_tokens=BUDGET) is None
    assert plan_compaction(talk(6, 1_100), policy=NO_PROMPT, max_tokens=BUDGET) is not None


def test_a_short_conversation_does_not_trigger() -> None:
    result = compact(talk(12, 50), policy=DESIGN, summarizer=Scripted())

    assert not result.applied
    assert result.reason == OutcomeCode.BELOW_TRIGGER(tokens=600, trigger=58_513)


def test_history_and_summary_trigger_at_0_80_of_the_budget() -> None:
    below, at = talk(8, 599), talk(8, 600)  # 4,792 and 4,800 of 6,000

    assert plan_compaction(below, policy=NO_PROMPT, max_tokens=BUDGET) is None
    plan = plan_compaction(at, policy=NO_PROMPT, max_tokens=BUDGET)

    assert plan is not None
    assert str(plan.trigger) == "history at the trigger: tokens 4,800, trigger 4,800"


def test_the_summary_counts_towards_the_trigger() -> None:
    history = [*talk(4, 50), *talk(8, 550)]  # 4,400 uncovered

    alone = plan_compaction(history[4:], policy=NO_PROMPT, max_tokens=BUDGET)
    with_it = plan_compaction(
        history, policy=NO_PROMPT, max_tokens=BUDGET, state=summarized(words(500), 4)
    )

    assert alone is None
    assert with_it is not None


def test_a_trigger_ratio_of_1_switches_summarization_off_and_leaves_a_marker() -> None:
    history = [*talk(200, 100), user("and now?")]
    summarizer, off = Scripted(), OFF.override(goal_max_tokens=0, system_estimate_tokens=0)

    result = compact(history, policy=off, max_tokens=BUDGET, summarizer=summarizer)

    assert (result.applied, summarizer.requests) == (False, [])
    assert result.reason.code == OutcomeCode.SWITCHED_OFF
    assert verdicts(result.context) == ["dropped"] * 140 + ["kept"] * 61  # 6,000 and the current
    assert sent(result.context)[0].startswith("user: [140 earlier messages are not shown]")


def test_43_messages_of_302_tokens_are_not_summarized() -> None:
    history, summarizer = talk(43, 302), Scripted()

    result = compact(history, policy=DESIGN, summarizer=summarizer)

    assert (result.applied, summarizer.requests) == (False, [])
    assert result.reason == OutcomeCode.BELOW_TRIGGER(tokens=12_986, trigger=58_513)
    assert verdicts(result.context) == ["kept"] * 43


def test_a_summary_looks_at_40_messages_at_a_time_and_loses_none() -> None:
    history = [user(f"request {n}: {words(590)}") for n in range(150)]
    summarizer = Scripted(lambda request: f"{request.previous} {len(request.messages)}".strip())

    policy = DESIGN.override(unsupported_ratio=1.0)  # the lengths stand in no message
    result = compact(history, policy=policy, summarizer=summarizer)

    lengths = [len(request.messages) for request in summarizer.requests]
    numbers = [m.text.split(":")[0] for request in summarizer.requests for m in request.messages]
    # the original request stays beside the summary
    assert (lengths, result.summary) == ([39, 40, 22], "39 40 22")
    assert numbers == [f"request {n}" for n in range(1, len(result.folded))]


@pytest.mark.parametrize("count", [41, 60, 200])
def test_no_message_is_in_neither_summary_nor_window_after_a_turn(count: int) -> None:
    history = talk(count, 60)
    state = compact(history, policy=DESIGN, summarizer=Scripted()).state

    context = fit([*history, user("and now?")], policy=DESIGN, state=state)

    assert "dropped" not in verdicts(context)


# what folds


def test_the_newest_messages_within_0_40_of_the_budget_stay() -> None:
    history = talk(12, 600)  # 7,200; 4 x 600 are the target of 2,400

    result = compact(history, policy=NO_PROMPT, max_tokens=BUDGET, summarizer=Scripted())

    assert result.folded == tuple(range(8))
    assert verdicts(result.context)[8:] == ["kept"] * 4


def test_fewer_than_2_messages_to_fold_are_no_compaction() -> None:
    history = [*talk(2, 50), sized("user", 1_500), *talk(5, 450)]  # 2,250 fit the target of 2,400
    state = summarized(words(1_100), 2)

    result = compact(
        history, policy=NO_PROMPT, max_tokens=BUDGET, summarizer=Scripted(), state=state
    )
    one_more = compact(
        [*history[:2], user("so"), *history[2:]],
        policy=NO_PROMPT,
        max_tokens=BUDGET,
        summarizer=Scripted(),
        state=state,
    )

    assert str(result.trigger).startswith("history at the trigger")
    assert (result.applied, result.reason.code) == (False, OutcomeCode.NOTHING_HELPS)
    assert one_more.folded == (2, 3)


def test_a_huge_oldest_message_does_not_block_a_compaction() -> None:
    history = [sized("user", 3_000), *talk(5, 450)]  # alone above the target of 2,400

    result = compact(history, policy=NO_PROMPT, max_tokens=BUDGET, summarizer=Scripted())

    assert result.folded == (0,)
    assert verdicts(result.context)[1:] == ["kept"] * 5


def test_nothing_folds_where_everything_fits_the_target() -> None:
    # a summary makes the history long enough; the document's loop would fold all of it
    state = summarized(words(3_000), 4)
    history = [*talk(4, 50), *talk(8, 290)]  # 2,320 of 2,400

    result = compact(
        history, policy=NO_PROMPT, max_tokens=BUDGET, summarizer=Scripted(), state=state
    )

    assert str(result.trigger).startswith("history at the trigger")
    assert (result.applied, result.reason.code) == (False, OutcomeCode.NOTHING_HELPS)


def test_the_last_user_message_stays_even_alone_above_the_target() -> None:
    question = sized("user", 3_500)
    history = [*talk(8, 300), question]

    result = compact(history, policy=NO_PROMPT, max_tokens=BUDGET, summarizer=Scripted())

    assert result.applied
    assert result.context.verdict(8).verdict == "kept"
    assert result.context.messages[-1]["content"] == question.text


def test_a_newest_message_that_does_not_fit_is_elided_never_dropped() -> None:
    history = [*talk(8, 300), sized("user", 12_000)]

    context = fit(history, policy=NO_PROMPT, max_tokens=BUDGET)

    assert context.verdict(8).verdict == "compressed"
    assert "characters left out" in said(context.messages[-1])
    assert context.tokens <= BUDGET


def test_a_newest_answer_that_does_not_fit_is_elided_never_dropped() -> None:
    history = [*talk(8, 300), user("tell me all"), sized("assistant", 3_900), user("shorter")]

    for length in (10, 11):  # 3,000 for the history
        context = fit(history[:length], policy=NO_PROMPT, max_tokens=5_000)

        assert context.verdict(9).verdict == "compressed"
        assert 2_900 <= context.verdict(9).after_tokens <= 3_000
        assert context.tokens <= 5_000
        assert [lint(context.messages, provider) for provider in PROVIDERS] == LEGAL


# the summary


def test_a_summary_takes_at_most_1_024_tokens() -> None:
    history = talk(60, 1_000)
    summarizer = Scripted("One sentence says it. " * 2_000)

    result = compact(history, policy=DESIGN, summarizer=summarizer)

    assert summarizer.requests[0].max_tokens == DESIGN.budget().summary_tokens == 1_024
    assert result.state.active is not None
    assert 1_000 < result.state.active.summary_tokens <= 1_024
    assert result.summary.endswith("says it.")


def test_a_further_summary_is_made_of_the_one_before_and_the_new_messages() -> None:
    history = [user(f"request {n}: {words(990)}") for n in range(90)]
    first = compact(history[:60], policy=DESIGN, summarizer=Scripted("The first thirty."))
    summarizer = Scripted("The first sixty.")

    second = compact(history, policy=DESIGN, summarizer=summarizer, state=first.state)

    (asked,) = summarizer.requests
    assert asked.previous == "The first thirty."
    assert [message.text.split(":")[0] for message in asked.messages] == [
        f"request {n}" for n in range(31, 61)
    ]
    assert asked.form == "progressive"
    assert second.summary == "The first sixty."


def test_the_state_holds_summary_tokens_and_the_cumulative_number_of_messages() -> None:
    history = [user(f"request {n}: {words(990)}") for n in range(90)]
    first = compact(history[:60], policy=DESIGN, summarizer=Scripted("The first thirty."))
    second = compact(history, policy=DESIGN, summarizer=Scripted("Sixty."), state=first.state)

    records = [first.state.active, second.state.active]
    told = [(r.summary, r.summary_tokens, r.covered_messages) for r in records if r]
    assert told == [("The first thirty.", 4, 31), ("Sixty.", 3, 61)]


@pytest.mark.parametrize(("text", "language"), [("订单 c-4711 在哪里？", "zh"), ("where?", "en")])
def test_the_summary_is_asked_for_in_the_conversations_language(text: str, language: str) -> None:
    summarizer = Scripted("c-4711")

    history = [user(f"{text} {n}") for n in range(60)]
    compact(history, policy=NO_PROMPT, max_tokens=800, summarizer=summarizer)

    assert {request.language for request in summarizer.requests} == {language}


class Failing:
    """A summarizer whose model is away."""

    name = "failing"

    def summarize(self, request: SummaryRequest) -> str:
        """Nothing."""
        raise SummarizerError(problem="the model is away")


def test_a_failed_summary_changes_nothing() -> None:
    history, before = talk(64, 1_000), summarized("The class is c-4711.", 4)

    result = compact(history, policy=DESIGN, summarizer=Failing(), state=before)

    assert (result.applied, result.state.active) == (False, before.active)
    assert "away" in str(result.reason)
    assert "away" not in json.dumps(result.context.messages)
    assert result.state.failures == 1


def test_a_session_that_was_stored_before_there_were_summaries_still_reads() -> None:
    stored = json.loads('{"active": null}')

    state = CompactionState(**stored)

    assert state == CompactionState()
    assert fit([user("hi")], policy=DESIGN, state=state).messages == [
        {"role": "user", "content": "hi"}
    ]
    assert Compaction(covered_until=0).summary == ""
    assert (Compaction(covered_until=0).summary_tokens, state.summaries) == (0, 0)


def test_an_identifier_of_the_second_turn_is_still_there_30_turns_later() -> None:
    policy, state = DESIGN.override(window_tokens=4_000), CompactionState()
    history = [text_message("system", "You help teachers.")]
    compactions = 0
    for turn in range(1, 31):
        named = "The class is c-4711, please remember it." if turn == 2 else "Tell me more."
        history.append(user(f"Question {turn}: {named}"))
        context = fit(history, policy=policy, state=state)
        assert context.tokens <= 4_000
        history.append(assistant(f"Answer {turn}: {words(120, 'lesson')}."))
        result = compact(history, policy=policy, state=state)
        state, compactions = result.state, compactions + result.applied

    last = json.dumps(fit([*history, user("Which class?")], policy=policy, state=state).messages)

    assert compactions >= 2
    assert "c-4711" in last
    assert "Answer 30" in last
