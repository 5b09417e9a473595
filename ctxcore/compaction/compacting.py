"""Owns what `compact` gives back: the context, the state for the next time, and the account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.carried import ledger_for
from ctxcore.compaction.executing import Outcome, Step, execute, resolved
from ctxcore.compaction.loss_report import LostFact
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import (
    CompactionPlan,
    Confirm,
    Confirmation,
    dropping,
    joined,
    new_session_plan,
)
from ctxcore.compaction.selectors import outdated_of
from ctxcore.compaction.strategies import Level, Uses, level_of
from ctxcore.compaction.triggers import (
    MOST_FAILURES,
    Measure,
    Trigger,
    asked,
    find_trigger,
    for_trigger,
    least_messages,
    measure,
    overflow,
)
from ctxcore.errors import CompactionRefusedError
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer


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
