"""Decides what a compaction does: where it cuts and what it shortens; it calls no model.

Strategies run in the policy's order, or in one that suits the kind of task, until the expected
input is at the target; later ones are planned too, in case one fails or frees too little. They
compare the sizes that the policy's triggers count; the sizes in a plan are the model's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.history_views import adapted, counted_by_rule
from ctxcore.assembly.reading import Reader, Reading
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import facts_room
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
"""Messages read to choose those that stay, beside those kept so far; measured: 0.3 seconds."""
LEAST_ROOM_RATIO = 0.25
"""Chosen: with less room for covered blocks than this share of the protected tail, the long
messages of the tail compete too."""


def plan(
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    measured: Measure,
    trigger: Trigger,
    *,
    uses: Uses | None = None,
    focus: str = "",
) -> CompactionPlan | None:
    """Plans the compaction that `trigger` asks for, with the call that `for_trigger` made for it.

    `uses` counts earlier compactions, for policies that choose by them; `focus` is what a person
    wants kept. None if nothing may be folded or shortened.
    """
    planner = _Planner(view, call, active or NOTHING_COVERED, measured, trigger, focus)
    return planner.plan(uses or Uses())


def _seqs(blocks: Iterable[Block]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row.seq for row in block) for block in blocks)


@dataclass
class _Planner:
    """Plans one compaction of the history `view` after the compaction `active`."""

    view: HistoryView
    call: Call
    active: Compaction
    measured: Measure
    trigger: Trigger
    focus: str = ""

    def plan(self, uses: Uses) -> CompactionPlan | None:
        choice, fold_as = self._choose(uses)
        draft, drafts = self._run(fold_as)
        made = self._made(draft, drafts)
        if choice is None:
            return self._with_next(made, draft, drafts)
        return made and self._chosen(made, choice, drafts)

    def _made(self, draft: Draft, drafts: Drafts) -> CompactionPlan | None:
        """Returns the plan of `draft`; None where it would change nothing."""
        blocks, policy = draft.scope.blocks, self.call.policy
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
        """Returns `made` with the strategies after its own as plans to try instead, one by one."""
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
        policy = self.call.policy
        if policy.fold_as != "choice":
            return None, policy.fold_as
        scope = self._own_scope("truncation")
        if not turns_to_keep(scope) and self.trigger.rule != TriggerCode.ASKED:
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
        """The kind of task, where it decides the order of the strategies."""
        policy = self.call.policy
        if self._is_direct or not is_ordered_by_task(policy.strategies):
            return None
        rows = (row for block in reversed(self._reading.blocks) for row in reversed(block))
        newest = [row.message for row in islice(rows, MOST_OF_TASK)]
        return find_task(newest[::-1], as_reason=policy.task_type)

    @cached_property
    def _strategies(self) -> Sequence[StrategyName]:
        """The strategies in the order in which they are tried."""
        policy = self.call.policy
        if self._is_direct:
            return policy.direct_strategies
        return policy.strategies if self._task is None else ladder(policy, self._task.kind)

    @property
    def _is_direct(self) -> bool:
        return bool(self.call.policy.direct_strategies) and self.trigger.rule in DIRECT

    def _run(self, fold_as: FoldAs) -> tuple[Draft, list[tuple[StrategyName, Draft]]]:
        """Returns the draft in the model's sizes, and each strategy with the draft it made.

        Where the policy has its own counting rule, both its sizes and the model's have to fit.
        """
        own = self._own_scope(fold_as)
        drafts: dict[StrategyName, Draft] = {}
        draft = self._shrunk(Draft.of(self._ruling_scope(fold_as) or own), drafts).within(own)
        if draft.expected_tokens > own.budget.usable_tokens:
            draft = self._shrunk(draft, drafts)
        return draft, [(name, made.within(own)) for name, made in drafts.items()]

    def _shrunk(self, draft: Draft, drafts: dict[StrategyName, Draft]) -> Draft:
        """Runs strategies until the draft is at the target; adds the draft of each to `drafts`."""
        for name in self._strategies:
            tried = run_strategy(name, draft)
            if tried == draft:
                continue
            drafts[name] = draft = tried
            if draft.expected_tokens <= draft.scope.budget.target_tokens:
                break
        return draft

    def _ruling_scope(self, fold_as: FoldAs) -> Scope | None:
        """Returns the scope in the sizes that the triggers compare, if not the model's."""
        if self.call.rule is None or self.trigger.is_by_model:
            return None
        return self._by_rule.folding(is_summarized=fold_as == "summary")

    def _own_scope(self, fold_as: FoldAs) -> Scope:
        """Returns the scope in the model's sizes."""
        return self._own.folding(is_summarized=fold_as == "summary")

    @cached_property
    def _by_rule(self) -> Scope:
        assert self.call.rule is not None
        view = counted_by_rule(self.view, self.call.policy, self.call.counter, self.call.rule)
        reading = self._read(view, self.call.by_rule)
        return self._scope(reading, self.call.by_rule, self.measured.ruling)

    @cached_property
    def _own(self) -> Scope:
        return self._scope(self._reading, self.call, self.measured)

    @cached_property
    def _reading(self) -> Reading:
        return self._read(adapted(self.view, self.call.policy, self.call.counter), self.call)

    def _read(self, view: HistoryView, call: Call) -> Reading:
        reader = Reader(
            view,
            self.active,
            call.policy,
            call.counter,
            refers=call.offers_expand,
            system=call.system,
        )
        return reader.read(None)

    def _scope(self, reading: Reading, call: Call, measured: Measure) -> Scope:
        assert call.budget is not None  # `for_trigger` gave it one
        return Scope(
            reading,
            call,
            call.budget,
            measured,
            source_tokens=source_so_far(self.active),
            facts_tokens=facts_room(self.view, call),
        )

    def _to_plan(self, draft: Draft, drafts: Drafts, fold: Sequence[int]) -> CompactionPlan:
        blocks = draft.scope.blocks
        competing = self._competing(draft) if fold else None
        waiting = competing and competing.waiting
        is_kept = not fold or not (competing or draft.folds_kept)
        verbatim = self.active.kept if is_kept else ()
        kept = [row.seq for block in blocks[draft.cut :] for row in block]
        if draft.short_sizes.keys().isdisjoint((*verbatim, *kept)):  # all of them are folded
            drafts = [pair for pair in drafts if pair[0] != "shorten_tool_outputs"]
        short_sizes = {**draft.short_sizes, **(waiting.short_sizes if waiting else {})}
        shorten = tuple(seq for seq in (*verbatim, *kept) if seq in short_sizes)
        sizes = [self._before_tokens, *(made.expected_tokens for _, made in drafts)]
        steps = tuple(
            PlannedStep(strategy=name, before_tokens=before, expected_tokens=after)
            for (name, _), (before, after) in zip(drafts, pairwise(sizes), strict=True)
        )
        return CompactionPlan(
            trigger=self.trigger,
            focus=self.focus,
            strategies=tuple(step.strategy for step in steps),
            keep=tuple(seq - 1 for seq in (*verbatim, *kept)),
            fold=tuple(seq - 1 for seq in fold),
            verbatim=verbatim,
            competing=competing,
            before_tokens=self._before_tokens,
            expected_tokens=draft.expected_tokens,
            covered_until=blocks[draft.cut - 1][-1].seq if fold else self.active.covered_until,
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
        return input_size(self.view, self.call, self.active)

    def _competing(self, draft: Draft) -> Competing | None:
        """Returns the covered blocks that compete to stay; None where the draft has no chooser."""
        blocks = _seqs(draft.candidates)
        if draft.choosers != ("worth",):
            competing = Competing(blocks=blocks, choosers=draft.choosers, room_tokens=0)
            return competing if draft.choosers else None
        room, waiting = draft.kept_room, None
        opened: Sequence[Block] = ()
        if room < draft.scope.budget.recent_tokens * LEAST_ROOM_RATIO:
            opened, room = draft.scope.blocks[draft.cut :], room + draft.kept_tokens
            if self._reading.open_block:
                waiting = Waiting.among(opened, room, draft.short_sizes, draft.scope.pinned)
                opened, room = opened[:-1], room - waiting.tokens
        return Competing(
            blocks=blocks,
            earlier=self._earlier(draft.cut),
            opened=_seqs(opened),
            waiting=waiting,
            short_calls=frozenset(seq for seq, _ in self.active.arguments),
            request=self._reading.current,
            room_tokens=room,
            summary_tokens=draft.summary_room,
            facts_tokens=draft.scope.facts_tokens,
        )

    def _earlier(self, cut: int) -> range:
        """Returns the covered messages that are recent enough to compete again."""
        folding = sum(len(block) for block in self._own_scope("summary").blocks[:cut])
        covered = self.active.covered_until
        return range(max(1, covered + 1 - max(0, MOST_CANDIDATES - folding)), covered + 1)

    def _chosen(self, made: CompactionPlan, choice: Choice, drafts: Drafts) -> CompactionPlan:
        """Returns `made` named after the choice; a failed summary ends in a truncation."""
        if made.fold_as == "truncation":
            is_asked = self.trigger.rule == TriggerCode.ASKED
            is_emergency = not is_asked and [name for name, _ in drafts] == ["fold_to_fit"]
            truncation = EMERGENCY if is_emergency else "truncate"
            return replace(made, strategies=(truncation,), reason=choice.reason)
        emergency = self._emergency_cut()
        return replace(
            made, strategies=("summarize",), reason=choice.reason, emergency_until=emergency
        )

    def _emergency_cut(self) -> int | None:
        """Returns the cut that keeps only the newest messages that fit, by either counter."""
        own = self._own_scope("truncation")
        scopes = (own, self._ruling_scope("truncation") or own)
        cut = max(strategy("fold_to_fit")(Draft.of(scope)).cut for scope in scopes)
        return own.blocks[cut - 1][-1].seq if cut else None
