"""Finds the messages of before in a list of now, by what each of them says.

Pure, over digests: the covered ones have to be there in order, but for some that are gone from the
front and for the original request, whose words may change. The others go where their digest is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

EVIDENCE = 2  # so many in a row must be the same before a list that begins elsewhere is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """For each message of before its place among those of now; None where it is gone."""

    places: Sequence[int | None]
    gone: int = 0
    """How many covered ones are gone from the front."""
    changed: int | None = None
    """The original request, where its words changed."""


def align_any(before: Sequence[str], now: Sequence[str]) -> Alignment:
    """Where each of `before` is `now`, whatever else changed; their order stays."""
    return Alignment(places=_all(before, now, ()))


def align(
    before: Sequence[str], now: Sequence[str], covered: int, goal: int | None
) -> Alignment | int:
    """Where the messages `before` are `now`, or the place in `now` of the first that differs.

    Args:
        before: digests of the messages that a state was made from.
        now: those of the list that is passed.
        covered: how many of `before` a compaction covers.
        goal: the place of the original request in `before`; None where it is not covered.
    """
    differing = list(islice(_differences(before, now, covered), 2))
    if not differing:
        is_other = not covered and before and now and set(before).isdisjoint(now)
        return 0 if is_other else Alignment(places=_all(before, now, range(covered)))
    if differing == [goal] and covered > 1 and differing[0] < len(now):
        return Alignment(places=_all(before, now, range(covered)), changed=goal)
    kept: list[int | None]
    gone = _gone(before, now, covered)
    if gone:
        kept = [None] * gone
        return Alignment(places=_all(before, now, [*kept, *range(covered - gone)]), gone=gone)
    if goal == 0 and now[:1] == before[:1]:  # retention that keeps the first request
        gone = _gone(before, now[1:], covered)
        if gone:
            kept = [0, *[None] * (gone - 1)]
            places = _all(before, now, [*kept, *range(1, covered - gone + 1)])
            return Alignment(places=places, gone=gone - 1)
    if before[0] in now:
        return differing[0]
    return _best(before, now, covered)  # some are gone from the front, and something else differs


def _differences(before: Sequence[str], now: Sequence[str], covered: int) -> Iterator[int]:
    """The covered places that are not the same."""
    if tuple(now[:covered]) == tuple(before[:covered]):
        return
    yield from (at for at in range(covered) if at >= len(now) or now[at] != before[at])


def _gone(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """How many covered ones are gone from the front, if that is all that happened; else 0."""
    for gone in _starts(before, now, covered):
        least = min(EVIDENCE, len(before) - gone, len(now))
        same = max(covered - gone, least)
        if same and tuple(now[:same]) == tuple(before[gone : gone + same]):
            return gone
    return 0


def _starts(before: Sequence[str], now: Sequence[str], covered: int) -> list[int]:
    """Where in `before` the list of now may begin."""
    places = range(1, min(covered + 1, len(before)))
    return [at for at in places if now and before[at] == now[0]]


def _best(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """The first of `now` that differs where most of them are the same."""
    return max((_run(before[at:covered], now) for at in _starts(before, now, covered)), default=0)


def _run(before: Sequence[str], now: Sequence[str]) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))


def _all(
    before: Sequence[str], now: Sequence[str], covered: Iterable[int | None]
) -> list[int | None]:
    """The places of the covered ones, and behind them those of all others that are still there."""
    places = list(covered)
    last = next((at for at in reversed(places) if at is not None), -1)
    shift = last + 1 - len(places)
    others: dict[str, list[int]] | None = None
    for at in range(len(places), len(before)):
        place: int | None = at + shift
        if not 0 <= at + shift < len(now) or now[at + shift] != before[at]:
            others = _by_digest(now, last + 1) if others is None else others
            same = others[before[at]]
            next_same = bisect_right(same, last)
            place = same[next_same] if next_same < len(same) else None
        if place is not None:
            last, shift = place, place - at
        places.append(place)
    return places


def _by_digest(now: Sequence[str], start: int) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for at in range(start, len(now)):
        places[now[at]].append(at)
    return places
