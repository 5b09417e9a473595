"""Owns the verbs over a list of messages: `plan_compaction` decides, `compact` decides and does.

Both are pure but for the summarizer and the callback that are passed in; the state that comes back
carries what the next call needs to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.states import CompactionState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.choosing import Uses
from ctxcore.compaction.climbing import execute
from ctxcore.compaction.confirming import Confirm, Confirmation, dropping
from ctxcore.compaction.measuring import Measure, measure
from ctxcore.compaction.outdated import outdated_of
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.remembering import ledger_for
from ctxcore.compaction.resolving import resolved
from ctxcore.compaction.results import CompactionResult, bound_to, finished, unchanged
from ctxcore.compaction.starting_anew import new_session_plan
from ctxcore.compaction.triggers import (
    MOST_FAILURES,
    Trigger,
    asked,
    find_trigger,
    for_trigger,
    least_messages,
    overflow,
)
from ctxcore.errors import CompactionRefusedError
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer

Messages = Iterable[Mapping[str, object] | Message]
Tools = Sequence[Mapping[str, object]]


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
    on_mismatch: OnMismatch = "raise",
) -> CompactionPlan | None:
    """What a compaction would do now; None if no rule asks for one or nothing may be folded.

    The arguments are those of `compact`; no summarizer is called.
    """
    prepared = _prepare(
        messages,
        policy,
        max_tokens,
        target_tokens,
        model,
        tools,
        knowledge,
        state,
        on_mismatch,
    )
    measured = measure(prepared.view, prepared.call, prepared.state.active)
    trigger = automatic_trigger(prepared, measured)
    if trigger is None:
        return None
    call = for_trigger(prepared.call, measured, trigger)
    uses = Uses.of(prepared.state, has_summarizer=True)
    planned = plan(prepared.view, call, prepared.state.active, measured, trigger, uses=uses)
    return None if planned is None else _resolved(prepared, planned)


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
    confirm: Confirm | None = None,
    on_mismatch: OnMismatch = "raise",
) -> CompactionResult:
    """The context of `messages`, older ones folded into a summary where a rule asks for it.

    Args:
        messages: the whole conversation, including what earlier compactions cover.
        policy: thresholds; the preset `default` without one.
        max_tokens: the input budget; without it the model's window decides.
        target_tokens: where the compaction stops; `max_tokens` fills the budget.
        summarizer: what writes the summary; the extractive one, which calls no model, without it.
            A policy that chooses between truncating and summarizing truncates without it.
        model: whose tokens count and whose window it is.
        tools: tool definitions sent along.
        knowledge: retrieved texts by name.
        state: `result.state` of the time before, or a plain summary of what came before.
        force: compact even though no rule asks for it.
        confirm: asked before a compaction that starts by itself, where the policy wants that;
            without it nothing changes then, and the result says that it needs confirmation.
        on_mismatch: what to do where `state` was made from other messages: "raise", or "rebuild":
            what is still true of it is kept, the rest compacted anew; `result.notices` tells.

    Raises:
        BudgetError: what must be kept does not fit.
        CompactionRefusedError: `confirm` answered "refuse".
        MessageError: one of `messages` is no message, or of another shape than those before it;
            `tools` or `knowledge` are not what they may be.
        StateError: `state` was made from other messages.
    """
    prepared = _prepare(
        messages,
        policy or Policy(),
        max_tokens,
        target_tokens,
        model,
        tools,
        knowledge,
        state,
        on_mismatch,
    )
    measured = measure(prepared.view, prepared.call, prepared.state.active)
    trigger = asked(measured) if force else automatic_trigger(prepared, measured)
    if trigger is None:
        result = unchanged(prepared, measured, None, _why_not(prepared, measured))
    else:
        result = compact_prepared(
            prepared,
            measured,
            trigger,
            summarizer=summarizer,
            confirm=confirm,
            halves=target_tokens is None,
        )
    return bound_to(prepared, result)


def compact_prepared(
    prepared: Prepared,
    measured: Measure,
    trigger: Trigger,
    *,
    summarizer: Summarizer | None = None,
    confirm: Confirm | None = None,
    halves: bool = True,
) -> CompactionResult:
    """What `compact` does once everything is counted and `trigger` asks for it.

    `halves` is that of `for_trigger`.
    """
    is_forced = trigger.rule == TriggerCode.ASKED
    call = for_trigger(prepared.call, measured, trigger, halves=halves)
    uses = Uses.of(prepared.state, has_summarizer=summarizer is not None)
    planned = plan(prepared.view, call, prepared.state.active, measured, trigger, uses=uses)
    if planned is None:
        return unchanged(prepared, measured, trigger, _nothing_folds(trigger))
    if call.policy.is_shadow and not is_forced:
        return unchanged(
            prepared, measured, trigger, OutcomeCode.ONLY_PLANNED(strategy=planned.strategies)
        )
    if call.policy.requires_confirmation and not is_forced:
        agreed = _agreed(prepared, measured, planned, confirm)
        if agreed is None:
            waiting = unchanged(prepared, measured, trigger, OutcomeCode.NEEDS_CONFIRMATION())
            return replace(waiting, needs_confirmation=True)
        planned = agreed
    outcome = execute(
        planned,
        prepared.view,
        call,
        prepared.state.active,
        summarizer or ExtractiveSummarizer(prepared.call.counter),
        is_needed=overflow(measured, prepared.call) is not None,
        is_forced=is_forced,
    )
    return finished(prepared, measured, outcome.plan or planned, outcome)


def _resolved(prepared: Prepared, planned: CompactionPlan) -> CompactionPlan:
    view, call = prepared.view, prepared.call
    return resolved(planned, view, call, outdated_of(ledger_for(view, call)))


def _agreed(
    prepared: Prepared, measured: Measure, planned: CompactionPlan, confirm: Confirm | None
) -> CompactionPlan | None:
    """The plan that the person who was asked agreed to; None if there is nobody to ask."""
    if confirm is None:
        return None
    planned = _resolved(prepared, planned)  # so that it says what would be done
    question = confirmation(prepared.call.budget, measured, planned)
    match confirm(question):
        case "compact":
            return planned
        case "drop_oldest":
            return dropping(planned)
        case "new_session":
            return new_session_plan(prepared.view, prepared.state.active, planned)
        case "refuse":
            raise refusal(prepared.call.budget, measured)


def confirmation(
    budget: TokenBudget | None, measured: Measure, planned: CompactionPlan
) -> Confirmation:
    """What a person is asked about `planned`."""
    current, most = _fullness(budget, measured)
    return Confirmation(plan=planned, current_tokens=current, max_tokens=most)


def refusal(budget: TokenBudget | None, measured: Measure) -> CompactionRefusedError:
    """What somebody who refuses is told."""
    current, most = _fullness(budget, measured)
    return CompactionRefusedError(current_tokens=current, max_tokens=most)


def _fullness(budget: TokenBudget | None, measured: Measure) -> tuple[int, int]:
    """The input as the triggers count it, and the window."""
    current = measured.ruling.input_tokens
    return current, budget.window_tokens if budget else current


def _prepare(
    messages: Messages,
    policy: Policy,
    max_tokens: int | None,
    target_tokens: int | None,
    model: str | None,
    tools: Tools | None,
    knowledge: Mapping[str, str] | None,
    state: CompactionState | str | None,
    on_mismatch: OnMismatch,
) -> Prepared:
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
        on_mismatch=on_mismatch,
    )
    budget = prepared.call.budget
    if target_tokens is None or budget is None:
        return prepared
    changed = policy.retarget(budget, target_tokens)
    return prepared.calling(replace(prepared.call, budget=changed))


def automatic_trigger(prepared: Prepared, measured: Measure) -> Trigger | None:
    """The rule that fires by itself; after too many failures only an overflow does."""
    if prepared.state.failures >= MOST_FAILURES:
        return overflow(measured, prepared.call)
    return find_trigger(measured, prepared.call)


def _nothing_folds(trigger: Trigger) -> Reason:
    is_asked = trigger.rule == TriggerCode.ASKED
    return OutcomeCode.NOTHING_FOLDS() if is_asked else OutcomeCode.NOTHING_HELPS()


def _why_not(prepared: Prepared, measured: Measure) -> Reason:
    policy, budget = prepared.call.policy, prepared.call.budget
    if budget is None:
        return OutcomeCode.WINDOW_UNKNOWN()
    if not policy.is_automatic:
        return OutcomeCode.SWITCHED_OFF()
    if prepared.state.failures >= MOST_FAILURES:
        return OutcomeCode.FAILURES(failures=prepared.state.failures)
    seen = measured.ruling
    size = seen.input_tokens if policy.trigger_on == "input" else seen.history_tokens
    least = least_messages(seen, policy)
    if size >= budget.trigger_tokens and measured.uncovered_messages < least:
        return OutcomeCode.TOO_FEW_MESSAGES(messages=measured.uncovered_messages, needed=least)
    is_at = size >= budget.trigger_tokens  # some fire only above it
    where = OutcomeCode.AT_TRIGGER if is_at else OutcomeCode.BELOW_TRIGGER
    return where(tokens=size, trigger=budget.trigger_tokens)
