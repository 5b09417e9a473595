"""Finds the messages of before in a list of now, by what each of them says.

Pure, over digests, and linear: the covered ones have to be there in order, but for some that are
gone from the front and for the original request, whose words may change. The others go where their
digest is. Messages that people say again and again are no evidence by themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

EVIDENCE = 2  # so many in a row must be the same before a list is taken for one of before
_SHIFTED = 3  # and so many where it begins elsewhere, if both have them
_LOOKED_AT = 64  # messages, to tell that they are more than one word again and again
_MOST_STARTS = 16  # that are looked at to say where a list differs


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """For each message of before its place among those of now; None where it is gone."""

    places: Sequence[int | None]
    gone: int = 0
    """How many covered ones are gone from the front."""
    changed: int | None = None
    """The original request, where its words changed."""
    guessed: frozenset[int] = frozenset()
    """Those that stand elsewhere, beside others than before: there is one such message alone."""


def align_any(before: Sequence[str], now: Sequence[str]) -> Alignment:
    """Where each of `before` is `now`, whatever else changed; their order stays."""
    return _made(before, now, ())


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
    if not differing and (covered or _shares(before, now)):
        return _made(before, now, range(covered))
    if not differing:
        return 0
    if (
        differing == [goal]
        and differing[0] < len(now)
        and _is_known_by_others(before, now, covered)
    ):
        return _made(before, now, range(covered), changed=goal)
    kept: list[int | None]
    gone = _gone(before, now, covered)
    if gone:
        kept = [None] * gone
        return _shifted(before, now, [*kept, *range(covered - gone)], covered)
    if goal == 0 and now[:1] == before[:1]:  # retention that keeps the first request
        gone = _gone(before, now[1:], covered)
        if gone:
            kept = [0, *[None] * (gone - 1)]
            return _shifted(before, now, [*kept, *range(1, covered - gone + 1)], covered)
    if before[0] in now:
        return differing[0]
    return _best(before, now, covered)  # some are gone from the front, and something else differs


def _shifted(
    before: Sequence[str], now: Sequence[str], places: Sequence[int | None], covered: int
) -> Alignment:
    return _made(before, now, places, gone=sum(at is None for at in places[:covered]))


def _differences(before: Sequence[str], now: Sequence[str], covered: int) -> Iterator[int]:
    """The covered places that are not the same."""
    if tuple(now[:covered]) == tuple(before[:covered]):
        return
    yield from (at for at in range(covered) if at >= len(now) or now[at] != before[at])


def _shares(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether lists of which nothing is covered have two messages in a row in common."""
    if not before or not now:
        return True
    if tuple(now[: len(before)]) == tuple(before):
        return True
    pairs = {pair for pair in pairwise(before) if pair[0] != pair[1]}
    return any(pair in pairs for pair in pairwise(now))


def _is_known_by_others(before: Sequence[str], now: Sequence[str], covered: int) -> bool:
    """Whether a list is the same though its request is not: by enough that follows it."""
    if covered > EVIDENCE:
        return True
    behind = before[covered : covered + 1]
    return covered > 1 and len(behind) == 1 and tuple(now[covered : covered + 1]) == tuple(behind)


def _gone(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """How many are gone from the front, if that is all that happened; else 0.

    Where all covered ones are gone, some behind them may be gone as well.
    """
    behind, count = before[covered : covered + _LOOKED_AT], len(now)
    for rest in _overlaps(before[:covered], now):
        left = min(len(before) - covered + rest, count)
        run = rest + _run(behind, now[rest : rest + _LOOKED_AT])
        if rest < covered and left and run >= min(_SHIFTED, left) and _tells(now, run, left):
            return covered - rest
    starts = (at for at in range(covered + 1, len(before)) if now and before[at] == now[0])
    for at in starts:
        left = min(len(before) - at, count)
        run = _run(before[at : at + _LOOKED_AT], now[:_LOOKED_AT])
        if run >= max(EVIDENCE, min(_SHIFTED, left)) and _tells(now, run, left):
            return at
    return 0


def _tells(now: Sequence[str], run: int, left: int) -> bool:
    """Whether the first so many are all there is to compare, or more than a few words again."""
    return run == len(now) or len(set(now[: min(run, _LOOKED_AT)])) >= min(_SHIFTED, left)


def _overlaps(before: Sequence[str], now: Sequence[str]) -> list[int]:
    """How many of `now` the end of `before` may be, the most first, 0 last.

    Source: Knuth, Morris, Pratt.
    """
    if not now:
        return [0]
    links, length = [0] * len(now), 0
    for at in range(1, len(now)):
        while length and now[at] != now[length]:
            length = links[length - 1]
        length += now[at] == now[length]
        links[at] = length
    length = 0
    for one in before:
        while length and (length == len(now) or one != now[length]):
            length = links[length - 1]
        length += one == now[length]
    found = [length]
    while found[-1]:
        found.append(links[found[-1] - 1])
    return found


def _best(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """The first of `now` that differs where most of them are the same."""
    starts = (at for at in range(1, covered) if now and before[at] == now[0])
    return max((_run(before[at:covered], now) for at in islice(starts, _MOST_STARTS)), default=0)


def _run(before: Sequence[str], now: Sequence[str]) -> int:
    """How many of both are the same from the first on."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))


def _made(
    before: Sequence[str],
    now: Sequence[str],
    covered: Iterable[int | None],
    *,
    gone: int = 0,
    changed: int | None = None,
) -> Alignment:
    """The places of the covered ones, and behind them those of all others that are still there."""
    places, guessed = list(covered), set[int]()
    last = next((at for at in reversed(places) if at is not None), -1)
    shift = last + 1 - len(places)
    others: _Others | None = None
    for at in range(len(places), len(before)):
        place: int | None = at + shift
        if not 0 <= at + shift < len(now) or now[at + shift] != before[at]:
            others = others or _Others(before, now)
            place = others.next(at, last)
            if place is not None and not others.has_neighbour(at, place):
                guessed.add(at)
        if place is not None:
            last, shift = place, place - at
        places.append(place)
    return Alignment(places=places, gone=gone, changed=changed, guessed=frozenset(guessed))


class _Others:
    """Where a message may have gone: to one of a kind, or beside the neighbour it had."""

    def __init__(self, before: Sequence[str], now: Sequence[str]) -> None:
        self._before = before
        self._now = now
        self._counts = Counter(before)
        self._places: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(now):
            self._places[one].append(at)

    def next(self, at: int, last: int) -> int | None:
        """The place behind `last` of message `at`; None where it cannot be told from others."""
        places = self._places[self._before[at]]
        first = bisect_right(places, last)
        if first == len(places):
            return None
        place = places[first]
        is_unique = len(places) == 1 == self._counts[self._before[at]]
        return place if is_unique or self.has_neighbour(at, place) else None

    def has_neighbour(self, at: int, place: int) -> bool:
        """Whether a message at this place would stand beside one that it stood beside."""
        return any(
            0 <= at + step < len(self._before)
            and 0 <= place + step < len(self._now)
            and self._before[at + step] == self._now[place + step]
            for step in (-1, 1)
        )
