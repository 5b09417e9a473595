"""Owns deciding what a compaction does: where it cuts, what it shortens; it calls no model.

Strategies have one shape: a draft in, a draft with less in it out. They run in the policy's order
until the expected input is at the target, so a ladder is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.reading import Reader, Reading
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import acknowledgement, summary_message
from ctxcore.budget import TokenBudget
from ctxcore.compaction.measuring import Measure, Trigger, input_size
from ctxcore.policy import StrategyName
from ctxcore.tokens.count import count_message

Block = tuple[Counted, ...]

LEAST_SUMMARY_TOKENS = 48  # a speaker and one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What a compaction will do, before anything is summarized or written.

    `keep` and `fold` are places of messages in the history, from 0.
    """

    trigger: Trigger
    strategy: str
    """The strategies that take part, joined by ` + `."""
    keep: tuple[int, ...]
    fold: tuple[int, ...]
    before_tokens: int
    expected_tokens: int
    covered_until: int
    shorten: tuple[int, ...] = ()
    """Tool outputs to shorten, by sequence number."""
    steps: tuple[PlannedStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """One strategy with the input it expects before and after itself."""

    strategy: StrategyName
    before_tokens: int
    expected_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is planned so far: blocks before `cut` fold, `sizes` are those of all blocks."""

    scope: Scope
    sizes: tuple[int, ...]
    cut: int = 0
    shorten: frozenset[int] = frozenset()

    @property
    def expected_tokens(self) -> int:
        """The input after this plan, the summary at its longest."""
        return self.expected_at(self.cut, sum(self.sizes[self.cut :]))

    def expected_at(self, cut: int, kept_tokens: int) -> int:
        """The input with blocks before `cut` folded, where the others take `kept_tokens`."""
        scope = self.scope
        around = scope.fixed_tokens + scope.survivors[cut]
        return around + kept_tokens + scope.expected_summary(scope.whole[cut])


class Scope:
    """All that strategies look at: the uncovered blocks, the numbers and what may not fold."""

    def __init__(
        self, reading: Reading, call: Call, budget: TokenBudget, measured: Measure
    ) -> None:
        self.blocks = reading.blocks
        self.policy = call.policy
        self.budget = budget
        self.fixed_tokens = measured.fixed_tokens
        self._summary_tokens = measured.summary_tokens
        self._reading = reading
        self._frame_tokens = _summary_frame(call)
        self.whole = [0, *accumulate(self.sizes())]
        """What the blocks before each cut take now: the source of a summary."""
        self.survivors = [0, *accumulate(self._surviving(block) for block in self.blocks)]
        """What stays of the blocks before each cut: pins, the last user message, the goal."""
        self.tail_start = self._tail_start(budget.recent_tokens)

    def sizes(self) -> tuple[int, ...]:
        """What each block takes now."""
        return tuple(_size(block) for block in self.blocks)

    def tail_within(self, tokens: int) -> int:
        """The block at which the longest tail within `tokens` starts."""
        taken = 0
        for at in range(len(self.blocks) - 1, -1, -1):
            taken += _size(self.blocks[at])
            if taken > tokens:
                return at + 1
        return 0

    def _tail_start(self, tokens: int) -> int:
        """Where the part that may not fold starts; it holds the newest block at least."""
        return min(self.tail_within(tokens), max(0, len(self.blocks) - 1))

    def fresh_from(self) -> int:
        """The sequence number from which tool outputs are left whole: the newest turns."""
        turns = self.policy.fresh_turns
        starts = [b[0].seq for b in self.blocks if b[0].message.role == "user"]
        if not turns or not starts:
            return self.blocks[-1][-1].seq + 1 if self.blocks and not turns else 0
        return starts[-turns] if len(starts) >= turns else 0

    def _surviving(self, block: Block) -> int:
        anchors = self._reading.anchors
        always = {anchors.last_user, *anchors.pinned}
        return sum(
            row.sent_tokens
            if row.seq in always
            else min(row.sent_tokens, self.policy.goal_max_tokens)
            for row in block
            if row.seq in always or row.seq == anchors.goal
        )

    def expected_summary(self, folded_tokens: int) -> int:
        """The longest summary of `folded_tokens` more; what there is where nothing folds."""
        if not folded_tokens:
            return self._summary_tokens
        source = folded_tokens + self._summary_tokens
        longest = summary_limit(self.policy.summary_source_ratio, self.budget, source)
        return longest + self._frame_tokens


def _summary_frame(call: Call) -> int:
    """What a summary takes beside its own words, in the language that needs more."""
    return max(
        count_message(summary_message(empty, call.policy.summary_place), call.counter)
        + count_message(acknowledgement(empty.language), call.counter)
        for empty in (replace(NOTHING_COVERED, language="zh"), NOTHING_COVERED)
    )


def summary_limit(ratio: float, budget: TokenBudget, source_tokens: int) -> int:
    """How long a summary of `source_tokens` may be."""
    return min(budget.summary_tokens, max(int(source_tokens * ratio), LEAST_SUMMARY_TOKENS))


def plan(
    view: HistoryView, call: Call, active: Compaction | None, measured: Measure, trigger: Trigger
) -> CompactionPlan | None:
    """What to do about `trigger`, with the call that `for_trigger` made for it.

    None if nothing may be folded or shortened.
    """
    assert call.budget is not None  # `for_trigger` gave it one
    active = active or NOTHING_COVERED
    reading = Reader(view, active, call.policy, call.counter).read(None)
    scope = Scope(reading, call, call.budget, measured)
    draft, steps = _run(Draft(scope=scope, sizes=scope.sizes()), measured.input_tokens)
    fold = [row.seq for block in scope.blocks[: draft.cut] for row in block]
    gains = scope.survivors[draft.cut] < scope.whole[draft.cut]
    enough = gains and len(fold) >= call.policy.min_fold_messages
    if not (fold and enough) and not draft.shorten:
        return None
    before = input_size(view, call, active)
    return _to_plan(draft, steps, fold if enough else [], active, before, trigger)


def _run(draft: Draft, before: int) -> tuple[Draft, list[PlannedStep]]:
    steps: list[PlannedStep] = []
    for name in draft.scope.policy.strategies:
        tried = _STRATEGIES[name](draft)
        if tried == draft:
            continue
        after = tried.expected_tokens
        steps.append(PlannedStep(strategy=name, before_tokens=before, expected_tokens=after))
        draft, before = tried, after
        if after <= draft.scope.budget.target_tokens:
            break
    return draft, steps


def _to_plan(
    draft: Draft,
    steps: Sequence[PlannedStep],
    fold: Sequence[int],
    active: Compaction,
    before: int,
    trigger: Trigger,
) -> CompactionPlan:
    kept = [row.seq for block in draft.scope.blocks[draft.cut :] for row in block]
    shorten = tuple(seq for seq in kept if seq in draft.shorten)
    if not shorten:  # all that could be shortened was folded
        steps = [step for step in steps if step.strategy != "shorten_tool_outputs"]
    return CompactionPlan(
        trigger=trigger,
        strategy=" + ".join(step.strategy for step in steps),
        keep=tuple(seq - 1 for seq in (*active.kept, *kept)),
        fold=tuple(seq - 1 for seq in fold),
        before_tokens=before,
        expected_tokens=draft.expected_tokens,
        covered_until=max(fold) if fold else active.covered_until,
        shorten=shorten,
        steps=tuple(steps),
    )


def shorten_tool_outputs(draft: Draft) -> Draft:
    """Tool outputs over the limit, outside the newest turns, stand for themselves shortened."""
    limit, fresh = draft.scope.policy.shorten_over_tokens, draft.scope.fresh_from()
    sizes, shorten = list(draft.sizes), set()
    for at, block in enumerate(draft.scope.blocks):
        for row in block:
            is_old = row.message.is_tool_result and row.seq < fresh
            if is_old and row.sent_tokens > limit:
                sizes[at] -= row.sent_tokens - limit
                shorten.add(row.seq)
    return replace(draft, sizes=tuple(sizes), shorten=frozenset(shorten))


def fold_oldest(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; the protected tail stays."""
    target, kept = draft.scope.budget.target_tokens, sum(draft.sizes[draft.cut :])
    for cut in range(draft.cut, draft.scope.tail_start):
        if draft.expected_at(cut, kept) <= target:
            return replace(draft, cut=cut)
        kept -= draft.sizes[cut]
    return replace(draft, cut=max(draft.cut, draft.scope.tail_start))


def fold_to_tail(draft: Draft) -> Draft:
    """Folds all but the newest messages within the target; nothing if everything fits it."""
    scope = draft.scope
    cut = scope.tail_within(scope.budget.target_tokens)
    if scope.policy.lookback_messages is not None:
        count = sum(len(block) for block in scope.blocks)
        if count > scope.policy.lookback_messages + 1:
            cut = max(cut, _cut_leaving(scope.blocks, scope.policy.lookback_target_messages))
    return replace(draft, cut=min(cut, max(0, len(scope.blocks) - 1)))


def _cut_leaving(blocks: Sequence[Block], messages: int) -> int:
    """The cut behind which at most `messages` messages lie."""
    count = 0
    for at in range(len(blocks) - 1, -1, -1):
        count += len(blocks[at])
        if count > messages:
            return at + 1
    return 0


def _size(block: Block) -> int:
    return sum(row.sent_tokens for row in block)


_STRATEGIES: Mapping[StrategyName, Callable[[Draft], Draft]] = {
    "shorten_tool_outputs": shorten_tool_outputs,
    "fold_oldest": fold_oldest,
    "fold_to_tail": fold_to_tail,
}
