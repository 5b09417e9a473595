"""Measures the input of a session and finds the rule that asks for a compaction.

Measuring reads only the compaction record and the totals of the messages after it, and the newest
messages where a policy counts by a rule of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ctxcore.assembly.building import (
    NOTHING_COVERED,
    Builder,
    Call,
    at_rest,
    build_at_rest,
    build_context,
)
from ctxcore.assembly.history import Counted, HistoryView, referring
from ctxcore.assembly.history_views import adapted, counted_by_rule
from ctxcore.assembly.items import total
from ctxcore.assembly.layout import Layout
from ctxcore.assembly.reading import Reader, Reading, standing, standing_texts
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import knowledge_text
from ctxcore.budget import TokenBudget
from ctxcore.messages.values import text_message
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import TriggerCode
from ctxcore.reasons.values import COUNTED_BY, Fact, Reason
from ctxcore.tokens.count import count_message

_ANSWER_TOKENS = 4_000  # chosen: how far back the newest answer is looked for
MAX_FAILURES = 3
"""After so many failed compactions in a row nothing is tried until a person asks. Source: the
`default` preset in `docs/designs.md`."""
DIRECT = (TriggerCode.ASKED, TriggerCode.MARKED, TriggerCode.MANY_TURNS)
"""The rules that take a policy's `direct_strategies`."""
_WHATEVER_THE_SIZE = (*DIRECT, TriggerCode.NO_ROOM_FOR_TOOLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The size of the input, as if no uncovered message were left out."""

    fixed_tokens: int
    """Framing, tools, system, knowledge, goal, pins, facts and kept blocks."""
    gap_tokens: int
    """The marker of what was truncated."""
    summary_tokens: int
    uncovered_tokens: int
    uncovered_messages: int
    facts_tokens: int = 0
    """A part of `fixed_tokens`."""
    knowledge_tokens: int = 0
    """A part of `fixed_tokens`: all of it, however much finds room."""
    recalled_tokens: int = 0
    """What stands recalled, part of the fixed tokens; a compaction ends it."""
    system_messages: int = 0
    turns: int = 0
    """User messages since the last compaction or full summary; 0 unless the policy asks."""
    is_at_rest: bool = False
    """Whether the history is so short that everything is sent as it is."""
    is_marked: bool = False
    """Whether the model itself has asked for a compaction since the last one."""
    by_rule: Measure | None = None
    """The same by the counting rule of the policy's triggers, where it has its own."""

    @property
    def ruling(self) -> Measure:
        """The measure that the triggers compare."""
        return self.by_rule or self

    @property
    def without_knowledge(self) -> Measure:
        """The same without knowledge, as the session's own compactions see it."""
        if not self.knowledge_tokens:
            return self
        return replace(
            self,
            fixed_tokens=self.fixed_tokens - self.knowledge_tokens,
            knowledge_tokens=0,
            by_rule=self.by_rule and self.by_rule.without_knowledge,
        )

    @property
    def input_tokens(self) -> int:
        """The size of the whole input."""
        return self.fixed_tokens + self.gap_tokens + self.history_tokens

    @property
    def history_tokens(self) -> int:
        """The size of summary and uncovered messages."""
        return self.summary_tokens + self.uncovered_tokens

    def triggering_tokens(self, policy: Policy) -> int:
        """Returns the size that the triggers of `policy` compare."""
        return self.input_tokens if policy.trigger_on == "input" else self.history_tokens


def measure(view: HistoryView, call: Call, active: Compaction | None = None) -> Measure:
    """Returns the size of the input under `active`, in time independent of the history's length."""
    active = active or NOTHING_COVERED
    if build_at_rest(view, call, active) is not None:
        return replace(_measure(view, at_rest(call), active), is_at_rest=True)
    measured = _measure(adapted(view, call.policy, call.counter), call, active)
    if call.rule is None:
        return measured
    by_rule = _measure(
        counted_by_rule(view, call.policy, call.counter, call.rule), call.by_rule, active
    )
    return replace(measured, by_rule=by_rule)


def _measure(view: HistoryView, call: Call, active: Compaction) -> Measure:
    refers = call.offers_expand
    reader = Reader(view, active, call.policy, call.counter, refers=refers, system=call.system)
    reading = reader.read(1)
    builder = Builder(view, call, active)
    maker = builder.maker(reading)
    layout = maker.make(len(reading.blocks), 0)
    covered, knowledge = active.covered_until, _knowledge_tokens(call)
    recalled = total(one.item for one in builder.recaller(reading).standing)
    uncovered = view.totals(after=covered)
    hidden = [row for row in view.get(reading.excluded) if row.seq > covered]
    saved = sum(row.sent_tokens for row in hidden) + _saved(view, active, call, reading.excluded)
    return Measure(
        fixed_tokens=builder.framing(reading) + _fixed(layout, covered) + knowledge + recalled,
        gap_tokens=maker.marker_tokens(maker.truncated),
        summary_tokens=total(layout.summary),
        facts_tokens=total(layout.facts),
        knowledge_tokens=knowledge,
        recalled_tokens=recalled,
        uncovered_tokens=uncovered.tokens - saved + _shown_whole(view, reading, covered),
        uncovered_messages=uncovered.messages - len(hidden),
        system_messages=len(reading.system),
        turns=_turns(view, call.policy, active),
        is_marked=_is_marked(view, call.policy.summary_marker, active),
    )


def _turns(view: HistoryView, policy: Policy, active: Compaction) -> int:
    """Returns how many turns began since the last compaction or the last full summary."""
    if policy.max_turns is None:
        return 0
    since = active.turns_from if policy.direct_strategies else active.seen_until
    return view.turns(after=since)


def _is_marked(view: HistoryView, marker: str | None, active: Compaction) -> bool:
    """Whether the newest answer holds the marker and no compaction has seen it."""
    if marker is None:
        return False
    rows = reversed(view.tail(_ANSWER_TOKENS, after=active.covered_until))
    answer = next((row for row in rows if row.message.role == "assistant"), None)
    return answer is not None and answer.seq > active.seen_until and marker in answer.message.text


def input_size(view: HistoryView, call: Call, active: Compaction | None) -> int:
    """Returns the tokens of the input: the context's own count where it fits, else the measure."""
    measured = measure(view, call, active).input_tokens
    if call.budget is not None and measured > call.budget.usable_tokens:
        return measured
    return build_context(view, call, active).tokens


def _knowledge_tokens(call: Call) -> int:
    texts = (knowledge_text(name, text) for name, text in call.knowledge.items())
    return sum(count_message(text_message("user", text), call.counter) for text in texts)


def _fixed(layout: Layout, covered: int) -> int:
    """Returns the size of what is shown besides summary, uncovered messages and knowledge."""
    always = (*layout.system, *layout.pins, *layout.facts, *layout.kept)
    survivors = (*layout.goal, *layout.request, *layout.late_pins)
    return total(always) + total(item for item in survivors if item.seq <= covered)


def _shown_whole(view: HistoryView, reading: Reading, covered: int) -> int:
    """Returns what pinned messages take beyond the short texts that the totals count for them."""
    pins = [seq for seq in reading.anchors.pinned if seq > covered and seq not in reading.excluded]
    return sum(row.tokens - row.sent_tokens for row in view.get(pins)) if pins else 0


def _saved(view: HistoryView, active: Compaction, call: Call, excluded: Collection[int]) -> int:
    """Returns how much less shortened messages take than the totals count for them."""
    whole = {*excluded, *view.anchors().pinned}
    texts, calls = standing_texts(view, active), dict(active.arguments)
    seqs = (seq for seq in texts.keys() | calls.keys() if seq not in whole)
    rows: list[Counted] = view.get([seq for seq in seqs if seq > active.covered_until])
    shorter = (standing(row, texts.get(row.seq), calls.get(row.seq), call.counter) for row in rows)
    if call.offers_expand:
        shorter = (referring(row, call.counter) for row in shorter)
    pairs = zip(rows, shorter, strict=True)
    return sum(max(0, _in_totals(view, row) - short.sent_tokens) for row, short in pairs)


def _in_totals(view: HistoryView, row: Counted) -> int:
    """Returns what the totals count of a row; of an over-long output it may be only the limit."""
    if row.short is None:
        return row.sent_tokens
    return view.totals(after=row.seq - 1).tokens - view.totals(after=row.seq).tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(Plain):
    """The rule that asks for a compaction, with the numbers it compared."""

    reason: Reason
    is_by_model: bool = False
    """Whether it compared the model's counts although the policy has its own counting rule."""

    @property
    def rule(self) -> str:
        """The code of the rule, one of `TriggerCode`."""
        return self.reason.code

    @property
    def numbers(self) -> Mapping[str, Fact]:
        """The compared numbers by name."""
        return {name: fact for name, fact in self.reason.facts.items() if name != COUNTED_BY}

    def __str__(self) -> str:
        return str(self.reason)


def find_trigger(measured: Measure, call: Call) -> Trigger | None:
    """Returns the first rule that asks for a compaction; None if there is none."""
    policy, budget = call.policy, call.budget
    if budget is None or not policy.is_automatic or measured.is_at_rest:
        return None
    rules = _URGENT if _waits_for_more(measured.ruling, policy) else (*_URGENT, *_PATIENT)
    for rule in rules:
        reason = rule(measured.ruling, policy, budget)
        if reason is not None:
            return Trigger(reason=by_rule(reason, policy))
    reason = _beyond_recent(measured, policy, budget)  # the recent budget is in the model's counts
    if reason is not None:
        return Trigger(reason=reason, is_by_model=True)
    return overflow(measured, call)


def by_rule(reason: Reason, policy: Policy) -> Reason:
    """Returns `reason` naming the rule that counted its tokens, where it is not the model's."""
    is_counted = not reason.facts.keys().isdisjoint(("tokens", "remaining"))
    return reason if policy.counting == "model" or not is_counted else reason.by(policy.counting)


def overflow(measured: Measure, call: Call) -> Trigger | None:
    """Returns the overflow rule if the input, by the model's counter, is larger than usable."""
    if call.budget is None or measured.input_tokens <= call.budget.usable_tokens:
        return None
    found = TriggerCode.OVERFLOW(tokens=measured.input_tokens, usable=call.budget.usable_tokens)
    return Trigger(reason=found, is_by_model=True)


def is_recorded(record: Compaction) -> bool:
    """Whether another product made this compaction, as its transcript records."""
    return record.trigger is not None and record.trigger.code == TriggerCode.RECORDED


def manual_trigger(measured: Measure) -> Trigger:
    """Returns the trigger of a compaction that a person or a program requested."""
    return Trigger(reason=TriggerCode.ASKED(tokens=measured.input_tokens))


def for_trigger(call: Call, measured: Measure, trigger: Trigger, *, halves: bool = True) -> Call:
    """Returns `call` with the budget that a compaction for `trigger` plans with.

    A request, and any rule that does not compare tokens, wants a smaller input even below the
    target: the target is then half the input, unless the caller named one (`halves=False`). An
    unknown window is taken to be as large as the input.
    """
    policy = call.policy.override(max_tokens_is_window=False)
    budget = call.budget or policy.input_budget(measured.input_tokens)
    if trigger.rule in _WHATEVER_THE_SIZE and halves:
        target = min(budget.target_tokens, measured.ruling.input_tokens // 2)
        budget = call.policy.retarget(budget, target)
    return replace(call, budget=budget, recalls=())


def _waits_for_more(measured: Measure, policy: Policy) -> bool:
    """Whether the patient rules still wait for more messages."""
    if measured.uncovered_messages < least_messages(measured, policy):
        return True
    least_tokens = measured.summary_tokens * policy.next_min_ratio
    return measured.uncovered_tokens <= least_tokens and least_tokens > 0


def least_messages(measured: Measure, policy: Policy) -> int:
    """Returns how many uncovered messages the patient rules wait for."""
    if not measured.summary_tokens:
        return max(policy.min_messages, policy.first_min_messages)
    return policy.next_min_messages or policy.min_messages


def _marked(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    return TriggerCode.MARKED() if measured.is_marked else None


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


def _many_turns(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    if policy.max_turns is None or measured.turns < policy.max_turns:
        return None
    return TriggerCode.MANY_TURNS(turns=measured.turns, most=policy.max_turns)


def _at_ratio(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = measured.triggering_tokens(policy)
    if policy.trigger_ratio is None or size < budget.trigger_tokens:
        return None
    is_input = policy.trigger_on == "input"
    code = TriggerCode.INPUT_RATIO if is_input else TriggerCode.HISTORY_RATIO
    return code(tokens=size, trigger=budget.trigger_tokens)


def _above_upper(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size, upper = measured.triggering_tokens(policy), budget.trigger_tokens
    if policy.upper_tokens is None or size <= upper:
        return None
    is_input = policy.trigger_on == "input"
    code = TriggerCode.INPUT_UPPER if is_input else TriggerCode.HISTORY_UPPER
    return code(tokens=size, upper=upper, lower=budget.target_tokens)


def _little_remains(measured: Measure, policy: Policy, budget: TokenBudget) -> Reason | None:
    size = measured.input_tokens
    if policy.remaining_ratio is None or size <= budget.trigger_tokens:
        return None
    remaining = max(0, budget.usable_tokens - size)
    least = budget.usable_tokens - budget.trigger_tokens
    return TriggerCode.LITTLE_REMAINS(remaining=remaining, least=least)


_URGENT = (_marked, _beyond_recent, _above_available)
_PATIENT = (_many_turns, _at_ratio, _above_upper, _little_remains)
