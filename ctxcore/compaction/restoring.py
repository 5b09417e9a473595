"""Carries facts again that a model's summary left out, in the room that it left.

Beside the facts of messages these are items of the summary before that still hold: rules, decisions
and open questions that the new summary does not say, and that no new message speaks of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.assembly.addressees import told_to_model
from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import OF_CALLS, Restored, staying
from ctxcore.compaction.lineage import SummarySources, Text, previous_sentences, sections_in
from ctxcore.compaction.loss_report import LostFact, find_losses, sort_by_salience
from ctxcore.facts.facts_block import parse_facts_block
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.values import KIND_SALIENCE, Fact, Kind
from ctxcore.summarizers.prompts import Section

_KIND_OF: Final[dict[Section, Kind]] = {
    "rules": "instruction",
    "decided": "decision",
    "open": "question",
}
"""The sections whose items hold until somebody speaks of them."""
_FIRST: Final[tuple[Kind, ...]] = ("instruction", "todo", "decision", "question", "error")
_LAST: Final[tuple[Kind, ...]] = ("amount", "date", "number")
LEAST_SALIENCE: Final = 0.5  # of a restored fact; chosen: less is one of many in tool outputs
LEAST_SAID: Final = 0.5  # of an item's weight that says it again; chosen
LEAST_TOUCHED: Final = 0.3  # of it in new messages that speak of it; chosen


def to_restore(
    view: HistoryView,
    call: Call,
    before: Compaction | None,
    record: Compaction,
    ledger: Ledger,
    items: Sequence[Fact],
    *,
    max_tokens: int,
    is_talk: bool,
) -> Restored:
    """Returns what to carry of the facts that `record` loses and of `items`, within `max_tokens`.

    `before` is the record that it follows. In mere talk bare words are not carried.
    """
    lost = {fact.fact for fact in find_losses(view, call, before, record) or ()}
    entries = [entry for entry in live(ledger) if entry.fact in lost]
    entries = told_to_model(view, entries, staying(view, record))
    if is_talk:
        entries = [entry for entry in entries if entry.kind not in OF_CALLS]
    worthy = [entry for entry in entries if entry.salience >= LEAST_SALIENCE]
    worthy.sort(key=lambda entry: (_rank(entry.kind), -entry.salience, -entry.seqs[-1], entry.text))
    return Restored((*map(_as_entry, items), *worthy), max_tokens)


def restored_in(record: Compaction, bare: Compaction, ledger: Ledger, call: Call) -> Restored:
    """Returns what `record` restored, in the room it took there; `bare` is `record` without it."""
    known = {entry.text: entry for entry in live(ledger)}
    for fact in parse_facts_block(record.facts):
        known.setdefault(fact.text, _as_entry(_fact(fact.text, fact.kind)))
    entries = tuple(known[text] for text in record.facts_restored if text in known)
    room = call.counter.count(record.facts) - call.counter.count(bare.facts)
    return Restored(entries, max(0, room))


def _rank(kind: Kind) -> int:
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST) + (kind in _LAST)


def _as_entry(fact: Fact) -> Entry:
    return Entry(fact=fact, seqs=(0,), salience=fact.salience)


def lost_items(
    before: Compaction,
    record: Compaction,
    ledger: Ledger,
    rows: Sequence[Counted],
    shown: Sequence[Counted],
) -> list[Fact]:
    """Returns the items of the summary in `before` that still hold and that `record` does not say.

    `rows` are the messages that were summarized with it, `shown` those that stay in the context.
    """
    items = [*_items(before, ledger)]
    if not items:
        return []
    texts = [Text(line) for line in record.facts.splitlines()]
    stays = [row.message for row in shown]
    said = SummarySources(
        stays, range(len(stays)), [*previous_sentences(record.summary, ()), *texts]
    )
    spoken = [*stays, *(row.message for row in rows)]
    new = SummarySources(spoken, range(len(spoken)), ())
    return [
        item
        for item in items
        if said.match(item.text).share < LEAST_SAID and new.match(item.text).share < LEAST_TOUCHED
    ]


def _items(before: Compaction, ledger: Ledger) -> Iterator[Fact]:
    """Yields the rules, decisions and open questions of a summary, and items restored before.

    What the ledger knows is left to it: it tells whether that still holds.
    """
    known = {entry.text for entry in (*ledger.held(), *ledger.revoked())}
    for section, text in sections_in(before.summary):
        kind = None if section is None else _KIND_OF.get(section)
        if kind is not None and text not in known:
            yield _fact(text, kind)
    restored = frozenset(before.facts_restored) - known
    for fact in parse_facts_block(before.facts):
        if fact.kind in _KIND_OF.values() and fact.text in restored:
            yield _fact(fact.text, fact.kind)


def _fact(text: str, kind: Kind) -> Fact:
    return Fact(kind=kind, text=" ".join(text.split()), key=text.casefold())


def still_lost(record: Compaction, items: Sequence[Fact]) -> list[LostFact]:
    """Returns the `items` that were not restored."""
    carried = frozenset(record.facts_restored)
    return sort_by_salience(
        LostFact(
            text=item.text,
            kind=item.kind,
            seq=record.summarized_until,
            salience=KIND_SALIENCE[item.kind],
            fact=item,
        )
        for item in items
        if item.text not in carried
    )
