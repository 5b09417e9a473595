"""Owns the rules by which a compaction starts: one list over one measurement.

The first rule that fires says so with the numbers it compared; a policy's fields switch rules on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ctxcore.assembly.building import Call
from ctxcore.budget import TokenBudget
from ctxcore.compaction.measuring import Measure
from ctxcore.policy.values import Policy

ASKED = "asked for"
OVERFLOW = "input above usable"
MARKED = "asked for by the model"
NO_ROOM_FOR_TOOLS = "no room for tool calls"
MANY_TURNS = "number of turns"
MANY_MESSAGES = "number of messages"

_WHATEVER_THE_SIZE = (ASKED, MARKED, NO_ROOM_FOR_TOOLS, MANY_TURNS, MANY_MESSAGES)
DIRECT = (ASKED, MARKED, MANY_TURNS)
"""The rules that take a policy's `direct_strategies`."""
NEW_SESSION = "start a new session"
"""What is left to a person where compacting does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The rule that asked for a compaction, with the numbers it compared."""

    rule: str
    numbers: tuple[tuple[str, int], ...]
    is_by_model: bool = False
    """Whether it compared the model's own counts where the policy has a rule of its own."""

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:,}" for name, value in self.numbers)
        return f"{self.rule}: {numbers}" if numbers else self.rule


Rule = Callable[[Measure, Policy, TokenBudget], Trigger | None]


def find_trigger(measured: Measure, call: Call) -> Trigger | None:
    """The first rule that asks for a compaction; None if the session may go on as it is."""
    policy, budget = call.policy, call.budget
    if budget is None or not policy.is_automatic or measured.is_at_rest:
        return None
    rules = _URGENT if _waits_for_more(measured.ruling, policy) else (*_URGENT, *_PATIENT)
    fired = (rule(measured.ruling, policy, budget) for rule in rules)
    found = next((trigger for trigger in fired if trigger), None)
    return found or _unseen(measured, policy, budget) or overflow(measured, call)


def _unseen(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    """The rule that the recent budget, which is in the model's counts, leaves something out."""
    found = _beyond_recent(measured, policy, budget)
    return None if found is None else replace(found, is_by_model=True)


def overflow(measured: Measure, call: Call) -> Trigger | None:
    """The rule that an input larger than usable, by the model's counter, cannot be sent whole."""
    if call.budget is None or measured.input_tokens <= call.budget.usable_tokens:
        return None
    found = _trigger(OVERFLOW, tokens=measured.input_tokens, usable=call.budget.usable_tokens)
    return replace(found, is_by_model=True)


def asked(measured: Measure) -> Trigger:
    """The rule that a person or a program asked."""
    return _trigger(ASKED, tokens=measured.input_tokens)


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


def _beyond_lookback(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    looked_at, new = policy.lookback_messages, measured.uncovered_messages
    if looked_at is None or new - measured.current_messages <= looked_at:
        return None
    return _trigger("beyond the lookback", uncovered_messages=new, looked_at=looked_at)


def _beyond_recent(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    new = measured.uncovered_tokens
    if policy.recent_history_ratio is None or new <= budget.recent_tokens:
        return None
    return _trigger("beyond the recent budget", tokens=new, recent_budget=budget.recent_tokens)


def _above_available(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    size = measured.input_tokens
    if policy.counting == "model" or size <= budget.usable_tokens:
        return None
    return _trigger("input above available", tokens=size, available=budget.usable_tokens)


def _marked(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    return _trigger(MARKED) if measured.is_marked else None


def _many_turns(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    if policy.max_turns is None or measured.turns < policy.max_turns:
        return None
    return _trigger(MANY_TURNS, turns=measured.turns, most=policy.max_turns)


def _many_messages(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    most, new = policy.max_messages, measured.uncovered_messages
    if most is None or new < most:
        return None
    return _trigger(MANY_MESSAGES, uncovered_messages=new, most=most)


def _at_ratio(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    size = _size(measured, policy)
    if policy.trigger_ratio is None or size < budget.trigger_tokens:
        return None
    rule = f"{policy.trigger_on} at the trigger"
    return _trigger(rule, tokens=size, trigger=budget.trigger_tokens)


def _above_upper(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    size = _size(measured, policy)
    if policy.upper_tokens is None or size <= budget.trigger_tokens:
        return None
    rule = f"{policy.trigger_on} above the upper threshold"
    return _trigger(rule, tokens=size, upper=budget.trigger_tokens, lower=budget.target_tokens)


def _little_remains(measured: Measure, policy: Policy, budget: TokenBudget) -> Trigger | None:
    size = measured.input_tokens
    if policy.remaining_ratio is None or size <= budget.trigger_tokens:
        return None
    remaining = max(0, budget.usable_tokens - size)
    least = budget.usable_tokens - budget.trigger_tokens
    return _trigger("little remains", remaining=remaining, least=least)


def _size(measured: Measure, policy: Policy) -> int:
    return measured.input_tokens if policy.trigger_on == "input" else measured.history_tokens


def _trigger(rule: str, **numbers: int) -> Trigger:
    named = ((name.replace("_", " "), value) for name, value in numbers.items())
    return Trigger(rule=rule, numbers=tuple(named))


_URGENT: tuple[Rule, ...] = (_marked, _beyond_lookback, _beyond_recent, _above_available)
_PATIENT: tuple[Rule, ...] = (
    *(_many_turns, _many_messages),
    *(_at_ratio, _above_upper, _little_remains),
)
