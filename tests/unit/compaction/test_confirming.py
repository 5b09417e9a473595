"""Asking a person before a compaction, whatever the policy is called."""

from __future__ import annotations

from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.plans import Answer, Confirmation, without_summary
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from tests.histories import user
from tests.words import words

ASKS = Policy(requires_confirmation=True)


def remarks(count: int) -> list[Message]:
    """User messages of 100 tokens."""
    return [user(words(96)) for _ in range(count)]


def test_the_question_holds_the_plan_that_would_be_carried_out() -> None:
    asked: list[Confirmation] = []

    def ask(question: Confirmation) -> Answer:
        asked.append(question)
        return "compact"

    plan = plan_compaction(remarks(9), policy=ASKS, max_tokens=1_000)
    result = compact(remarks(9), policy=ASKS, max_tokens=1_000, confirm=ask)

    assert [question.plan for question in asked] == [plan]
    assert plan is not None
    assert result.folded == plan.fold


def test_a_question_says_how_full_it_is_and_how_many_messages_go() -> None:
    plan = plan_compaction(remarks(9), policy=ASKS, max_tokens=1_000)
    assert plan is not None

    question = Confirmation(plan=plan, current_tokens=903, max_tokens=1_000)

    assert str(question) == (
        "a compaction is due at 903 of 1,000 tokens; "
        f"compact {len(plan.fold)} older messages, keeping what matters of them?"
    )


def test_dropping_folds_the_same_messages_without_a_summary() -> None:
    plan = plan_compaction(remarks(9), policy=ASKS, max_tokens=1_000)
    assert plan is not None

    dropped = without_summary(plan)

    assert (dropped.fold, dropped.keep, dropped.covered_until) == (
        *(plan.fold, plan.keep, plan.covered_until),
    )
    assert (dropped.fold_as, dropped.strategy) == ("truncation", "drop_oldest")


def test_a_policy_that_does_not_ask_never_calls_back() -> None:
    def never(question: Confirmation) -> Answer:
        raise AssertionError(question)

    assert compact(remarks(9), max_tokens=1_000, confirm=never).applied


def test_a_shadow_is_only_planned_and_nobody_is_asked() -> None:
    def never(question: Confirmation) -> Answer:
        raise AssertionError(question)

    result = compact(
        remarks(9), policy=ASKS.override(is_shadow=True), max_tokens=1_000, confirm=never
    )

    assert (result.applied, result.needs_confirmation) == (False, False)
    assert result.reason == OutcomeCode.ONLY_PLANNED(strategy=("keep_by_worth",))
