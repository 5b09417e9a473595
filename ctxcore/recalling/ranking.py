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
# A date often stands once, above all that was said that day.
_DATED: Final = (30, 0.97)
_DATE_WEIGHT: Final = 2.0  # times the score of a term
_STATED: Final = 1.25  # times the score, of what states a time or a number that is asked for
_SHARES_BEFORE: Final = tuple((-off, _TO_BEFORE[1] ** off) for off in range(_TO_BEFORE[0], 0, -1))
_SHARES: Final = (
    *_SHARES_BEFORE,
    *((off, _TO_BEHIND[1] ** off) for off in range(_TO_BEHIND[0] + 1)),
)
_DATE_SHARES: Final = (
    *_SHARES_BEFORE,
    *((off, _DATED[1] ** off) for off in range(_DATED[0] + 1)),
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
    is_date: bool


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
    worths = _worths(query, places, messages, most_places)
    shown = [[seq for seq in seqs if seq not in hidden] for seqs in places]
    own = _totals(shown, [worth.score for worth in worths])
    proofs = _totals(shown, [worth.proof for worth in worths])
    around = _around(shown, worths)
    rough = dict(around)
    for seq, score in own.items():
        rough[seq] += score
    best = sorted([(score, seq) for seq, score in rough.items() if seq not in hidden], reverse=True)
    rated = [seq for _, seq in best[:MOST_RATED]]
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
                rarity=proofs.get(seq, 0.0),
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


def _totals(places: Sequence[Sequence[int]], worths: Sequence[float]) -> Mapping[int, float]:
    """What the terms of each message that has any are worth together."""
    totals: dict[int, float] = defaultdict(float)
    for seqs, worth in zip(places, worths, strict=True):
        for seq in seqs:
            totals[seq] += worth
    return totals


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
        score = _DATE_WEIGHT * rarity if term.is_date else rarity
        worths.append(_Worth(score, rarity * term.proof, term.is_date))
    return worths


def rarity_of(term: Term, count: int, messages: int) -> float:
    """What a term weighs that `count` of so many messages have."""
    return term.weight * math.log(1 + (max(messages, count) - count + 0.5) / (count + 0.5))


def _around(places: Sequence[Sequence[int]], worths: Sequence[_Worth]) -> Mapping[int, float]:
    """For each message, how well the stretch around it has the terms, each of them saturating."""
    around: dict[int, float] = defaultdict(float)
    for seqs, worth in zip(places, worths, strict=True):
        near: dict[int, float] = defaultdict(float)
        for seq in seqs:
            for off, share in _DATE_SHARES if worth.is_date else _SHARES:
                near[seq + off] += share
        for seq, count in near.items():
            if seq > 0:
                around[seq] += worth.score * count * (_SATURATION + 1) / (count + _SATURATION)
    return around


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
