"""Plans: where a compaction cuts, what it shortens, and what must stay."""

from __future__ import annotations

from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, VerdictCode
from tests.histories import assistant, call, user
from tests.words import words

SLIDING = Policy.preset("sliding-summary")


def remarks(count: int, size: int = 96) -> list[Message]:
    """User messages of `size` words, which take 4 tokens more each."""
    return [user(words(size)) for _ in range(count)]


def planned(history: list[Message], policy: Policy, usable: int, **more: object) -> CompactionPlan:
    """The plan, which there is."""
    plan = plan_compaction(history, policy=policy, max_tokens=usable, **more)  # type: ignore[arg-type]  # its own keywords
    assert plan is not None
    return plan


OLDEST = Policy(strategies=("shorten_tool_outputs", "fold_oldest"), facts_ratio=None)


def test_the_oldest_blocks_fold_until_the_target() -> None:
    plan = planned([user("go on"), *remarks(10)], OLDEST, 1_000)

    assert (plan.fold, plan.keep) == (tuple(range(9)), (9, 10))
    assert plan.expected_tokens <= 400
    assert plan.strategy == "fold_oldest"


def test_the_protected_tail_may_not_be_folded() -> None:
    assert planned(remarks(20), Policy(), 2_000).keep[-2:] == (18, 19)


def test_a_target_that_a_caller_names_protects_the_newest_block_alone() -> None:
    assert planned(remarks(10), Policy(), 1_000, target_tokens=450).keep[-1:] == (9,)
    assert planned(remarks(10), Policy(), 1_000, target_tokens=10).keep == (9,)


def outputs(count: int, lines: int) -> list[Message]:
    """Turns, each with a listing as a tool output."""
    history: list[Message] = []
    for n in range(count):
        listing = "\n".join(f"file {n}-{line} changed" for line in range(lines))
        history += [user(f"ask {n}"), assistant("", call(f"c{n}")), tool_result(f"c{n}", listing)]
        history.append(assistant(f"answer {n}"))
    return history


def test_tool_outputs_are_shortened_first_and_that_may_be_enough() -> None:
    plan = planned(outputs(12, 100), Policy(), 10_000)

    assert plan.strategy == "shorten_tool_outputs"
    assert plan.fold == ()
    assert plan.shorten == tuple(range(3, 43, 4))  # not those of the two newest turns


def test_what_is_shortened_stays_so_and_is_told() -> None:
    result = compact(outputs(12, 100), max_tokens=10_000)

    verdict = result.context.verdict(2)
    assert result.applied
    assert verdict.verdict == "compressed"
    assert verdict.reason.code == VerdictCode.OUTPUT_SHORTENED
    assert verdict.after_tokens <= 200
    assert result.context.verdict(46).verdict == "kept"
    assert result.summary == ""
    assert result.state.truncations == 0


def test_both_steps_run_where_shortening_is_not_enough() -> None:
    plan = planned(outputs(30, 60), OLDEST, 5_000)

    assert plan.strategy == "shorten_tool_outputs + fold_oldest"
    assert [step.strategy for step in plan.steps] == ["shorten_tool_outputs", "fold_oldest"]
    assert plan.steps[0].expected_tokens == plan.steps[1].before_tokens


def test_a_call_is_never_cut_from_its_result() -> None:
    plan = planned(outputs(30, 60), Policy(), 5_000)

    assert plan.covered_until % 4 != 2


def test_sliding_summary_keeps_the_newest_within_its_target() -> None:
    # history 591 of 1,000: target 236, so two messages of 100 stay
    plan = planned(remarks(10), SLIDING, 1_000)

    assert plan.keep == (8, 9)
    assert plan.fold == tuple(range(8))


def test_sliding_summary_is_written_after_each_lookback() -> None:
    plan = planned(remarks(200, 5), SLIDING, 2_000)

    assert plan.stops == tuple(range(40, len(plan.fold), 40))
    assert len(plan.stops) > 2


def test_sliding_summary_folds_two_messages_or_none() -> None:
    history = [user(words(200)), *remarks(5, 25)]  # of a target of 240
    state = "so far " + words(150)

    assert plan_compaction(history, policy=SLIDING, max_tokens=900, state=state) is None
    assert len(planned([user("go"), *history], SLIDING, 900, state=state).fold) == 2


def test_a_huge_oldest_message_does_not_block_a_compaction() -> None:
    plan = planned([user("go"), user(words(3_000)), *remarks(3, 20)], SLIDING, 1_000)

    assert plan.fold == (0, 1)


def test_folding_only_what_stays_anyway_is_no_plan() -> None:
    history = [user(words(790)), assistant("", call("a")), tool_result("a", words(300))]

    result = compact(history, max_tokens=1_000)

    assert result.reason.code == OutcomeCode.NOTHING_HELPS
    assert result.state.failures == 0


def test_pins_survive_their_fold() -> None:
    state = CompactionState(pinned=frozenset({1}))
    history = [user("go on"), user("never call me"), *remarks(10)]

    result = compact(history, max_tokens=1_000, state=state)

    assert result.state.active is not None
    assert result.state.active.pins == (2,)
    assert result.context.verdict(1).reason.code == VerdictCode.PINNED_FRONT
