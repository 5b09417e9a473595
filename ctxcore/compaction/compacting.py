"""Owns the verbs over a list of messages: `plan_compaction` decides, `compact` decides and does.

Both are pure but for the summarizer that is passed in; the state that comes back carries what the
next call needs to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.records import Compaction, CompactionState
from ctxcore.compaction.executing import Outcome, Step, execute
from ctxcore.compaction.measuring import (
    Measure,
    Trigger,
    asked,
    find_trigger,
    for_trigger,
    measure,
    overflow,
)
from ctxcore.compaction.planning import CompactionPlan, plan
from ctxcore.messages.values import Message
from ctxcore.policy import Policy
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer

Messages = Iterable[Mapping[str, object] | Message]
Tools = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompactionResult:
    """What `compact` did, and the context that may be sent now."""

    context: Context
    state: CompactionState
    """Pass it the next time, with the whole conversation."""
    applied: bool
    reason: str
    strategy: str
    trigger: Trigger | None
    before_tokens: int
    after_tokens: int
    summary: str
    summary_written: bool
    steps: tuple[Step, ...]
    folded: tuple[int, ...]
    """Places of the messages that this compaction folded."""
    facts_lost: tuple[str, ...] | None = None
    """Facts of the folded messages that the context no longer holds; None: not looked for."""
    needs_confirmation: bool = False

    @property
    def messages_removed(self) -> int:
        """How many messages this compaction folded."""
        return len(self.folded)

    @property
    def tokens_saved(self) -> int:
        """How much smaller the input became."""
        return self.before_tokens - self.after_tokens


def plan_compaction(
    messages: Messages,
    *,
    policy: Policy,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
) -> CompactionPlan | None:
    """What a compaction would do now; None if no rule asks for one or nothing may be folded.

    The arguments are those of `compact`; no summarizer is called.
    """
    prepared = _prepare(messages, policy, max_tokens, target_tokens, model, tools, knowledge, state)
    measured = _measure(prepared)
    trigger = _automatic(prepared, measured)
    if trigger is None:
        return None
    call = for_trigger(prepared.call, measured, trigger)
    return plan(prepared.view, call, prepared.state.active, measured, trigger)


def compact(
    messages: Messages,
    *,
    policy: Policy | None = None,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    summarizer: Summarizer | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    force: bool = False,
) -> CompactionResult:
    """The context of `messages`, older ones folded into a summary where a rule asks for it.

    Args:
        messages: the whole conversation, including what earlier compactions cover.
        policy: thresholds; the preset `default` without one.
        max_tokens: the input budget; without it the model's window decides.
        target_tokens: where the compaction stops; `max_tokens` fills the budget.
        summarizer: what writes the summary; the extractive one, which calls no model, without it.
        model: whose tokens count and whose window it is.
        tools: tool definitions sent along.
        knowledge: retrieved texts by name.
        state: `result.state` of the time before, or a plain summary of what came before.
        force: compact even though no rule asks for it.

    Raises:
        BudgetError: what must be kept does not fit.
        MessageError: one of `messages` is not a chat message, or `state` knows more of them.
    """
    prepared = _prepare(
        messages, policy or Policy(), max_tokens, target_tokens, model, tools, knowledge, state
    )
    measured = _measure(prepared)
    trigger = asked(measured) if force else _automatic(prepared, measured)
    if trigger is None:
        return _unchanged(prepared, measured, None, _why_not(prepared, measured))
    call = for_trigger(prepared.call, measured, trigger, halves=target_tokens is None)
    planned = plan(prepared.view, call, prepared.state.active, measured, trigger)
    if planned is None:
        return _unchanged(prepared, measured, trigger, "nothing may be folded")
    outcome = execute(
        planned,
        prepared.view,
        call,
        prepared.state.active,
        summarizer or ExtractiveSummarizer(prepared.call.counter),
        is_needed=overflow(measured, prepared.call) is not None,
        is_forced=force,
    )
    return _finished(prepared, measured, planned, outcome)


def _prepare(
    messages: Messages,
    policy: Policy,
    max_tokens: int | None,
    target_tokens: int | None,
    model: str | None,
    tools: Tools | None,
    knowledge: Mapping[str, str] | None,
    state: CompactionState | str | None,
) -> Prepared:
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
    )
    budget = prepared.call.budget
    if target_tokens is None or budget is None:
        return prepared
    changed = policy.retarget(budget, target_tokens)
    return Prepared(prepared.view, replace(prepared.call, budget=changed), prepared.state)


def _measure(prepared: Prepared) -> Measure:
    return measure(prepared.view, prepared.call, prepared.state.active)


def _automatic(prepared: Prepared, measured: Measure) -> Trigger | None:
    """The rule that fires by itself; after too many failures only an overflow does."""
    if prepared.state.failures >= prepared.call.policy.max_failures:
        return overflow(measured, prepared.call)
    return find_trigger(measured, prepared.call)


def _why_not(prepared: Prepared, measured: Measure) -> str:
    policy, budget = prepared.call.policy, prepared.call.budget
    if budget is None:
        return "the window is unknown, so nothing starts by itself"
    if not policy.is_automatic:
        return "automatic compaction is switched off (trigger ratio of 1.0 or more)"
    if prepared.state.failures >= policy.max_failures:
        return f"stopped after {prepared.state.failures} failed compactions; force one to retry"
    size = measured.input_tokens if policy.trigger_on == "input" else measured.history_tokens
    if size >= budget.trigger_tokens:
        return f"only {measured.uncovered_messages} messages; {policy.min_messages} are needed"
    return f"below the trigger: {size:,} of {budget.trigger_tokens:,} tokens"


def _unchanged(
    prepared: Prepared, measured: Measure, trigger: Trigger | None, reason: str
) -> CompactionResult:
    context = build_context(prepared.view, prepared.call, prepared.state.active)
    usable = context.budget.usable_tokens if context.budget else measured.input_tokens
    size = context.tokens if measured.input_tokens <= usable else measured.input_tokens
    return CompactionResult(
        context=context,
        state=prepared.state,
        applied=False,
        reason=reason,
        strategy="",
        trigger=trigger,
        before_tokens=size,
        after_tokens=size,
        summary=prepared.state.active.summary if prepared.state.active else "",
        summary_written=False,
        steps=(),
        folded=(),
    )


def _finished(
    prepared: Prepared, measured: Measure, planned: CompactionPlan, outcome: Outcome
) -> CompactionResult:
    state = _next_state(prepared.state, outcome)
    if outcome.record is None:
        unchanged = _unchanged(prepared, measured, planned.trigger, outcome.reason)
        return replace(unchanged, state=state, steps=outcome.steps)
    record = outcome.record
    return CompactionResult(
        context=build_context(prepared.view, prepared.call, record),
        state=state,
        applied=True,
        reason=outcome.reason,
        strategy=planned.strategy,
        trigger=planned.trigger,
        before_tokens=record.before_tokens,
        after_tokens=record.after_tokens,
        summary=record.summary,
        summary_written=_is_new_summary(prepared.state.active, record),
        steps=outcome.steps,
        folded=planned.fold,
    )


def _is_new_summary(before: Compaction | None, record: Compaction) -> bool:
    return bool(record.summary) and (before is None or before.summary != record.summary)


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
