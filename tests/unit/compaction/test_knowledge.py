"""Knowledge belongs to its call: it gives way first, and no record holds anything because of it."""

from __future__ import annotations

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.compaction.advising import recommend
from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from tests.words import words

PAGE = {"web": "page text here. " * 2_200}
BUDGET = 7_600
DOCUMENT = Policy.preset("truncate-or-summarize")


def _talk(messages: int = 20, size: int = 112) -> list[Message]:
    history = [text_message("system", "You help.")]
    for at in range(messages):
        history.append(text_message("assistant" if at % 2 else "user", f"m{at} {words(size)}"))
    return [*history, text_message("user", "use the page")]


@pytest.mark.parametrize("preset", Policy.presets())
def test_a_page_is_trimmed_and_nothing_is_folded(preset: str) -> None:
    policy = Policy.preset(preset)
    before = fit(_talk(), policy=policy, max_tokens=BUDGET)

    result = compact(_talk(), policy=policy, max_tokens=BUDGET, knowledge=PAGE)

    assert not result.applied
    assert result.state.active is None
    assert result.context.breakdown.knowledge > 1_000
    assert result.context.tokens <= BUDGET
    after = compact(_talk(), policy=policy, max_tokens=BUDGET, state=result.state)
    assert after.context.messages == before.messages


@pytest.mark.parametrize("preset", Policy.presets())
def test_a_history_that_is_too_long_folds_as_deep_as_without_knowledge(preset: str) -> None:
    history, policy = _talk(60, 200), Policy.preset(preset, requires_confirmation=False)

    without = compact(history, policy=policy, max_tokens=BUDGET)
    with_it = compact(history, policy=policy, max_tokens=BUDGET, knowledge=PAGE)

    assert without.applied
    assert with_it.state.active == without.state.active
    assert with_it.context.tokens <= BUDGET


def test_a_request_to_compact_folds_as_deep_as_without_knowledge() -> None:
    asked = [compact(_talk(), max_tokens=BUDGET, force=True, knowledge=k) for k in (None, PAGE)]

    assert asked[0].applied
    assert asked[0].state.active == asked[1].state.active


def test_the_trigger_counts_knowledge_and_the_result_says_what_was_done() -> None:
    result = compact(_talk(), max_tokens=BUDGET, knowledge=PAGE)

    assert result.trigger is not None
    assert result.trigger.rule == TriggerCode.INPUT_RATIO
    assert result.reason == OutcomeCode.KNOWLEDGE_TRIMMED(
        tokens=result.context.breakdown.knowledge, whole=8_814
    )
    assert result.before_tokens > BUDGET >= result.after_tokens == result.context.tokens


def test_a_trigger_that_only_knowledge_pulls_plans_nothing() -> None:
    assert plan_compaction(_talk(), policy=Policy(), max_tokens=BUDGET, knowledge=PAGE) is None


def test_the_choice_of_history_does_not_depend_on_knowledge() -> None:
    """Merged neighbours may count a token more than their parts: then knowledge gives way."""
    history = _talk(30, 150)
    for room in range(2_400, 2_500, 7):
        plain = fit(history, max_tokens=room)
        known = fit(history, max_tokens=room, knowledge=PAGE)
        assert [(run.first, run.verdict) for run in plain.runs] == [
            (run.first, run.verdict) for run in known.runs
        ]


def _crowded(messages: int) -> CompactionResult:
    """A conversation that leaves less than half of what the page takes."""
    return compact(_talk(messages, 60), policy=DOCUMENT, max_tokens=BUDGET, knowledge=PAGE)


def test_the_third_design_leaves_rounds_out_for_that_call_where_knowledge_finds_no_room() -> None:
    result = _crowded(32)  # 34 messages: six rounds stay

    assert not result.applied
    assert result.state.active is None
    assert str(result.reason).startswith("for this call alone, because of knowledge")
    assert result.strategies == ("truncate",)
    shown = [run for run in result.context.runs if run.verdict == "kept"]
    assert sum(run.last - run.first + 1 for run in shown) == 15  # and system prompt, goal, request
    assert result.context.breakdown.knowledge > 4_000


def test_with_few_messages_the_third_design_only_trims() -> None:
    result = compact(_talk(12, 100), policy=DOCUMENT, max_tokens=BUDGET, knowledge=PAGE)

    assert result.reason.code == OutcomeCode.KNOWLEDGE_TRIMMED
    assert all(run.verdict == "kept" for run in result.context.runs)


def test_recommend_counts_knowledge() -> None:
    without = recommend(_talk(), max_tokens=BUDGET)
    with_it = recommend(_talk(), max_tokens=BUDGET, knowledge=PAGE)

    assert not without.needs_optimization
    assert with_it.needs_optimization
    assert with_it.usage_ratio > 1 > without.usage_ratio
