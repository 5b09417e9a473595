"""Ranks messages by how well they answer a query, from the places of its terms alone.

A message scores by its own terms (BM25 with presence for frequency), by those of its neighbours,
since an answer follows its question, and by the stretch of conversation around it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.recalling.requests import Query, Term

MOST_RATED: Final = 200  # messages that are rated in full; chosen: a search takes milliseconds
# Round numbers of a flat optimum over questions about long conversations.
_SATURATION: Final = 1.0  # k of BM25
_BY_LENGTH: Final = 0.5  # b of BM25
_FROM_BEFORE: Final = 0.35  # of a neighbour's own score
_FROM_BEHIND: Final = 0.15
_REACH: Final = 4  # messages on each side that are the stretch around a message
_FADING: Final = 0.8  # of a term's worth to the stretch, for each message further away
_SHARES: Final = tuple((off, _FADING ** abs(off)) for off in range(-_REACH, _REACH + 1))


@dataclass(frozen=True, slots=True)
class Found:
    """A message that a query found."""

    seq: int
    score: float
    rarity: float
    """The rarity of all terms that it shares with the query: how much it proves to be meant."""


@dataclass(frozen=True, slots=True)
class _Worth:
    """What a term adds to a score, and to the proof that a message is meant."""

    score: float
    proof: float


def rank(
    query: Query,
    places: Sequence[Sequence[int]],
    messages: int,
    sizes_of: Callable[[Sequence[int]], Sequence[int]],
    *,
    hidden: Collection[int] = (),
) -> list[Found]:
    """The messages that have terms of `query` or stand beside one that has, the best first.

    `places`: for each term, the messages that have it, of `messages` in all; `sizes_of` gives the
    size in tokens of messages; `hidden` ones take no part.
    """
    having = _having(places, hidden)
    worths = _worths(query, places, messages)
    own = {seq: sum(worths[at].score for at in terms) for seq, terms in having.items()}
    around = _around(having, worths)
    rough = {seq: own.get(seq, 0.0) + around[seq] for seq in around if seq not in hidden}
    rated = sorted(rough, key=lambda seq: (-rough[seq], -seq))[:MOST_RATED]
    seqs = [seq for seq in rated if seq in own]
    weighed = _weighed(seqs, own, sizes_of(seqs))
    return sorted(
        (
            Found(
                seq=seq,
                score=weighed.get(seq, 0.0)
                + _FROM_BEFORE * weighed.get(seq - 1, 0.0)
                + _FROM_BEHIND * weighed.get(seq + 1, 0.0)
                + around[seq],
                rarity=sum(worths[at].proof for at in having.get(seq, ())),
            )
            for seq in rated
        ),
        key=lambda found: (-found.score, -found.seq),
    )


def _having(places: Sequence[Sequence[int]], hidden: Collection[int]) -> Mapping[int, list[int]]:
    """The terms of each message that has any."""
    having: dict[int, list[int]] = defaultdict(list)
    for at, seqs in enumerate(places):
        for seq in seqs:
            if seq not in hidden:
                having[seq].append(at)
    return having


def _worths(query: Query, places: Sequence[Sequence[int]], messages: int) -> list[_Worth]:
    """The worth of each term by how many messages have it."""
    worths = []
    for term, seqs in zip(query.terms, places, strict=True):
        rarity = rarity_of(term, len(seqs), messages)
        worths.append(_Worth(rarity, rarity * term.proof))
    return worths


def rarity_of(term: Term, count: int, messages: int) -> float:
    """What a term weighs that `count` of so many messages have."""
    return term.weight * math.log(1 + (max(messages, count) - count + 0.5) / (count + 0.5))


def _around(having: Mapping[int, Sequence[int]], worths: Sequence[_Worth]) -> dict[int, float]:
    """For each message, how well the stretch around it has the terms, each of them saturating."""
    near: dict[int, dict[int, float]] = {}
    for seq, terms in having.items():
        for off, share in _SHARES:
            counts = near.setdefault(seq + off, {})
            for at in terms:
                counts[at] = counts.get(at, 0.0) + share
    return {
        seq: sum(worths[at].score * _saturated(count) for at, count in counts.items())
        for seq, counts in near.items()
        if seq > 0
    }


def _saturated(count: float) -> float:
    return count * (_SATURATION + 1) / (count + _SATURATION)


def _weighed(
    seqs: Sequence[int], own: Mapping[int, float], sizes: Sequence[int]
) -> dict[int, float]:
    """The own scores of messages, less for those that are long among them."""
    usual = sum(sizes) / len(sizes) if sizes else 1.0
    return {
        seq: own[seq]
        * (_SATURATION + 1)
        / (1 + _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * size / usual))
        for seq, size in zip(seqs, sizes, strict=True)
    }
