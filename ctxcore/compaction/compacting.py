"""Plans and carries out compactions: `plan_compaction`, `compact` and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.building import NOTHING_COVERED
from ctxcore.assembly.context import Context
from ctxcore.assembly.effects import CompactionEffect, effect_of
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.records import Compaction, SummarySentence
from ctxcore.assembly.states import CompactionState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.executing import Outcome, Step, execute, resolved
from ctxcore.compaction.for_one_call import execute_for_one_call, plan_for_one_call
from ctxcore.compaction.loss_report import LostFact
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import (
    CompactionPlan,
    Confirm,
    Confirmation,
    joined,
    new_session_plan,
    without_summary,
)
from ctxcore.compaction.strategies import Level, Uses, level_of
from ctxcore.compaction.triggers import (
    MAX_FAILURES,
    Measure,
    Trigger,
    by_rule,
    find_trigger,
    for_trigger,
    least_messages,
    manual_trigger,
    measure,
    overflow,
)
from ctxcore.errors import BudgetError, CompactionRefusedError
from ctxcore.messages.arguments import Tools, checked_focus
from ctxcore.messages.shapes.reading import Given
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.calling import SummarizerLike, to_summarizer
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.summarizers.support import SummaryCheck


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompactionResult(Plain):
    """What `compact` did, and the context that may be sent now."""

    context: Context
    state: CompactionState
    """Pass it the next time, with the whole conversation."""
    applied: bool
    reason: Reason
    strategies: tuple[str, ...] = ()
    trigger: Trigger | None
    before_tokens: int
    """What the triggers compare: the input as if the window had room for everything."""
    after_tokens: int
    """The same behind it."""
    effect: CompactionEffect | None = None
    """What it changed in the next call; None where nothing was applied, or where the call without
    it cannot be sent."""
    summary: str
    summary_written: bool = False
    steps: tuple[Step, ...] = ()
    folded: tuple[int, ...] = ()
    """Indexes of the messages that this compaction folded; some of them may be shown as well, in
    the room that the summary left."""
    facts_lost: tuple[str, ...] | None = None
    """Facts of the folded messages that the context no longer holds; None: not looked for."""
    lost: tuple[LostFact, ...] = field(default=(), repr=False)
    """The same facts with their kinds, messages and scores."""
    facts_restored: tuple[str, ...] = ()
    """Facts that the summary of a model left out, carried beside it because it had room."""
    lineage: tuple[SummarySentence, ...] = ()
    """The sentences of the summary with the messages they come from; those of a plain text that
    was passed as a state are not known."""
    needs_confirmation: bool = False
    turns_folded: int = 0
    source_chars: int = 0
    """Length of the text that the summary stands for, in characters; 0 without a summary."""
    level: Level | None = None
    """How detailed the summary is asked to be, where its length is a share of its source."""
    cost: float | None = None
    """Cost of the summary in US dollars, where a model wrote it."""
    seconds: float = 0.0
    check: SummaryCheck | None = None
    """What the summary names that its source lacks, and why it was refused, where it was; None
    where nothing but quotes was written."""
    notices: tuple[Reason, ...] = ()
    """What became of a state that was made from other messages; empty where it was not."""

    @property
    def strategy(self) -> str:
        """The names of the strategies as one text."""
        return joined(self.strategies)

    @property
    def messages_removed(self) -> int:
        """How many messages this compaction folded."""
        return len(self.folded)

    @property
    def tokens_saved(self) -> int:
        """How many tokens smaller the input became, as the triggers compare it: with messages that
        had no room anyway. `effect` compares what is sent.
        """
        return self.before_tokens - self.after_tokens

    @property
    def saved_ratio(self) -> float:
        """How much smaller the input became, as a share: 1 - after / before."""
        return 1 - self.after_tokens / self.before_tokens if self.before_tokens else 0.0

    @property
    def summary_chars(self) -> int:
        """How long the summary is, in characters."""
        return len(self.summary)


def plan_compaction(
    messages: Given,
    *,
    policy: Policy,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    focus: str = "",
    on_mismatch: OnMismatch = "raise",
    count_factor: float = 1.0,
) -> CompactionPlan | None:
    """Returns what a compaction would do now; None if none is due or nothing may be folded.

    The arguments are those of `compact`; no summarizer is called. Knowledge belongs to its call:
    nothing is planned because of it.
    """
    focus = checked_focus(focus)
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
        on_mismatch=on_mismatch,
        count_factor=count_factor,
    )
    prepared = _with_target(prepared, target_tokens)
    prepared = prepared.calling(prepared.call.without_knowledge)
    measured = measure(prepared.view, prepared.call, prepared.state.active)
    trigger = automatic_trigger(prepared, measured)
    if trigger is None:
        return None
    call = for_trigger(prepared.call, measured, trigger)
    uses = Uses.of(prepared.state, has_summarizer=True)
    planned = plan(
        prepared.view, call, prepared.state.active, measured, trigger, uses=uses, focus=focus
    )
    return planned and resolved(planned, prepared.view, prepared.call)


def compact(
    messages: Given,
    *,
    policy: Policy | None = None,
    max_tokens: int | None = None,
    target_tokens: int | None = None,
    summarizer: SummarizerLike | None = None,
    model: str | None = None,
    tools: Tools | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    focus: str = "",
    force: bool = False,
    confirm: Confirm | None = None,
    on_mismatch: OnMismatch = "raise",
    count_factor: float = 1.0,
) -> CompactionResult:
    """Returns the context of `messages`, older ones folded into a summary where a rule asks for it.

    Args:
        messages: the whole conversation, including what earlier compactions cover.
        policy: thresholds; the preset `default` without one.
        max_tokens: the input budget, as for `fit`; without it the model's window decides.
        target_tokens: where the compaction stops; `max_tokens` fills the budget.
        summarizer: what writes the summary: a summarizer, or a function of the messages (a
            sequence of `Message`) and the previous summary that returns a text. Without it the
            extractive one, which calls no model; a policy that chooses between truncating and
            summarizing truncates then.
        model: whose tokens count and whose window it is.
        tools: tool definitions sent along.
        knowledge: retrieved texts by name. They count in the rules and belong to this call: they
            are trimmed to the room that the conversation leaves, and it is folded as deep as
            without them. Where only they ask, the result's trigger and reason say what was done
            for this call.
        state: `result.state` of the time before, or a plain summary of what came before.
        focus: what this compaction should keep, in your own words; a summary is asked for it, and
            what says it is kept and quoted first. The policy's `summary_instructions` do the same
            for every compaction.
        force: compact even though no rule asks for it.
        confirm: called before a compaction that starts by itself, where the policy wants that;
            without it nothing changes then, and the result says that it needs confirmation.
        on_mismatch: what to do where `state` was made from other messages: "raise", or "rebuild":
            what is still true of it is kept, the rest compacted anew; `result.notices` tells.
        count_factor: what the provider counts for one of our tokens, where they are estimates; the
            budget is divided by it.

    Raises:
        BudgetError: what must be kept does not fit.
        CompactionRefusedError: `confirm` answered "refuse".
        MessageError: one of `messages` is no message, or of another shape than those before it;
            `tools`, `knowledge` or `focus` are not what they may be.
        StateError: `state` was made from other messages.
        SummarizerTypeError: `summarizer` is neither a summarizer nor such a function, or what it
            returned is no text.
    """
    writer = None if summarizer is None else to_summarizer(summarizer)
    focus = checked_focus(focus)
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=tools,
        knowledge=knowledge,
        state=state,
        on_mismatch=on_mismatch,
        count_factor=count_factor,
    )
    prepared = _with_target(prepared, target_tokens)
    own = prepared.call.without_knowledge
    measured = measure(prepared.view, own, prepared.state.active)
    trigger = manual_trigger(measured) if force else automatic_trigger(prepared, measured)
    if trigger is None:
        result = _for_this_call(prepared, writer) or _unchanged(
            prepared, measured, None, _why_not(prepared, measured)
        )
    else:
        result = compact_prepared(
            prepared,
            measured,
            trigger,
            summarizer=writer,
            focus=focus,
            confirm=confirm,
            halves=target_tokens is None,
        )
    state = replace(result.state, recalls=result.context.recalls)
    state = prepared.bound(state, result.context)
    return replace(result, state=state, notices=prepared.notices)


def _with_target(prepared: Prepared, target_tokens: int | None) -> Prepared:
    call = prepared.call
    if target_tokens is None or call.budget is None:
        return prepared
    counted = int(target_tokens / call.budget.count_factor)
    budget = call.policy.retarget(call.budget, counted)
    return prepared.calling(replace(call, budget=budget))


def automatic_trigger(prepared: Prepared, measured: Measure) -> Trigger | None:
    """Returns the rule that fires by itself; after too many failures only an overflow does."""
    if prepared.state.failures >= MAX_FAILURES:
        return overflow(measured, prepared.call)
    return find_trigger(measured, prepared.call)


def _why_not(prepared: Prepared, measured: Measure) -> Reason:
    """Returns why no rule asks for a compaction."""
    policy, budget = prepared.call.policy, prepared.call.budget
    if budget is None:
        return OutcomeCode.WINDOW_UNKNOWN()
    if not policy.is_automatic:
        return OutcomeCode.SWITCHED_OFF()
    if prepared.state.failures >= MAX_FAILURES:
        return OutcomeCode.FAILURES(failures=prepared.state.failures)
    size = measured.ruling.triggering_tokens(policy)
    least = least_messages(measured.ruling, policy)
    if size < budget.trigger_tokens:
        below = OutcomeCode.BELOW_TRIGGER(tokens=size, trigger=budget.trigger_tokens)
        return by_rule(below, policy)
    if measured.uncovered_messages < least:
        return OutcomeCode.TOO_FEW_MESSAGES(messages=measured.uncovered_messages, needed=least)
    # some rules fire only above the trigger, not at it
    at = OutcomeCode.AT_TRIGGER(tokens=size, trigger=budget.trigger_tokens)
    return by_rule(at, policy)


def compact_prepared(
    prepared: Prepared,
    measured: Measure,
    trigger: Trigger,
    *,
    summarizer: Summarizer | None = None,
    focus: str = "",
    confirm: Confirm | None = None,
    halves: bool = True,
) -> CompactionResult:
    """Does what `compact` does once everything is counted and `trigger` asks for it.

    `measured` is without knowledge; `halves` is that of `for_trigger`.
    """
    unchanged = partial(_unchanged, prepared, measured, trigger)
    is_forced = trigger.rule == TriggerCode.ASKED
    call, active = (
        for_trigger(prepared.call.without_knowledge, measured, trigger, halves=halves),
        prepared.state.active,
    )
    # Quotes need no model, and a truncation would keep nothing of what a person named.
    writes = summarizer is not None or bool(focus)
    uses = Uses.of(prepared.state, has_summarizer=writes)
    planned = plan(prepared.view, call, active, measured, trigger, uses=uses, focus=focus)
    if planned is None:
        return unchanged((OutcomeCode.NOTHING_FOLDS if is_forced else OutcomeCode.NOTHING_HELPS)())
    if call.policy.is_shadow and not is_forced:
        return unchanged(OutcomeCode.ONLY_PLANNED(strategy=planned.strategies))
    if call.policy.requires_confirmation and not is_forced:
        if confirm is None:
            waiting = unchanged(OutcomeCode.NEEDS_CONFIRMATION())
            return replace(waiting, needs_confirmation=True)
        planned = _confirmed(prepared, measured, planned, confirm)
    outcome = execute(
        planned,
        prepared.view,
        call,
        active,
        summarizer or ExtractiveSummarizer(prepared.call.counter),
        is_needed=overflow(measured, prepared.call) is not None,
        is_forced=is_forced,
    )
    state = _next_state(prepared.state, outcome)
    if outcome.record is None:
        refused = unchanged(outcome.reason)
        return replace(
            refused,
            state=state,
            steps=outcome.steps,
            seconds=outcome.seconds,
            check=outcome.check,
        )
    return _applied(prepared, outcome.plan or planned, outcome, outcome.record, state)


def _for_this_call(prepared: Prepared, summarizer: Summarizer | None) -> CompactionResult | None:
    """Returns what knowledge makes this call alone do; None where no rule asks because of it."""
    view, call, active = prepared.view, prepared.call, prepared.state.active
    uses = Uses.of(prepared.state, has_summarizer=summarizer is not None)
    one_call = plan_for_one_call(view, call, active, uses=uses)
    if one_call is None:
        return None
    writer = summarizer or ExtractiveSummarizer(call.counter)
    one_call = execute_for_one_call(one_call, view, call, active, writer)
    outcome, record = one_call.outcome, one_call.record
    context = prepared.context(record)
    return CompactionResult(
        context=context,
        state=prepared.state,
        applied=False,
        reason=one_call.reason(context),
        strategies=outcome.strategies if outcome and one_call.folds else (),
        trigger=one_call.trigger,
        before_tokens=measure(view, call, active).input_tokens,
        after_tokens=context.tokens,
        summary=record.summary if record else "",
        steps=outcome.steps if outcome else (),
        cost=outcome.cost if outcome else None,
        seconds=outcome.seconds if outcome else 0.0,
    )


def _confirmed(
    prepared: Prepared, measured: Measure, planned: CompactionPlan, confirm: Confirm
) -> CompactionPlan:
    """Returns the plan that a person agreed to, who sees it with all choices made."""
    planned = resolved(planned, prepared.view, prepared.call)
    match confirm(confirmation(prepared.call.budget, measured, planned, _without(prepared))):
        case "compact":
            return planned
        case "drop_oldest":
            return without_summary(planned)
        case "new_session":
            return new_session_plan(prepared.view, prepared.state.active, planned)
        case "refuse":
            raise refusal(prepared.call.budget, measured)


def confirmation(
    budget: TokenBudget | None,
    measured: Measure,
    planned: CompactionPlan,
    without: Context | None,
) -> Confirmation:
    """Returns the question to a person about `planned`; `without` it the next call is that one."""
    current, most = _current_and_max_tokens(budget, measured)
    return Confirmation(
        plan=planned,
        current_tokens=current,
        max_tokens=most,
        next_call_tokens=without.tokens if without else None,
        outside_tokens=without.outside_tokens if without else 0,
    )


def refusal(budget: TokenBudget | None, measured: Measure) -> CompactionRefusedError:
    """Returns the error that tells a person who refuses how full the context is."""
    current, most = _current_and_max_tokens(budget, measured)
    return CompactionRefusedError(current_tokens=current, max_tokens=most)


def _current_and_max_tokens(budget: TokenBudget | None, measured: Measure) -> tuple[int, int]:
    current = measured.input_tokens
    return current, budget.window_tokens if budget else current


def _unchanged(
    prepared: Prepared, measured: Measure, trigger: Trigger | None, reason: Reason
) -> CompactionResult:
    active = prepared.state.active
    context = prepared.context(active)
    usable = context.budget.usable_tokens if context.budget else measured.input_tokens
    size = context.tokens if measured.input_tokens <= usable else measured.input_tokens
    return CompactionResult(
        context=context,
        state=prepared.state,
        applied=False,
        reason=reason,
        trigger=trigger,
        before_tokens=size,
        after_tokens=size,
        summary=active.summary if active else "",
        lineage=active.sentences if active else (),
    )


def _applied(
    prepared: Prepared,
    planned: CompactionPlan,
    outcome: Outcome,
    record: Compaction,
    state: CompactionState,
) -> CompactionResult:
    before = prepared.state.active or NOTHING_COVERED
    folded = tuple(at for at in planned.fold if before.covered_until <= at < record.covered_until)
    rows = prepared.view.get([at + 1 for at in folded])
    context = prepared.calling(replace(prepared.call, recalls=())).context(record)
    without = _without(prepared)
    ratio = prepared.call.policy.summary_chars_ratio
    is_written = has_new_summary(before, record)
    return CompactionResult(
        context=context,
        state=state,
        applied=True,
        reason=outcome.reason,
        strategies=outcome.strategies,
        trigger=planned.trigger,
        before_tokens=record.before_tokens,
        after_tokens=record.after_tokens,
        effect=effect_of(without, context, record) if without else None,
        summary=record.summary,
        facts_lost=record.facts_lost,
        lost=outcome.lost,
        facts_restored=record.facts_restored,
        lineage=record.sentences,
        summary_written=is_written,
        steps=outcome.steps,
        folded=folded,
        turns_folded=sum(row.message.role == "user" for row in rows),
        source_chars=record.source_chars,
        level=level_of(ratio) if ratio is not None and is_written else None,
        cost=outcome.cost,
        seconds=outcome.seconds,
        check=outcome.check,
    )


def _without(prepared: Prepared) -> Context | None:
    """Returns the context without a compaction; None where it cannot be sent."""
    try:
        return prepared.context(prepared.state.active)
    except BudgetError:
        return None


def _next_state(state: CompactionState, outcome: Outcome) -> CompactionState:
    state = replace(state, failures=state.failures + 1 if outcome.failed else 0)
    record, before = outcome.record, state.active or NOTHING_COVERED
    if record is None:
        return state
    return replace(
        state,
        active=record,
        summaries=state.summaries + has_new_summary(before, record),
        truncations=state.truncations + has_new_truncation(before, record),
    )


def has_new_summary(before: Compaction, record: Compaction) -> bool:
    """Whether `record`, which follows `before`, has a summary of more messages."""
    return bool(record.summary) and record.summarized_until > before.summarized_until


def has_new_truncation(before: Compaction, record: Compaction) -> bool:
    """Whether `record`, which follows `before`, covers more messages without a summary."""
    return record.is_truncation and record.covered_until > before.covered_until
