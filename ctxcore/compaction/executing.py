"""Owns carrying out a plan: shorten, summarize, check; what comes back is a record or a refusal.

A record is accepted only if the input gets smaller. When a compaction is needed and its summary
fails, a truncation takes its place, so that the same over-long input is never sent twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import HistoryView, shorten_row
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.keeping import Keeping, join_pieces
from ctxcore.compaction.losing import LostFact, find_losses, with_losses
from ctxcore.compaction.measuring import input_size, measure
from ctxcore.compaction.outdated import outdated_of
from ctxcore.compaction.planning import EMERGENCY, CompactionPlan, resolved
from ctxcore.compaction.remembering import ledger_for, with_facts
from ctxcore.compaction.summarizing import Summarizing
from ctxcore.compaction.triggers import ASKED, NEW_SESSION, find_trigger
from ctxcore.errors import SummarizerError
from ctxcore.facts.ledger import Ledger
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage

_FILLS = 3  # what neighbours save that become one message makes room for more of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One strategy that ran: the input before and after it, and what came of it."""

    strategy: str
    before_tokens: int
    after_tokens: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a plan: a new record, or None with the reason why nothing changed."""

    record: Compaction | None
    reason: str
    steps: tuple[Step, ...] = ()
    failed: bool = False
    """Whether the summarizer failed, even if a truncation took its place."""
    plan: CompactionPlan | None = None
    """What was carried out: the plan with all choices made."""
    strategy: str = ""
    """What was done in the end: the plan's, or the truncation that took its place."""
    usages: tuple[SummaryUsage, ...] = ()
    """The requests that the summary took, refused ones too."""
    seconds: float = 0.0
    lost: tuple[LostFact, ...] = ()
    """What held and is no longer said, the most worth first."""

    @property
    def cost(self) -> float | None:
        """What the summary cost in US dollars; None where nothing or something unknown was paid."""
        costs = [usage.cost for usage in self.usages]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


def execute(
    plan: CompactionPlan,
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    summarizer: Summarizer,
    *,
    is_needed: bool,
    is_forced: bool,
) -> Outcome:
    """The outcome of `plan`; nothing is written.

    `is_needed`: the input cannot be sent as it is, so a truncation stands in for a failed summary.
    `is_forced`: no minimum gain is asked for.
    """
    begun = time.perf_counter()
    ledger = ledger_for(view, call)
    plan = resolved(plan, view, call.counter, outdated_of(ledger))
    executor = _Executor(plan, view, call, active or NOTHING_COVERED, summarizer, ledger)
    outcome = executor.run(is_needed=is_needed, is_forced=is_forced)
    record, lost = outcome.record, None
    if record is not None:
        lost = find_losses(view, call, active, record)
        record = with_losses(record, lost)
    return replace(
        outcome,
        record=record,
        lost=tuple(lost or ()),
        plan=plan,
        strategy=outcome.strategy or plan.strategy,
        usages=tuple(executor.usages),
        seconds=time.perf_counter() - begun,
    )


class _Executor:
    def __init__(
        self,
        plan: CompactionPlan,
        view: HistoryView,
        call: Call,
        active: Compaction,
        summarizer: Summarizer,
        ledger: Ledger,
    ) -> None:
        self._plan = plan
        self._ledger = ledger
        self._view = view
        self._call = call
        self._active = active
        self._summarizer = summarizer
        self.usages: list[SummaryUsage] = []

    def run(self, *, is_needed: bool, is_forced: bool) -> Outcome:
        shortened = self._with_shortened()
        gain = 0.0 if is_needed or is_forced else self._call.policy.min_gain_ratio
        if self._plan.fold and self._plan.fold_as == "truncation":
            return self._judge(self._covering(shortened), shortened, "", gain)
        outcome = self._fold(shortened, gain)
        if outcome.record is not None:
            return outcome
        instead = self._instead(shortened, outcome.reason, is_needed=is_needed)
        return outcome if instead is None or instead.record is None else instead

    def _instead(self, shortened: Compaction, failure: str, *, is_needed: bool) -> Outcome | None:
        """A truncation in place of a summary that failed, where one is allowed."""
        cut = self._plan.emergency_until
        if cut is not None:
            record = self._covering(shortened, cut)
            return replace(self._judge(record, shortened, failure, 0.0), strategy=EMERGENCY)
        if is_needed and self._plan.fold:
            return self._judge(self._covering(shortened), shortened, failure, 0.0)
        return None

    def _fold(self, shortened: Compaction, gain_ratio: float) -> Outcome:
        try:
            record = self._with_summary(shortened) if self._plan.fold else shortened
        except SummarizerError as error:
            return Outcome(record=None, reason=str(error), failed=True)
        return self._judge(record, shortened, "", gain_ratio)

    def _with_summary(self, shortened: Compaction) -> Compaction:
        record = self._covering(shortened)
        summarizing = Summarizing(
            self._view,
            self._call,
            self._active,
            self._summarizer,
            outdated=outdated_of(self._ledger),
            report=self.usages.append,
        )
        return summarizing.summarized(record)

    def _judge(
        self, record: Compaction, shortened: Compaction, failure: str, gain_ratio: float
    ) -> Outcome:
        if self._plan.fold:
            record = self._filled(with_facts(self._view, self._call, record, self._ledger))
        before = self._plan.before_tokens
        after = input_size(self._view, self._call, record)
        steps = tuple(self._steps(record, shortened, after, failure))
        problem = ""
        if after >= before:
            problem = f"not smaller: {before:,} tokens before, {after:,} after"
        elif before - after < before * gain_ratio:
            problem = f"too little gain: {before:,} tokens before, {after:,} after"
        if problem:
            return Outcome(record=None, reason=problem, steps=steps, failed=True)
        why = self._plan.reason or str(self._plan.trigger)
        done = replace(record, seen_until=self._view.count())
        reason = (f"{failure}; truncated instead" if failure else why) + self._advice(done)
        done = replace(done, before_tokens=before, after_tokens=after, reason=reason)
        return Outcome(record=done, reason=reason, steps=steps, failed=bool(failure))

    def _filled(self, record: Compaction) -> Compaction:
        """`record` with what comes next in the room that the summary did not take."""
        budget, more = self._call.budget, self._plan.next_best
        if budget is None or not more:
            return record
        more = tuple(one for one in more if max(one.block) <= record.covered_until)
        rows = self._view.get({*record.kept, *(seq for one in more for seq in one.block)})
        keeping = Keeping.having(rows, record.kept, self._plan.pieces or {}, self._call.counter)
        for _ in range(_FILLS):
            taken = keeping.tokens
            # Not `input_size`: a context is chosen before its messages are merged.
            left = budget.target_tokens - measure(self._view, self._call, record).input_tokens
            for addition in more:
                left -= keeping.add(addition, left) or 0
            if keeping.tokens == taken:
                break
            texts = {seq: text for seq, text in record.shortened if seq > record.covered_until}
            texts |= {seq: join_pieces(found) for seq, found in keeping.pieces.items()}
            record = replace(record, kept=keeping.seqs, shortened=tuple(sorted(texts.items())))
        return record

    def _advice(self, record: Compaction) -> str:
        """What is left to a person where a rule asks again at once. Source: the `pi` design."""
        if self._plan.trigger.rule == ASKED:
            return ""
        again = find_trigger(measure(self._view, self._call, record), self._call)
        return f"; still over ({again}): {NEW_SESSION}" if again else ""

    def _steps(
        self, record: Compaction, shortened: Compaction, after: int, failure: str
    ) -> Iterator[Step]:
        before = self._plan.before_tokens
        for planned in self._plan.steps:
            is_last = planned is self._plan.steps[-1]
            size = after if is_last else self._size_after(planned.strategy, shortened, after)
            outcome = f"truncated: {failure}" if failure and is_last else "done"
            yield Step(
                strategy=planned.strategy, before_tokens=before, after_tokens=size, outcome=outcome
            )
            before = size

    def _size_after(self, strategy: str, shortened: Compaction, after: int) -> int:
        """The input after a step that others followed."""
        if strategy == "shorten_tool_outputs":
            return input_size(self._view, self._call, shortened)
        planned = next(step for step in self._plan.steps if step.strategy == strategy)
        return max(after, planned.expected_tokens)

    def _with_shortened(self) -> Compaction:
        """The active record with the tool outputs of the plan shortened; a new session has none."""
        active = NOTHING_COVERED if self._plan.starts_anew else self._active
        limit = self._call.policy.shorten_over_tokens
        texts = dict(active.shortened)
        for row in self._view.get(self._plan.shorten):
            texts[row.seq] = shorten_row(row, limit, self._call.counter).short or ""
        if self._plan.pieces is not None:  # chosen anew, from the original messages
            texts = {seq: text for seq, text in texts.items() if seq > self._plan.covered_until}
            texts |= {seq: join_pieces(pieces) for seq, pieces in self._plan.pieces.items()}
        return replace(
            active,
            shortened=tuple(sorted(texts.items())),
            trigger=self._plan.trigger.rule,
            strategies=tuple(step.strategy for step in self._plan.steps),
        )

    def _covering(self, shortened: Compaction, cut: int | None = None) -> Compaction:
        """`shortened` moved up to the plan's cut, its summary as it was."""
        cut = self._plan.covered_until if cut is None else cut
        anchors = self._view.anchors()
        pins = set(anchors.pinned) - set(anchors.system)
        staying = {*self._plan.verbatim} - pins
        return replace(
            shortened,
            covered_until=cut,
            kept=tuple(seq for seq in self._plan.verbatim if seq <= cut and seq in staying),
            pins=tuple(sorted(seq for seq in pins if seq <= cut)),
            shortened=tuple(
                (seq, text) for seq, text in shortened.shortened if seq > cut or seq in staying
            ),
        )
