"""Decides what a single call does about knowledge: knowledge gives way, or rounds stay out once.

The session's own compactions are decided without knowledge, so that a call with a long page leaves
the next context as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ctxcore.assembly.building import Call
from ctxcore.assembly.context import Context
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.executing import Outcome, execute
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.strategies import Uses
from ctxcore.compaction.triggers import Measure, Trigger, find_trigger, for_trigger, measure
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.protocol import Summarizer

LEAST_KNOWLEDGE_RATIO = 0.5
"""Chosen: of a page of which less is left, the answer is more likely missing than not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCall:
    """What knowledge makes one call do; nothing of it is recorded as the session's compaction."""

    trigger: Trigger
    """The rule that asks only because knowledge counts."""
    whole_tokens: int
    """What all of the knowledge takes, by the model's counter."""
    active: Compaction | None
    """The compaction that is in force, before and after the call."""
    plan: CompactionPlan | None = None
    """What this call leaves out or summarizes so that knowledge finds room."""
    outcome: Outcome | None = None
    """What came of the plan; None where there is none."""

    @property
    def folds(self) -> bool:
        """Whether the call leaves out or summarizes messages."""
        return self.outcome is not None and self.outcome.record is not None

    @property
    def record(self) -> Compaction | None:
        """What the call's context is built with."""
        return (self.outcome and self.outcome.record) or self.active

    def reason(self, context: Context) -> Reason:
        """Returns what was done, for the context that is sent."""
        numbers = {"tokens": context.breakdown.knowledge, "whole": self.whole_tokens}
        if self.outcome is None or not self.folds:
            return OutcomeCode.KNOWLEDGE_TRIMMED(**numbers)
        return OutcomeCode.FOR_ONE_CALL(why=self.outcome.reason, **numbers)


def plan_for_one_call(
    view: HistoryView, call: Call, active: Compaction | None, *, uses: Uses | None = None
) -> OneCall | None:
    """Returns what knowledge makes this call do; None where no rule asks because of it.

    Knowledge is trimmed to what the history leaves. Only a policy of the `truncate-or-summarize`
    design, in which history makes room for knowledge, leaves rounds out for the call, and only
    where less than `LEAST_KNOWLEDGE_RATIO` of the knowledge would be sent otherwise.
    """
    if not call.knowledge or call.budget is None:
        return None
    measured = measure(view, call, active)
    own = measured.without_knowledge
    if find_trigger(own, call) is not None:
        return None  # the history asks for it by itself
    trigger = find_trigger(measured, call)
    if trigger is None:
        return None
    planned = None
    if _makes_room(call, measured, trigger):
        alone = for_trigger(call.without_knowledge, own, trigger)
        planned = plan(view, alone, active, own, trigger, uses=uses)
    return OneCall(
        trigger=trigger, whole_tokens=measured.knowledge_tokens, active=active, plan=planned
    )


def execute_for_one_call(
    one_call: OneCall,
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    summarizer: Summarizer,
) -> OneCall:
    """Returns `one_call` with its plan carried out, for this call alone."""
    if one_call.plan is None:
        return one_call
    outcome = execute(
        one_call.plan,
        view,
        call.without_knowledge,
        active,
        summarizer,
        is_needed=False,
        is_forced=True,
    )
    return replace(one_call, outcome=outcome)


def _makes_room(call: Call, measured: Measure, trigger: Trigger) -> bool:
    """Whether the policy leaves history out for knowledge, and too little of it would be sent."""
    policy, budget = call.policy, call.budget
    asks_first = policy.requires_confirmation or policy.is_shadow
    if policy.fold_as != "choice" or asks_first or budget is None:
        return False
    counted = measured if trigger.is_by_model else measured.ruling
    left = budget.usable_tokens - counted.without_knowledge.input_tokens
    return left < counted.knowledge_tokens * LEAST_KNOWLEDGE_RATIO
