"""Owns which standing instructions hold in a history that grows: a fold that goes on, never anew.

Only facts of the kind `instruction` take part: what lays a rule down and what takes it back. What
holds is what the ledger of all facts would hold.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.values import Fact

_MOST_KNOWN: Final = 8  # places whose answer is kept: the end, and where compactions were made


def rules_among(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Those of `facts` that lay down standing instructions or take them back."""
    return tuple(fact for fact in facts if fact.kind == "instruction")


class RuleBook:
    """The rules said in a history; `add` each message's once, in order."""

    def __init__(self) -> None:
        self.read_until = 0
        """The last message that was looked at."""
        self._seqs: list[int] = []
        self._said: list[tuple[Fact, ...]] = []
        self._ledger = Ledger()
        self._folded = 0
        self._known: dict[int, tuple[Entry, ...]] = {}

    def add(self, seq: int, facts: Iterable[Fact]) -> None:
        """Takes in what message `seq` says; the messages before it are looked at then too."""
        if rules := rules_among(facts):
            self._seqs.append(seq)
            self._said.append(rules)
        self.read_until = seq

    def said_at(self, seq: int) -> tuple[Fact, ...] | None:
        """What message `seq` says of rules; None where it was not looked at."""
        if seq > self.read_until:
            return None
        at = bisect_left(self._seqs, seq)
        return self._said[at] if self._seqs[at : at + 1] == [seq] else ()

    def standing(self, until: int) -> tuple[Entry, ...]:
        """The instructions that held when message `until` was the last, as first said."""
        count = bisect_right(self._seqs, until)
        found = self._known.pop(count, None)
        if found is None:
            found = self._fold(count)
        self._known[count] = found  # the newest asked last
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return found

    def _fold(self, count: int) -> tuple[Entry, ...]:
        ledger = self._ledger
        if count < self._folded:  # an earlier place than before: seldom, and not gone on from
            ledger, first = Ledger(), 0
        else:
            first, self._folded = self._folded, count
        for seq, facts in zip(self._seqs[first:count], self._said[first:count], strict=True):
            ledger.add(seq, facts)
        return tuple(live(ledger))
