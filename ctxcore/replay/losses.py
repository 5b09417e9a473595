"""Owns what a recorded compaction lost, fact by fact, and where each was needed later.

A record keeps the texts alone; kind, place and worth are those of the ledger as it stood then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.losing import LostFact, by_worth
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.values import Fact
from ctxcore.replay.needing import NeededFact


def seen_by(record: Compaction) -> int:
    """The newest message that `record` knew of; what lies behind came later."""
    return max(record.seen_until, record.last_seq)


def recorded_losses(
    record: Compaction, facts: Iterable[tuple[int, Sequence[Fact]]]
) -> list[LostFact]:
    """The lost facts of `record` that are found among `facts` of its history, most worth first."""
    texts = frozenset(record.facts_lost or ())
    if not texts:
        return []
    ledger, until = Ledger(), seen_by(record)
    for seq, found in facts:
        if seq > until:
            break
        ledger.add(seq, found)
    return by_worth(LostFact.of(entry) for entry in live(ledger) if entry.text in texts)


def by_need(lost: Iterable[NeededFact]) -> tuple[NeededFact, ...]:
    """`lost` with what was needed later first; otherwise in the order given."""
    return tuple(sorted(lost, key=lambda one: one.needed_at is None))
