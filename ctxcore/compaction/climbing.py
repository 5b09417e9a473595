"""Owns working a plan out: the next step is taken where one fails or frees too little."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.executing import Executor, Outcome, Step
from ctxcore.compaction.losing import find_losses, with_losses
from ctxcore.compaction.outdated import outdated_of
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.remembering import ledger_for
from ctxcore.compaction.resolving import resolved
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage


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
    outdated = outdated_of(ledger)

    def begin(plan: CompactionPlan) -> Executor:
        made = resolved(plan, view, call, outdated)
        return Executor(made, view, call, active or NOTHING_COVERED, summarizer, ledger)

    outcome = _climb(plan, begin, is_needed=is_needed, is_forced=is_forced)
    record, lost = outcome.record, None
    if record is not None:
        lost = find_losses(view, call, active, record)
        record = with_losses(record, lost)
    seconds = time.perf_counter() - begun
    return replace(outcome, record=record, lost=tuple(lost or ()), seconds=seconds)


def _climb(
    plan: CompactionPlan,
    begin: Callable[[CompactionPlan], Executor],
    *,
    is_needed: bool,
    is_forced: bool,
) -> Outcome:
    """The outcome of the first step that frees enough, else of the last that frees anything.

    `begin` makes what carries out a plan. A step that fails is skipped and recorded, and so is one
    that could not be enough without any summary, before it pays for one; a truncation takes the
    first one's place only if all fail.
    """
    first = executor = begin(plan)
    skipped, usages, best = list[Step](), list[SummaryUsage](), None
    while True:
        following = executor.plan.instead
        outcome = following and executor.falling_short()
        outcome = outcome or executor.run(
            is_needed=is_needed, is_forced=is_forced, truncates=plan.instead is None
        )
        usages += executor.usages
        if outcome.record is not None and not (best and best.after_tokens <= outcome.after_tokens):
            best = outcome
        if following is None or executor.is_enough(outcome):
            break
        skipped.append(executor.skipped(outcome))
        executor = begin(following)
    if skipped and best is not outcome:
        skipped.append(executor.skipped(outcome))
    outcome = best or outcome
    if outcome.record is None and is_needed and first is not executor:
        outcome = first.truncated(outcome.reason) or outcome
    return replace(outcome, steps=_with_skipped(skipped, outcome.steps), usages=tuple(usages))


def _with_skipped(skipped: Sequence[Step], steps: Sequence[Step]) -> tuple[Step, ...]:
    """`steps` behind those that were tried before them, each strategy once."""
    before = [one for one in skipped if one.outcome.code != OutcomeCode.DONE]
    tried = {one.strategy for one in before}
    behind = [one for one in steps if one.strategy not in tried]
    if before and behind:
        behind[0] = replace(behind[0], before_tokens=before[-1].after_tokens)
    return (*before, *behind)
