"""Owns deciding what a compaction does: where it cuts, what it shortens; it calls no model.

Strategies run in the policy's order, or in the one that suits the kind of task, until the expected
input is at the target; those behind are planned too, for where one fails or frees too little. They
look at the sizes that the policy's triggers count; what a plan says of the input is in the model's
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.history_views import adapted, ruled
from ctxcore.assembly.reading import Reader, Reading
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried import facts_room
from ctxcore.compaction.drafting import Block, Draft, Scope, source_so_far
from ctxcore.compaction.keeping import Waiting
from ctxcore.compaction.plans import CompactionPlan, Competing, FoldAs, PlannedStep
from ctxcore.compaction.strategies import (
    Choice,
    Uses,
    choose,
    is_ordered_by_task,
    ladder,
    run_strategy,
    strategy,
    turns_to_keep,
)
from ctxcore.compaction.triggers import DIRECT, Measure, Trigger, input_size
from ctxcore.facts.tasks import MOST_OF_TASK, Task, find_task
from ctxcore.messages.values import text_chars
from ctxcore.policy.names import StrategyName
from ctxcore.reasons.codes import ChoiceCode, TriggerCode

Drafts = Sequence[tuple[StrategyName, Draft]]
"""Each strategy that changed something, with the draft it made."""

EMERGENCY = "emergency_truncation"
MOST_CANDIDATES = 3_000
"""Messages looked at to choose what stays, beside those that stayed so far: a third of a second."""
LEAST_ROOM_RATIO = 0.25
"""Of the protected tail: with less room for all that is covered, long newest messages give some."""


def plan(
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    measured: Measure,
    trigger: Trigger,
    *,
    uses: Uses | None = None,
) -> CompactionPlan | None:
    """What to do about `trigger`, with the call that `for_trigger` made for it.

    `uses` is what was done in the session so far, for policies that choose. None if nothing may
    be folded or shortened.
    """
    return _Planner(view, call, active or NOTHING_COVERED, measured, trigger).plan(uses or Uses())


def _seqs(blocks: Iterable[Block]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row.seq for row in block) for block in blocks)


class _Planner:
    def __init__(
        self,
        view: HistoryView,
        call: Call,
        active: Compaction,
        measured: Measure,
        trigger: Trigger,
    ) -> None:
        self._view = view
        self._call = call
        self._active = active
        self._measured = measured
        self._trigger = trigger
        self._own: Scope | None = None
        self._by_rule: Scope | None = None
        self._reading = self._read(adapted(view, call.policy, call.counter), call)

    def plan(self, uses: Uses) -> CompactionPlan | None:
        choice, fold_as = self._choose(uses)
        draft, drafts = self._run(fold_as)
        made = self._made(draft, drafts)
        if choice is None:
            return self._with_next(made, draft, drafts)
        return made and self._chosen(made, choice, drafts)

    def _made(self, draft: Draft, drafts: Drafts) -> CompactionPlan | None:
        """The plan of `draft`; None where it would change nothing."""
        blocks, policy = draft.scope.blocks, self._call.policy
        fold = [row.seq for block in blocks[: draft.cut] for row in block]
        gains = draft.scope.survivors[draft.cut] < draft.scope.whole[draft.cut]
        is_huge = draft.scope.whole[draft.cut] > draft.scope.budget.target_tokens
        enough = gains and (is_huge or len(fold) >= policy.min_fold_messages)
        if not (fold and enough) and not draft.short_sizes:
            return None
        return self._to_plan(draft, drafts, fold if enough else [])

    def _with_next(
        self, made: CompactionPlan | None, draft: Draft, drafts: Drafts
    ) -> CompactionPlan | None:
        """`made` with the strategies behind its own as what is done instead, one by one."""
        tried = [name for name, _ in drafts]
        names = list(self._strategies)
        behind = names[names.index(tried[-1]) + 1 :] if tried else []
        for name in behind:
            further = run_strategy(name, draft)
            if further == draft:
                continue
            drafts = [*drafts, (name, further)]
            following = self._with_next(self._made(further, drafts), further, drafts)
            return following if made is None else replace(made, instead=following)
        return made

    def _choose(self, uses: Uses) -> tuple[Choice | None, FoldAs]:
        policy = self._call.policy
        if policy.fold_as != "choice":
            return None, policy.fold_as
        scope = self._own_scope("truncation")
        if not turns_to_keep(scope) and self._trigger.rule != TriggerCode.ASKED:
            few = ChoiceCode.FEW(messages=scope.messages + scope.system_messages)
            return Choice(method="truncate", reason=few), "truncation"
        rows = [row for block in scope.blocks for row in block]
        chars = sum(text_chars(row.message) for row in (*rows, *self._reading.system))
        choice = choose(
            messages=scope.messages + scope.system_messages,
            chars=chars,
            uses=uses,
            preference=policy.preference,
            max_summaries=policy.max_summaries,
        )
        return choice, "truncation" if choice.method == "truncate" else "summary"

    @cached_property
    def _task(self) -> Task | None:
        """The kind of task, where it says which strategies come first."""
        policy = self._call.policy
        if self._is_direct or not is_ordered_by_task(policy.strategies):
            return None
        rows = (row for block in reversed(self._reading.blocks) for row in reversed(block))
        newest = [row.message for row in islice(rows, MOST_OF_TASK)]
        return find_task(newest[::-1], stated=policy.task_type)

    @cached_property
    def _strategies(self) -> Sequence[StrategyName]:
        """The strategies in the order in which they are tried."""
        policy = self._call.policy
        if self._is_direct:
            return policy.direct_strategies
        return policy.strategies if self._task is None else ladder(policy, self._task.kind)

    @property
    def _is_direct(self) -> bool:
        return bool(self._call.policy.direct_strategies) and self._trigger.rule in DIRECT

    def _run(self, fold_as: FoldAs) -> tuple[Draft, list[tuple[StrategyName, Draft]]]:
        """The draft in the model's sizes, and each strategy with the draft it made.

        Where the policy counts itself, its sizes say how far to go; the model's have to fit too.
        """
        own = self._own_scope(fold_as)
        drafts: dict[StrategyName, Draft] = {}
        draft = self._climb(Draft.of(self._ruling_scope(fold_as) or own), drafts).within(own)
        if draft.expected_tokens > own.budget.usable_tokens:
            draft = self._climb(draft, drafts)
        return draft, [(name, made.within(own)) for name, made in drafts.items()]

    def _climb(self, draft: Draft, drafts: dict[StrategyName, Draft]) -> Draft:
        """`draft` after the strategies that the target takes; what each made goes to `drafts`."""
        for name in self._strategies:
            tried = run_strategy(name, draft)
            if tried == draft:
                continue
            drafts[name] = draft = tried
            if draft.expected_tokens <= draft.scope.budget.target_tokens:
                break
        return draft

    def _ruling_scope(self, fold_as: FoldAs) -> Scope | None:
        """The sizes that the triggers compare, where they are not the model's own."""
        rule = self._call.rule
        if rule is None or self._trigger.is_by_model:
            return None
        if self._by_rule is None:
            view = ruled(self._view, self._call.policy, self._call.counter, rule)
            reading = self._read(view, self._call.by_rule)
            self._by_rule = self._scope(reading, self._call.by_rule, self._measured.ruling)
        return self._by_rule.folding(is_summarized=fold_as == "summary")

    def _own_scope(self, fold_as: FoldAs) -> Scope:
        """The sizes that the model counts."""
        if self._own is None:
            self._own = self._scope(self._reading, self._call, self._measured)
        return self._own.folding(is_summarized=fold_as == "summary")

    def _read(self, view: HistoryView, call: Call) -> Reading:
        refers = call.offers_expand
        return Reader(view, self._active, call.policy, call.counter, refers=refers).read(None)

    def _scope(self, reading: Reading, call: Call, measured: Measure) -> Scope:
        assert call.budget is not None  # `for_trigger` gave it one
        return Scope(
            reading,
            call,
            call.budget,
            measured,
            source_tokens=source_so_far(self._active),
            facts_tokens=facts_room(self._view, call),
        )

    def _to_plan(
        self,
        draft: Draft,
        drafts: Drafts,
        fold: Sequence[int],
    ) -> CompactionPlan:
        blocks = draft.scope.blocks
        waiting = self._waiting(draft) if fold else None
        competing = self._competing(draft, waiting) if fold else None
        is_kept = not fold or not (competing or draft.folds_kept)
        verbatim = self._active.kept if is_kept else ()
        kept = [row.seq for block in blocks[draft.cut :] for row in block]
        shorten = tuple(seq for seq in (*verbatim, *kept) if seq in draft.short_sizes)
        if not shorten:  # all that could be shortened was folded
            drafts = [one for one in drafts if one[0] != "shorten_tool_outputs"]
        short_sizes = {**draft.short_sizes, **(waiting.short_sizes if waiting else {})}
        shorten = tuple(seq for seq in (*verbatim, *kept) if seq in short_sizes)
        steps = tuple(self._steps(drafts))
        return CompactionPlan(
            trigger=self._trigger,
            strategies=tuple(step.strategy for step in steps),
            keep=tuple(seq - 1 for seq in (*verbatim, *kept)),
            fold=tuple(seq - 1 for seq in fold),
            verbatim=verbatim,
            competing=competing,
            before_tokens=self._before_tokens,
            expected_tokens=draft.expected_tokens,
            covered_until=blocks[draft.cut - 1][-1].seq if fold else self._active.covered_until,
            fold_as="summary" if draft.scope.is_summarized else "truncation",
            stops=tuple(blocks[at - 1][-1].seq for at in draft.stops) if fold else (),
            task=self._task,
            reason=None if self._task is None else self._task.reason,
            shorten=shorten,
            short_sizes={seq: short_sizes[seq] for seq in shorten},
            steps=steps,
            turns_folded=sum(b[0].message.role == "user" for b in blocks[: draft.cut]),
        )

    @cached_property
    def _before_tokens(self) -> int:
        return input_size(self._view, self._call, self._active)

    def _waiting(self, draft: Draft) -> Waiting | None:
        """What the outputs that the model has yet to see have, where newest messages compete."""
        least = draft.scope.budget.recent_tokens * LEAST_ROOM_RATIO
        is_open = draft.choosers == ("worth",) and draft.kept_room < least
        if not (is_open and self._reading.open_block):
            return None
        room = draft.kept_room + draft.kept_tokens
        return Waiting.among(
            draft.scope.blocks[draft.cut :], room, draft.short_sizes, draft.scope.pinned
        )

    def _competing(self, draft: Draft, waiting: Waiting | None) -> Competing | None:
        if not draft.choosers:
            return None
        if draft.choosers != ("worth",):
            blocks = _seqs(draft.candidates)
            return Competing(blocks=blocks, choosers=draft.choosers, room_tokens=0)
        room = draft.kept_room
        opened: Sequence[Block] = ()
        if room < draft.scope.budget.recent_tokens * LEAST_ROOM_RATIO:
            opened = draft.scope.blocks[draft.cut :]
            room += draft.kept_tokens
        if waiting:
            opened, room = opened[:-1], room - waiting.tokens
        return Competing(
            blocks=_seqs(draft.candidates),
            earlier=self._earlier(draft.cut),
            opened=_seqs(opened),
            waiting=waiting,
            asked=self._reading.current,
            room_tokens=room,
        )

    def _earlier(self, cut: int) -> range:
        """What was covered before and is near enough to be looked at again."""
        folding = sum(len(block) for block in self._own_scope("summary").blocks[:cut])
        covered = self._active.covered_until
        return range(max(1, covered + 1 - max(0, MOST_CANDIDATES - folding)), covered + 1)

    def _steps(self, drafts: Drafts) -> Sequence[PlannedStep]:
        before, steps = self._measured.input_tokens, []
        for name, draft in drafts:
            after = draft.expected_tokens
            steps.append(PlannedStep(strategy=name, before_tokens=before, expected_tokens=after))
            before = after
        return steps

    def _chosen(
        self,
        made: CompactionPlan,
        choice: Choice,
        drafts: Sequence[tuple[StrategyName, Draft]],
    ) -> CompactionPlan:
        """`made` named after what was chosen; a failed summary ends in an emergency truncation."""
        if made.fold_as == "truncation":
            is_asked = self._trigger.rule == TriggerCode.ASKED
            is_emergency = not is_asked and [name for name, _ in drafts] == ["fold_to_fit"]
            truncation = EMERGENCY if is_emergency else "truncate"
            return replace(made, strategies=(truncation,), reason=choice.reason)
        emergency = self._emergency_cut()
        return replace(
            made, strategies=("summarize",), reason=choice.reason, emergency_until=emergency
        )

    def _emergency_cut(self) -> int | None:
        """Where only the newest messages are left that fit, by either counter."""
        own = self._own_scope("truncation")
        scopes = (own, self._ruling_scope("truncation") or own)
        cut = max(strategy("fold_to_fit")(Draft.of(scope)).cut for scope in scopes)
        return own.blocks[cut - 1][-1].seq if cut else None
