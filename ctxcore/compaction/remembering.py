"""Owns what a compaction carries beside its summary: no summarizer can lose it.

Facts of what it covers, and the working state, each where the policy has room for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import facts_message
from ctxcore.budget import TokenBudget
from ctxcore.compaction.working import collected, working_state
from ctxcore.facts.carrying import carry
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.said_text import SaidText
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter


def ledger_at(view: HistoryView) -> Ledger:
    """What holds of all that was said in `view`; of a view that grew only the rest is read."""
    seen, ledger = _LEDGERS.get(view, (-1, Ledger()))
    count = view.count()
    if seen > count:
        seen, ledger = -1, Ledger()
    if seen < count:
        for seq, facts in view.facts():
            if seq > seen:
                ledger.add(seq, facts)
        _LEDGERS[view] = (count, ledger)
    return ledger


_LEDGERS: WeakKeyDictionary[HistoryView, tuple[int, Ledger]] = WeakKeyDictionary()


def ledger_for(view: HistoryView, call: Call) -> Ledger:
    """The ledger of `view` where the policy carries facts, else an empty one: it takes reading."""
    return ledger_at(view) if call.budget and call.budget.carried_tokens else Ledger()


def with_facts(view: HistoryView, call: Call, record: Compaction, ledger: Ledger) -> Compaction:
    """`record` with the working state and the facts of what it covers, where nothing else in the
    context says them verbatim.

    It has then seen all of `view`: what was taken back there is not carried.
    """
    record, budget = replace(record, facts="", seen_until=view.count()), call.budget
    if budget is None or not budget.carried_tokens:
        return record
    parts = []
    if budget.working_state_tokens:
        record, visible = collected(view, call, record), _visible(view, call, record)
        out = view.anchors().excluded
        parts.append(working_state(call, record, ledger, visible=visible, out=out))
    if budget.facts_tokens:
        parts.append(_facts(view, call, budget, record, ledger))
    return replace(record, facts="\n".join(part for part in parts if part))


def _facts(
    view: HistoryView, call: Call, budget: TokenBudget, record: Compaction, ledger: Ledger
) -> str:
    frame = _frame_tokens(call.counter)
    told = SaidText("\n".join((record.summary, *(text for _, text in record.shortened))))
    others = _of_others(live(ledger), view.anchors().excluded)
    carried = carry(
        [entry for entry in others if not told.says(entry.fact)],
        max_tokens=budget.facts_tokens - frame,
        protected_tokens=budget.least_rules_tokens - frame,
        counter=call.counter,
        language=record.language,
        visible=_visible(view, call, record),
    )
    return carried.text


def facts_room(view: HistoryView, call: Call) -> int:
    """The most that is carried after a compaction: its share, or what rules need beyond it.

    The record carries rules in so much room, a context puts others back in as much again.
    """
    budget = call.budget
    if budget is None:
        return 0
    return budget.working_state_tokens + _rules_room(view, call, budget)


def _rules_room(view: HistoryView, call: Call, budget: TokenBudget) -> int:
    if not budget.facts_tokens:
        return 0
    if budget.least_rules_tokens <= budget.facts_tokens:
        return budget.facts_tokens
    frame = _frame_tokens(call.counter)
    rules = carry(
        _of_others(view.standing(), (*view.anchors().excluded, *view.anchors().system)),
        max_tokens=2 * budget.least_rules_tokens - frame,
        counter=call.counter,
    )
    return max(budget.facts_tokens, frame + rules.tokens) if rules.tokens else budget.facts_tokens


def _of_others(entries: Sequence[Entry], seqs: Collection[int]) -> list[Entry]:
    """Those of `entries` that some message besides `seqs` says: an excluded one says nothing."""
    left_out = frozenset(seqs)
    return [entry for entry in entries if not left_out.issuperset(entry.seqs)]


def _frame_tokens(counter: TokenCounter) -> int:
    return count_message(facts_message(Compaction(covered_until=0)), counter)


def _visible(view: HistoryView, call: Call, record: Compaction) -> set[int]:
    """The messages that the context shows as they are."""
    anchors = view.anchors()
    behind = range(record.covered_until + 1, view.count() + 1)
    shortened = {seq for seq, _ in record.shortened}
    shown = {*behind, *record.kept, *record.pins, *anchors.system, *_whole_goal(view, call)}
    return shown - shortened - {*anchors.excluded}


def _whole_goal(view: HistoryView, call: Call) -> Iterator[int]:
    """The original request, where it stands whole before all that is covered."""
    goal = view.anchors().goal
    if goal is not None:
        (row,) = view.get([goal])
        if row.sent_tokens <= call.policy.request_tokens:
            yield goal
