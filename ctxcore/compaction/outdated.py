"""Owns what no compaction says again: rules and decisions that were taken back later.

They are found in the messages where they were said, so that the rest of those can stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ctxcore.facts.ledger import Ledger
from ctxcore.worth.units import Unit

Outdated = Mapping[int, tuple[str, ...]]
"""By sequence number: the sentences of a message that no longer hold."""

NONE_OUTDATED: Outdated = {}

_CUT = "…"  # what a fact's text ends with where it is cut


def outdated_of(ledger: Ledger) -> Outdated:
    """The sentences that no longer hold, and were not said again since."""
    holds = {entry.key for entry in ledger.held() if entry.kind in ("instruction", "decision")}
    found: dict[int, tuple[str, ...]] = {}
    for entry in ledger.revoked():
        if entry.key not in holds:
            for seq in entry.seqs:
                found[seq] = (*found.get(seq, ()), entry.text)
    return found


def outdated_units(units: Sequence[Unit], sentences: Sequence[str]) -> set[int]:
    """The places of the pieces of one message that say any part of `sentences`."""
    text = "".join(unit.text for unit in units)
    spans = [span for sentence in sentences for span in _spans(text, sentence)]
    places, start = set[int](), 0
    for place, unit in enumerate(units):
        end = start + len(unit.text)
        if any(first < end and start < last for first, last in spans):
            places.add(place)
        start = end
    return places


def _spans(text: str, sentence: str) -> Iterator[tuple[int, int]]:
    """Where `sentence`, in which white space is collapsed and the end may be cut, stands."""
    words = sentence.removesuffix(_CUT).split()
    if words:
        pattern = r"\s+".join(map(re.escape, words))
        yield from (found.span() for found in re.finditer(pattern, text))
