"""Owns seeing the beginning of a history, as it was when the conversation had come so far.

Nothing is counted again: places and sizes are those of the whole, read from its running sums.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import cached_property
from itertools import takewhile

from ctxcore.assembly.history import Anchors, Counted, HistoryView, Totals
from ctxcore.facts.ledger import Entry
from ctxcore.facts.values import Fact


class PrefixHistory:
    """A `HistoryView` of the first messages of another.

    `grow` shows more of them. A mark holds for the whole block, also where its end is not shown.
    """

    def __init__(self, whole: HistoryView, count: int = 0) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._whole = whole
        self._count = count

    def grow(self, count: int) -> None:
        """Shows the first `count` messages from now on; never fewer than before."""
        assert self._count <= count <= self._whole.count()
        self._count = count

    def count(self) -> int:
        """How many messages the history has."""
        return self._count

    def totals(self, *, after: int = 0) -> Totals:
        """Messages behind `after` and what they take when sent; system messages left out."""
        all_of_it, later = self._whole.totals(after=after), self._whole.totals(after=self._count)
        return Totals(
            messages=all_of_it.messages - later.messages, tokens=all_of_it.tokens - later.tokens
        )

    def messages(self, *, after: int = 0) -> int:
        """How many messages lie behind `after`; system messages left out."""
        return self._whole.messages(after=after) - self._whole.messages(after=self._count)

    def turns(self, *, after: int = 0) -> int:
        """How many user messages lie behind `after`."""
        return bisect_right(self._users, self._count) - bisect_right(self._users, after)

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        """The newest whole blocks behind `after`, oldest first, until they pass `tokens`."""
        if after >= self._count:
            return []
        enough = self._whole.totals(after=self._count).tokens + tokens
        places = range(after, self._count)
        # the first place that no more than `tokens` lie behind, and the message before it
        start = after + bisect_left(places, -enough, key=self._minus_tokens)
        start = max(after, start - 1)
        (first,) = self._whole.get([start + 1])
        start = max(after, first.block - 1)
        rows = self._whole.get(range(start + 1, self._count + 1))
        return [row for row in rows if not row.message.is_system]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        """The messages with these numbers, oldest first."""
        return self._whole.get(seqs)

    def anchors(self) -> Anchors:
        """Where system messages, goal, last user message and marked messages lie."""
        whole, users = self._whole.anchors(), bisect_right(self._users, self._count)
        return Anchors(
            system=self._shown(whole.system),
            goal=whole.goal if whole.goal is not None and whole.goal <= self._count else None,
            last_user=self._users[users - 1] if users else None,
            pinned=self._shown(whole.pinned),
            excluded=self._shown(whole.excluded),
        )

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """What each message says that must not get lost, in order; only those that say any."""
        return takewhile(lambda found: found[0] <= self._count, self._whole.facts())

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        """The standing instructions that hold, as first said."""
        end = self._count if until is None else min(until, self._count)
        return self._whole.standing(until=end)

    def sizes(self, first: int, last: int) -> Sequence[int]:
        """The own size in tokens of each message first … last."""
        return self._whole.sizes(first, last)

    def span_tokens(self, first: int, last: int) -> int:
        """The own size of the messages first … last together."""
        return self._whole.span_tokens(first, last)

    @cached_property
    def _users(self) -> Sequence[int]:
        """Where user messages lie in the whole history."""
        rows = self._whole.get(range(1, self._whole.count() + 1))
        return [row.seq for row in rows if row.message.role == "user"]

    def _shown(self, seqs: Sequence[int]) -> tuple[int, ...]:
        return tuple(seqs[: bisect_right(seqs, self._count)])

    def _minus_tokens(self, after: int) -> int:
        return -self._whole.totals(after=after).tokens
