"""Tells which messages state what a later message replaced: a rule, a decision or a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxcore.facts.ledger import Ledger
from ctxcore.facts.values import STATEMENTS, Fact


def replacements(said: Iterable[tuple[int, Sequence[Fact]]]) -> dict[int, int]:
    """For each message with something that a later one replaced, the last one that did.

    `said`: the facts of messages by sequence number, oldest first.
    """
    ledger, values = Ledger(), dict[tuple[str, str], tuple[str, list[int]]]()
    replaced: dict[int, int] = {}
    for seq, facts in said:
        known = len(ledger.revoked())
        ledger.add(seq, [fact for fact in facts if fact.kind in STATEMENTS])
        for entry in ledger.revoked()[known:]:
            replaced.update(dict.fromkeys(entry.seqs, seq))
        for fact in facts:
            if fact.kind in ("number", "date") and fact.value:
                value, seqs = values.get((fact.kind, fact.key), ("", []))
                if value and value != fact.value:
                    replaced.update(dict.fromkeys(seqs, seq))
                same = seqs if value == fact.value else []
                values[fact.kind, fact.key] = (fact.value, [*same, seq])
    return {old: new for old, new in replaced.items() if old != new}
