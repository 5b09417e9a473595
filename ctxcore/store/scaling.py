"""Owns reading a history by a counter that has not counted it yet: counts of another one, scaled.

After a change of model it serves until the recount is through. Sizes are estimates, rounded up.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from math import ceil

from ctxcore.assembly.history import Anchors, Counted, HistoryView, Totals
from ctxcore.facts.ledger import Entry
from ctxcore.facts.values import Fact
from ctxcore.store.appending import size_row
from ctxcore.tokens.counter import TokenCounter

SAMPLE_TOKENS = 4_000  # the newest messages, which say most about the next ones; counted in 3 ms


class ScaledHistory:
    """A `HistoryView` whose sizes are those of another view, times a ratio."""

    def __init__(self, view: HistoryView, ratio: float) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._view = view
        self._ratio = ratio

    def count(self) -> int:
        """How many messages the history has."""
        return self._view.count()

    def totals(self, *, after: int = 0) -> Totals:
        """Messages behind `after` and about what they take when sent."""
        totals = self._view.totals(after=after)
        return replace(totals, tokens=self._scaled(totals.tokens))

    def messages(self, *, after: int = 0) -> int:
        """How many messages lie behind `after`; system messages left out."""
        return self._view.messages(after=after)

    def turns(self, *, after: int = 0) -> int:
        """How many user messages lie behind `after`."""
        return self._view.turns(after=after)

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        """The newest whole blocks behind `after`, oldest first, until they pass about `tokens`."""
        rows = self._view.tail(ceil(tokens / self._ratio), after=after)
        return [self._row(row) for row in rows]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        """The messages with these numbers, oldest first."""
        return [self._row(row) for row in self._view.get(seqs)]

    def anchors(self) -> Anchors:
        """Where system messages, goal, last user message and marked messages lie."""
        return self._view.anchors()

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """What each message says that must not get lost, in order; only those that say any."""
        return self._view.facts()

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        """The standing instructions that hold, as first said."""
        return self._view.standing(until=until)

    def sizes(self, first: int, last: int) -> Sequence[int]:
        """About the size of each message first … last."""
        return [self._scaled(tokens) for tokens in self._view.sizes(first, last)]

    def span_tokens(self, first: int, last: int) -> int:
        """About the size of the messages first … last together."""
        return self._scaled(self._view.span_tokens(first, last))

    def _row(self, row: Counted) -> Counted:
        short = None if row.short_tokens is None else self._scaled(row.short_tokens)
        return replace(row, tokens=self._scaled(row.tokens), short_tokens=short)

    def _scaled(self, tokens: int) -> int:
        return ceil(tokens * self._ratio)


def scale_to(view: HistoryView, counter: TokenCounter) -> ScaledHistory:
    """`view` with sizes about as `counter` would count them, judged by its newest messages."""
    sample = view.tail(SAMPLE_TOKENS)
    counted = sum(_sent(row, counter) for row in sample)
    stored = sum(row.sent_tokens for row in sample)
    return ScaledHistory(view, counted / stored if stored and counted else 1.0)


def _sent(row: Counted, counter: TokenCounter) -> int:
    tokens, short_tokens = size_row(row, counter)
    return tokens if short_tokens is None else short_tokens
