"""Searches a history for what a query names, for contexts, tools, people and commands alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from ctxcore.recalling.ranking import Found, rank
from ctxcore.recalling.requests import Query

MOST_PLACES: Final = 500  # the newest of a term that count; chosen: a search takes milliseconds


class Searchable(Protocol):
    """A history that knows which messages have which words."""

    def count(self) -> int:
        """How many messages it has."""

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        """For each term, the newest messages below `before` that have one of its forms."""

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        """The size in tokens of the messages first … last of each span."""


def search(
    history: Searchable, query: Query, *, before: int, hidden: Collection[int] = ()
) -> list[Found]:
    """The messages below `before` that answer `query`, the best first; `hidden` take no part."""
    if not query.terms:
        return []
    places = history.having([term.forms for term in query.terms], before=before, most=MOST_PLACES)

    def sizes_of(seqs: Sequence[int]) -> Sequence[int]:
        return history.spans_tokens([(seq, seq) for seq in seqs])

    found = rank(query, places, history.count(), sizes_of, hidden=hidden, most_places=MOST_PLACES)
    return [one for one in found if one.seq < before]
