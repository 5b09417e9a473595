"""Owns the facts that a compaction carries beside its summary: no summarizer can lose them."""

from __future__ import annotations

from dataclasses import replace

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import facts_message
from ctxcore.facts.carrying import carry
from ctxcore.facts.ledger import Ledger, live
from ctxcore.tokens.count import count_message


def ledger_of(view: HistoryView) -> Ledger:
    """What holds of all that was said in `view`."""
    ledger = Ledger()
    for seq, facts in view.facts():
        ledger.add(seq, facts)
    return ledger


def ledger_for(view: HistoryView, call: Call) -> Ledger:
    """The ledger of `view` where the policy carries facts, else an empty one: it takes reading."""
    return ledger_of(view) if call.budget and call.budget.facts_tokens else Ledger()


def with_facts(view: HistoryView, call: Call, record: Compaction, ledger: Ledger) -> Compaction:
    """`record` with the facts of what it covers that nothing else in the context says verbatim."""
    budget = call.budget
    if budget is None or not budget.facts_tokens:
        return replace(record, facts="")
    frame = count_message(facts_message(replace(record, facts="")), call.counter)
    carried = carry(
        live(ledger),
        max_tokens=budget.facts_tokens - frame,
        counter=call.counter,
        language=record.language,
        visible=_visible(view, record),
    )
    return replace(record, facts=carried.text)


def _visible(view: HistoryView, record: Compaction) -> set[int]:
    """The messages that the context shows as they are."""
    anchors = view.anchors()
    behind = range(record.covered_until + 1, view.count() + 1)
    shortened = {seq for seq, _ in record.shortened}
    return {*behind, *record.kept, *record.pins, *anchors.system} - shortened - {*anchors.excluded}
