"""Owns the rules by which a compaction starts: one list over one measurement.

The first rule that fires says so with the numbers it compared; a policy's fields switch rules on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ctxcore.assembly.building import Call
from ctxcore.assembly.records import Compaction
from ctxcore.budget import TokenBudget
from ctxcore.compaction.measuring import Measure
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import TriggerCode
from ctxcore.reasons.values import Fact, Reason

_WHATEVER_THE_SIZE = (
    TriggerCode.ASKED,
    TriggerCode.MARKED,
    TriggerCode.NO_ROOM_FOR_TOOLS,
    TriggerCode.MANY_TURNS,
)
MOST_FAILURES = 3
"""After so many failed compactions in a row nothing is tried until a person asks. Source: the
`default` preset in `docs/designs.md`."""
DIRECT = (TriggerCode.ASKED, TriggerCode.MARKED, TriggerCode.MANY_TURNS)
"""The rules that take a policy's `direct_strategies`."""
_AT_RATIO = {"input": TriggerCode.INPUT_RATIO, "history": TriggerCode.HISTORY_RATIO}
_ABOVE_UPPER = {"input": TriggerCode.INPUT_UPPER, "history": TriggerCode.HISTORY_UPPER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The rule that asked for a compaction, with the numbers it compared."""

    reason: Reason
    is_by_model: bool = False
    """Whether it compared the model's own counts where the policy has a rule of its own."""

    @property
    def rule(self) -> str:
        """The rule, one of `TriggerCode`."""
        return self.reason.code

    @property
    def numbers(self) -> Mapping[str, Fact]:
        """What it compared, by name."""
        return self.reason.facts

    def __str__(self) -> str:
        return str(self.reason)


Rule = Callable[[Measure, Policy, TokenBudget], Reason | None]


def find_trigger(measured: Measure, call: Call) -> Trigger | None:
    """The first rule that asks for a compaction; None if the session may go on as it is."""
    policy, budget = call.policy, call.budget
    if budget is None or not policy.is_automatic or measured.is_at_rest:
        return None
    rules = _URGENT if _waits_for_more(measured.ruling, policy) else (*_URGENT, *_PATIENT)
    fired = (rule(measured.ruling, policy, budget) for rule in rules)
    found = next((reason for reason in fired if reason), None)
    if found is not None:
        return Trigger(reason=found)
    return _unseen(measured, policy, budget) or overflow(measured, call)


def _unseen(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    """The rule that the recent budget, which is in the model's counts, leaves something out."""
    found = _beyond_recent(measured, policy, budget)
    return None if found is None else Trigger(reason=found, is_by_model=True)


def overflow(measured: Measure, call: Call) -> Trigger | None:
    """The rule that an input larger than usable, by the model's counter, cannot be sent whole."""
    if call.budget is None or measured.input_tokens <= call.budget.usable_tokens:
        return None
    found = TriggerCode.OVERFLOW(tokens=measured.input_tokens, usable=call.budget.usable_tokens)
    return Trigger(reason=found, is_by_model=True)


def is_recorded(record: Compaction) -> bool:
    """Whether another product made this compaction, and its transcript told of it."""
    return record.trigger is not None and record.trigger.code == TriggerCode.RECORDED


def asked(measured: Measure) -> Trigger:
    """The rule that a person or a program asked."""
    return Trigger(reason=TriggerCode.ASKED(tokens=measured.input_tokens))


def for_trigger(call: Call, measured: Measure, trigger: Trigger, *, halves: bool = True) -> Call:
    """`call` as a compaction for `trigger` plans with it.

    Somebody who asks, and any rule that does not look at tokens, wants a smaller input even below
    the target: half of it is the target then, unless they named one (`halves=False`). An unknown
    window is planned for as if the input filled it.
    """
    budget = call.budget or call.policy.input_budget(measured.input_tokens)
    if trigger.rule in _WHATEVER_THE_SIZE and halves:
        target = min(budget.target_tokens, measured.ruling.input_tokens // 2)
        budget = call.policy.retarget(budget, target)
    return replace(call, budget=budget)


def _waits_for_more(measured: Measure, policy: Policy) -> bool:
    """Whether there are too few messages yet for rules that can wait."""
    if measured.uncovered_messages < least_messages(measured, policy):
        return True
    least_tokens = measured.summary_tokens * policy.next_min_ratio
    return measured.uncovered_tokens <= least_tokens and least_tokens > 0


def least_messages(measured: Measure, policy: Policy) -> int:
    """How many uncovered messages the rules that can wait are waiting for."""
    if not measured.summary_tokens:
        return max(policy.min_messages, policy.first_min_messages)
    return policy.next_min_messages or policy.min_messages


def _beyond_lookback(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    looked_at, new = policy.lookback_messages, measured.uncovered_messages
    if looked_at is None or new - measured.current_messages <= looked_at:
        return None
    return TriggerCode.BEYOND_LOOKBACK(uncovered_messages=new, looked_at=looked_at)


def _beyond_recent(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    new = measured.uncovered_tokens
    if policy.recent_history_ratio is None or new <= budget.recent_tokens:
        return None
    return TriggerCode.BEYOND_RECENT(tokens=new, recent_budget=budget.recent_tokens)


def _above_available(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = measured.input_tokens
    if policy.counting == "model" or size <= budget.usable_tokens:
        return None
    return TriggerCode.ABOVE_AVAILABLE(tokens=size, available=budget.usable_tokens)


def _marked(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    return TriggerCode.MARKED() if measured.is_marked else None


def _many_turns(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    if policy.max_turns is None or measured.turns < policy.max_turns:
        return None
    return TriggerCode.MANY_TURNS(turns=measured.turns, most=policy.max_turns)


def _at_ratio(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = _size(measured, policy)
    if policy.trigger_ratio is None or size < budget.trigger_tokens:
        return None
    return _AT_RATIO[policy.trigger_on](tokens=size, trigger=budget.trigger_tokens)


def _above_upper(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = _size(measured, policy)
    if policy.upper_tokens is None or size <= budget.trigger_tokens:
        return None
    return _ABOVE_UPPER[policy.trigger_on](
        tokens=size, upper=budget.trigger_tokens, lower=budget.target_tokens
    )


def _little_remains(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = measured.input_tokens
    if policy.remaining_ratio is None or size <= budget.trigger_tokens:
        return None
    remaining = max(0, budget.usable_tokens - size)
    least = budget.usable_tokens - budget.trigger_tokens
    return TriggerCode.LITTLE_REMAINS(remaining=remaining, least=least)


def _size(measured: Measure, policy: Policy) -> int:
    return measured.input_tokens if policy.trigger_on == "input" else measured.history_tokens


_URGENT: tuple[Rule, ...] = (_marked, _beyond_lookback, _beyond_recent, _above_available)
_PATIENT: tuple[Rule, ...] = (
    _many_turns,
    _at_ratio,
    _above_upper,
    _little_remains,
)
