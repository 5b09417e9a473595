"""Ranks messages by how well they answer a query, from the places of its terms alone.

A message scores by its own terms (BM25 with presence for frequency), by those of its neighbours,
since an answer follows its question, and by the stretch of conversation around it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxcore.recalling.answers import states
from ctxcore.recalling.requests import Query, Term

MOST_RATED: Final = 200  # messages that are rated in full; chosen: a search takes milliseconds
# Round numbers of a flat optimum over questions about long conversations.
_SATURATION: Final = 1.0  # k of BM25
_BY_LENGTH: Final = 0.5  # b of BM25
_FROM_BEFORE: Final = 0.35  # of a neighbour's own score
_FROM_BEHIND: Final = 0.15
# A term's worth to the messages around it: a thing is named once and then spoken of, so that it
# fades more slowly to those behind it. Each: messages, and the share that each step leaves.
_TO_BEFORE: Final = (4, 0.6)
_TO_BEHIND: Final = (8, 0.9)
_STATED: Final = 1.25  # times the score, of what states a time or a number that is asked for
_SHARES: Final = (
    *((-off, _TO_BEFORE[1] ** off) for off in range(_TO_BEFORE[0], 0, -1)),
    *((off, _TO_BEHIND[1] ** off) for off in range(_TO_BEHIND[0] + 1)),
)


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
    most_places: int | None = None,
) -> list[Found]:
    """The messages that have terms of `query` or stand beside one that has, the best first.

    `places`: for each term, the messages that have it, of `messages` in all; `sizes_of` gives the
    size in tokens of messages; `hidden` ones take no part. A term with `most_places` may have more,
    before these: it is as rare as in the messages between them.
    """
    having = _having(places, hidden)
    worths = _worths(query, places, messages, most_places)
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


def answering_first(
    found: Sequence[Found], query: Query, text_of: Callable[[int], str]
) -> list[Found]:
    """`found`, the best first, where a message that states what the query asks for scores more."""
    wanted = query.wanted
    if wanted is None:
        return [*found]
    scored = (
        replace(one, score=_STATED * one.score) if states(text_of(one.seq), wanted) else one
        for one in found
    )
    return sorted(scored, key=lambda one: (-one.score, -one.seq))


def _having(places: Sequence[Sequence[int]], hidden: Collection[int]) -> Mapping[int, list[int]]:
    """The terms of each message that has any."""
    having: dict[int, list[int]] = defaultdict(list)
    for at, seqs in enumerate(places):
        for seq in seqs:
            if seq not in hidden:
                having[seq].append(at)
    return having


def _worths(
    query: Query, places: Sequence[Sequence[int]], messages: int, most_places: int | None
) -> list[_Worth]:
    """The worth of each term by how many messages have it."""
    worths = []
    for term, seqs in zip(query.terms, places, strict=True):
        count, among = len(seqs), messages
        if count == most_places:
            among = min(messages, max(seqs) - min(seqs) + 1)
        rarity = rarity_of(term, count, among)
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
