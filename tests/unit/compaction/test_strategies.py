"""Strategies over drafts: where each one cuts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.building import NOTHING_COVERED
from ctxcore.assembly.fitting import prepare
from ctxcore.assembly.reading import Reader
from ctxcore.compaction.compacting import plan_compaction
from ctxcore.compaction.drafting import Draft, Scope
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.strategies import strategy
from ctxcore.compaction.triggers import measure
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.fields import fields_of
from ctxcore.policy.names import STRATEGIES, StrategyName
from ctxcore.policy.values import Policy
from tests.histories import assistant, call, user
from tests.words import words


def remarks(count: int, size: int = 96) -> list[Message]:
    """User messages of `size` words, which take 4 tokens more each."""
    return [user(words(size)) for _ in range(count)]


def kept(history: list[Message], usable: int, *strategies: StrategyName, **fields: object) -> int:
    """How many of the newest messages stay."""
    policy = Policy(strategies=strategies, recent_ratio=0, goal_max_tokens=0).override(**fields)
    plan = plan_compaction(history, policy=policy, max_tokens=usable)
    assert plan is not None
    assert plan.keep == tuple(range(len(history) - len(plan.keep), len(history)))
    return len(plan.keep)


def test_every_strategy_has_a_name_that_a_policy_may_hold() -> None:
    field = fields_of(Policy)["strategies"]

    for name in STRATEGIES:
        field.check((name,))


def test_fold_oldest_stops_at_the_target_and_never_in_the_protected_tail() -> None:
    # 400 are the target; the summary takes up to 100 and its frame some 40.
    assert kept(remarks(10), 1_000, "fold_oldest") == 2
    assert kept(remarks(10), 1_000, "fold_oldest", recent_ratio=1) == 2
    assert kept(remarks(10), 1_000, "fold_oldest", target_ratio=0.1) == 1


def test_fold_to_fit_goes_on_through_the_protected_tail() -> None:
    fields = {"recent_ratio": 0.9, "target_ratio": 0.5}

    assert kept(remarks(10), 1_000, "fold_oldest", **fields) == 3
    assert kept(remarks(10), 1_000, "fold_to_fit", **(fields | {"target_ratio": 0.3})) == 1


def test_fold_to_tail_counts_the_tail_alone() -> None:
    assert kept(remarks(10), 1_000, "fold_to_tail") == 4  # 400, whatever the summary takes


def test_fold_to_lower_needs_less_than_the_lower_threshold() -> None:
    fields: dict[str, object] = {"lower_tokens": 500, "fold_as": "truncation"}

    # The marker of a truncation takes some 16: four messages and it are below 500.
    assert kept(remarks(10), 1_000, "fold_to_lower", **fields) == 4


@pytest.mark.parametrize(("turns", "left"), [((3,), 4), ((1,), 2), ((0,), 1)])
def test_keep_turns_keeps_the_one_that_waits_besides(turns: tuple[int, ...], left: int) -> None:
    assert kept(remarks(10, 76), 1_000, "keep_turns", keep_turns=turns, target_ratio=0.8) == left


def test_keep_turns_keeps_a_turn_with_all_its_calls() -> None:
    work = [assistant("", call("a")), tool_result("a", words(20)), assistant("done")]
    history = [*remarks(9), *([user("look"), *work] * 2)]

    assert kept(history, 1_000, "keep_turns", keep_turns=(1,), target_ratio=0.8) == 4


def test_keep_turns_goes_on_to_fewer_where_it_is_still_over() -> None:
    history = [*remarks(4), *remarks(2, 396), user("go on")]

    assert kept(history, 1_300, "keep_turns", keep_turns=(2, 1, 0)) == 1
    assert kept(history, 1_300, "keep_turns", keep_turns=(2,)) == 3


def test_turns_by_messages_keep_all_of_a_short_conversation() -> None:
    fields: dict[str, object] = {"keep_turns_by_messages": ((20, 2), (10, 5)), "target_ratio": 0.8}

    assert kept(remarks(10), 1_000, "keep_turns", **fields) == 6
    assert kept(remarks(20, 46), 1_000, "keep_turns", **fields) == 3
    nothing = Policy(strategies=("keep_turns",)).override(**fields)
    assert plan_compaction(remarks(9), policy=nothing, max_tokens=1_000) is None


def test_a_ladder_stops_at_the_first_that_reaches_the_target() -> None:
    policy = Policy(strategies=("keep_turns", "fold_to_fit"), keep_turns=(2,))

    def plan(target: float) -> CompactionPlan:
        changed = replace(policy, target_ratio=target)
        found = plan_compaction(remarks(10), policy=changed, max_tokens=1_000)
        assert found is not None
        return found

    assert plan(0.6).strategy == "keep_turns"
    assert plan(0.3).strategy == "keep_turns + fold_to_fit"


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_strategy_takes_back_what_is_folded(name: StrategyName, whole: Draft) -> None:
    folded = replace(whole, cut=7)

    assert strategy(name)(folded).cut >= 7


@pytest.fixture
def whole() -> Draft:
    """A draft of ten messages of 100 tokens that folds nothing yet."""
    ready = prepare(
        remarks(10),
        policy=Policy(),
        max_tokens=1_000,
        model=None,
        tools=None,
        knowledge=None,
        state=None,
    )
    call = ready.call
    assert call.budget is not None
    reading = Reader(ready.view, NOTHING_COVERED, call.policy, call.counter).read(None)
    measured, facts = measure(ready.view, call), call.budget.carried_tokens
    return Draft.of(Scope(reading, call, call.budget, measured, facts_tokens=facts))
