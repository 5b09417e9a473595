"""Owns what `compact` gives back: the context, the state for the next time, and the account."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.choosing import Level, level_of
from ctxcore.compaction.executing import Outcome, Step
from ctxcore.compaction.losing import LostFact
from ctxcore.compaction.measuring import Measure
from ctxcore.compaction.plans import CompactionPlan, joined
from ctxcore.compaction.triggers import Trigger
from ctxcore.reasons.values import Reason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompactionResult:
    """What `compact` did, and the context that may be sent now."""

    context: Context
    state: CompactionState
    """Pass it the next time, with the whole conversation."""
    applied: bool
    reason: Reason
    strategies: tuple[str, ...]
    trigger: Trigger | None
    before_tokens: int
    after_tokens: int
    summary: str
    summary_written: bool
    steps: tuple[Step, ...]
    folded: tuple[int, ...]
    """Places of the messages that this compaction folded; some of them may be shown besides, in
    the room that the summary left."""
    facts_lost: tuple[str, ...] | None = None
    """Facts of the folded messages that the context no longer holds; None: not looked for."""
    lost: tuple[LostFact, ...] = field(default=(), repr=False)
    """The same facts with their kinds, places and worths."""
    needs_confirmation: bool = False
    turns_folded: int = 0
    source_chars: int = 0
    """How long what the summary stands for was, in characters; 0 without a summary."""
    level: Level | None = None
    """How detailed the summary is asked to be, where its length is a share of its source."""
    cost: float | None = None
    """What the summary cost in US dollars, where a model wrote it."""
    seconds: float = 0.0
    notices: tuple[Reason, ...] = ()
    """What became of a state that was made from other messages; empty where it was not."""

    @property
    def strategy(self) -> str:
        """The strategies, joined for people."""
        return joined(self.strategies)

    @property
    def messages_removed(self) -> int:
        """How many messages this compaction folded."""
        return len(self.folded)

    @property
    def tokens_saved(self) -> int:
        """How much smaller the input became."""
        return self.before_tokens - self.after_tokens

    @property
    def saved_ratio(self) -> float:
        """How much smaller the input became, as a share: 1 - after / before."""
        return 1 - self.after_tokens / self.before_tokens if self.before_tokens else 0.0

    @property
    def summary_chars(self) -> int:
        """How long the summary is, in characters."""
        return len(self.summary)


def unchanged(
    prepared: Prepared, measured: Measure, trigger: Trigger | None, reason: Reason
) -> CompactionResult:
    """The result where nothing was folded, and why."""
    context = prepared.context(prepared.state.active)
    usable = context.budget.usable_tokens if context.budget else measured.input_tokens
    size = context.tokens if measured.input_tokens <= usable else measured.input_tokens
    return CompactionResult(
        context=context,
        state=prepared.state,
        applied=False,
        reason=reason,
        strategies=(),
        trigger=trigger,
        before_tokens=size,
        after_tokens=size,
        summary=prepared.state.active.summary if prepared.state.active else "",
        summary_written=False,
        steps=(),
        folded=(),
    )


def finished(
    prepared: Prepared, measured: Measure, planned: CompactionPlan, outcome: Outcome
) -> CompactionResult:
    """The result of a plan that was carried out, or of one that was refused."""
    state = _next_state(prepared.state, outcome)
    record = outcome.record
    if record is None:
        refused = unchanged(prepared, measured, planned.trigger, outcome.reason)
        return replace(refused, state=state, steps=outcome.steps, seconds=outcome.seconds)
    before = prepared.state.active.covered_until if prepared.state.active else 0
    folded = tuple(at for at in planned.fold if before <= at < record.covered_until)
    ratio = prepared.call.policy.summary_chars_ratio
    is_written = _is_new_summary(prepared.state.active, record)
    return CompactionResult(
        context=prepared.context(record),
        state=state,
        applied=True,
        reason=outcome.reason,
        strategies=outcome.strategies,
        trigger=planned.trigger,
        before_tokens=record.before_tokens,
        after_tokens=record.after_tokens,
        summary=record.summary,
        facts_lost=record.facts_lost,
        lost=outcome.lost,
        summary_written=is_written,
        steps=outcome.steps,
        folded=folded,
        turns_folded=sum(
            row.message.role == "user" for row in prepared.view.get([at + 1 for at in folded])
        ),
        source_chars=record.source_chars,
        level=level_of(ratio) if ratio is not None and is_written else None,
        cost=outcome.cost,
        seconds=outcome.seconds,
    )


def bound_to(prepared: Prepared, result: CompactionResult) -> CompactionResult:
    """`result` with a state that knows the messages it was made from, and what there is to tell."""
    state = prepared.bound(result.state, result.context)
    return replace(result, state=state, notices=prepared.notices)


def _is_new_summary(before: Compaction | None, record: Compaction) -> bool:
    summarized = before.summarized_until if before else 0
    return bool(record.summary) and record.summarized_until > summarized


def _is_new_truncation(before: Compaction | None, record: Compaction) -> bool:
    return record.is_truncation and record.covered_until > (before.covered_until if before else 0)


def _next_state(state: CompactionState, outcome: Outcome) -> CompactionState:
    failures = state.failures + 1 if outcome.failed else 0
    record = outcome.record
    if record is None:
        return replace(state, failures=failures)
    written = _is_new_summary(state.active, record)
    return replace(
        state,
        active=record,
        failures=failures,
        summaries=state.summaries + written,
        truncations=state.truncations + _is_new_truncation(state.active, record),
    )
