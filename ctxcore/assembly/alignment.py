"""Finds the messages of an earlier list in a new one, by digests of their content.

Linear. The covered messages have to be there in order, but for some that are gone from the front
and for the original request, whose words may change. The others are where their digest is. Messages
that are repeated many times are no evidence by themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

_EVIDENCE = 2  # chosen: equal messages in a row that show that a list continues an earlier one
_SHIFTED = 3  # chosen: the same where its front is gone, if both lists have as many
_LOOKED_AT = 64  # messages; chosen: enough to tell a conversation from one word repeated
_MOST_STARTS = 16  # chosen: places that are tried to find where a list differs


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """For each message of the earlier list its place in the new one; None where it is gone."""

    places: Sequence[int | None]
    gone: int = 0
    """How many covered messages are gone from the front."""
    changed: int | None = None
    """The place of the original request in the earlier list, where its words changed."""
    guessed: frozenset[int] = frozenset()
    """Messages found by their content alone: their neighbours are others than before."""


def align_any(before: Sequence[str], now: Sequence[str]) -> Alignment:
    """The places of all of `before` in `now`, whatever else changed; their order stays."""
    return _made(before, now, ())


def align(
    before: Sequence[str], now: Sequence[str], covered: int, goal: int | None
) -> Alignment | int:
    """The places of the messages `before` in `now`, or the place of the first that differs.

    Args:
        before: digests of the messages that a state was made from.
        now: digests of the list that is passed.
        covered: how many of `before` a compaction covers.
        goal: the place of the original request in `before`; None where it is not covered.
    """
    differing = list(islice(_differences(before, now, covered), 2))
    if not differing and (covered or _shares(before, now)):
        return _made(before, now, range(covered))
    if not differing:
        return 0
    is_in_list = differing[0] < len(now)
    if differing == [goal] and is_in_list and _is_known_by_others(before, now, covered):
        return _made(before, now, range(covered), changed=goal)
    if gone := _gone(before, now, covered):
        places = [*[None] * gone, *range(covered - gone)]
        return _made(before, now, places, gone=min(gone, covered))
    # A caller may drop the oldest messages but for the request.
    if goal == 0 and now[:1] == before[:1] and (gone := _gone(before, now[1:], covered)):
        places = [0, *[None] * (gone - 1), *range(1, covered - gone + 1)]
        return _made(before, now, places, gone=min(gone, covered) - 1)
    if before[0] in now:
        return differing[0]
    return _best(before, now, covered)  # some are gone from the front, and something else differs


def _differences(before: Sequence[str], now: Sequence[str], covered: int) -> Iterator[int]:
    """The covered places that differ."""
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
    """Whether enough behind a changed request shows that the list is the same."""
    if covered > _EVIDENCE:
        return True
    behind = before[covered : covered + 1]
    return covered > 1 and len(behind) == 1 and tuple(now[covered : covered + 1]) == tuple(behind)


def _gone(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """How many messages are gone from the front, if nothing else changed; else 0.

    Where all covered ones are gone, some behind them may be gone as well.
    """
    behind, count = before[covered : covered + _LOOKED_AT], len(now)
    for rest in _overlaps(before[:covered], now):
        left = min(len(before) - covered + rest, count)
        run = rest + _run(behind, now[rest : rest + _LOOKED_AT])
        if rest < covered and left and run >= min(_SHIFTED, left) and _tells(now, run, left):
            return covered - rest
    for at in (at for at in range(covered + 1, len(before)) if now and before[at] == now[0]):
        left = min(len(before) - at, count)
        run = _run(before[at : at + _LOOKED_AT], now[:_LOOKED_AT])
        if run >= max(_EVIDENCE, min(_SHIFTED, left)) and _tells(now, run, left):
            return at
    return 0


def _tells(now: Sequence[str], run: int, left: int) -> bool:
    """Whether the first `run` messages are evidence: all there are, or enough that differ."""
    return run == len(now) or len(set(now[: min(run, _LOOKED_AT)])) >= min(_SHIFTED, left)


def _overlaps(before: Sequence[str], now: Sequence[str]) -> list[int]:
    """The lengths at which the end of `before` is the start of `now`, longest first, 0 last.

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
    for digest in before:
        while length and (length == len(now) or digest != now[length]):
            length = links[length - 1]
        length += digest == now[length]
    found = [length]
    while found[-1]:
        found.append(links[found[-1] - 1])
    return found


def _best(before: Sequence[str], now: Sequence[str], covered: int) -> int:
    """The first place of `now` that differs, at the start where most messages are equal."""
    starts = (at for at in range(1, covered) if now and before[at] == now[0])
    return max((_run(before[at:covered], now) for at in islice(starts, _MOST_STARTS)), default=0)


def _run(before: Sequence[str], now: Sequence[str]) -> int:
    """How many messages of both are equal from the first on."""
    pairs = zip(before, now, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _made(
    before: Sequence[str],
    now: Sequence[str],
    covered: Iterable[int | None],
    *,
    gone: int = 0,
    changed: int | None = None,
) -> Alignment:
    """The alignment with these places of the covered messages, and those found for all others."""
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
    """Finds messages that moved: by a digest that is unique, or by a neighbour they had."""

    def __init__(self, before: Sequence[str], now: Sequence[str]) -> None:
        self._before = before
        self._now = now
        self._counts = Counter(before)
        self._places: dict[str, list[int]] = defaultdict(list)
        for at, digest in enumerate(now):
            self._places[digest].append(at)

    def next(self, at: int, last: int) -> int | None:
        """The place of message `at` behind `last`; None where it could be another."""
        places = self._places[self._before[at]]
        first = bisect_right(places, last)
        if first == len(places):
            return None
        place = places[first]
        is_unique = len(places) == 1 == self._counts[self._before[at]]
        return place if is_unique or self.has_neighbour(at, place) else None

    def has_neighbour(self, at: int, place: int) -> bool:
        """Whether message `at` would have one of its neighbours again at this place."""
        return any(
            0 <= at + step < len(self._before)
            and 0 <= place + step < len(self._now)
            and self._before[at + step] == self._now[place + step]
            for step in (-1, 1)
        )
