"""Searches a history for people and models: the best matches, each with the passage around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Final

from ctxcore.assembly.arguments import told
from ctxcore.assembly.history import Counted, HistoryView, repeats
from ctxcore.assembly.recall_texts import heading, index_words_of, piece_of, says_the_same
from ctxcore.messages.values import Role
from ctxcore.plain import Plain
from ctxcore.recalling.answers import states
from ctxcore.recalling.ranking import Found, answering_first
from ctxcore.recalling.requests import Query, read_request
from ctxcore.recalling.searching import MOST_PLACES, search
from ctxcore.tokens.families import TokenCounter

# Chosen: what a message answers stands before it, and its own answer behind tool calls.
_BEFORE: Final = 2
_BEHIND: Final = 3
# A passage goes on as long as its messages are about the query: have this share of the best score.
_GOES_ON_SHARE: Final = 0.25
_MOST_BEFORE: Final = 10
_MOST_BEHIND: Final = 12
_MOST_READ: Final = 200  # messages with words of a phrase; chosen: read in milliseconds
_NAMELESS_SHARE: Final = 0.3  # of the best score, for an answer that shares no word; chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessage(Plain):
    """A message of a passage."""

    seq: int
    """Its number, from 1, by which `m12` refers to it."""
    role: Role
    created_at: datetime | None
    text: str
    """The message with its calls; of a long one the piece that the query is about."""
    name: str = ""
    """The function of a tool result."""

    @property
    def heading(self) -> str:
        """Where it comes from, e.g. `m12 · user · 2026-03-02 09:14`."""
        return heading(self.seq, self.role, self.created_at, self.name)

    def __str__(self) -> str:
        return f"[{self.heading}]\n{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHit(RecalledMessage):
    """A message that a query found, with the passage around it."""

    score: float
    """Comparable within one search alone; the best hit has the highest."""
    before: tuple[RecalledMessage, ...] = ()
    after: tuple[RecalledMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class _Head:
    """A message that becomes a hit, with all that is shown with it."""

    found: Found
    reach: range
    """The messages around it, none of which becomes a hit of its own."""
    passage: set[int]
    """The messages that belong to the hit: these, and those around others among them."""


def find_phrase(
    view: HistoryView, phrase: str, counter: TokenCounter, *, limit: int
) -> list[RecalledMessage]:
    """The messages that say a phrase word for word, oldest first; behind them those with most of
    its words.
    """
    terms = [term.forms for term in read_request(phrase).terms]
    places = view.having(terms, before=view.count() + 1, most=MOST_PLACES) if terms else []
    shared = Counter(seq for seqs in places for seq in seqs)
    best = sorted(shared, key=lambda seq: (-shared[seq], seq))[:_MOST_READ]
    rows, said = _rows(view, best), _plain(phrase)
    whole = [seq for seq in sorted(rows) if said in _plain(told(rows[seq].message))]
    others = [seq for seq in best if seq in rows and seq not in whole]
    return [_message(rows[seq], phrase, counter) for seq in [*whole, *others][:limit]]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def find_hits(
    view: HistoryView, query: str, counter: TokenCounter, *, limit: int, before: int | None = None
) -> list[RecallHit]:
    """The messages below `before` (default: all) that share a word with `query`, the best first.

    Near them, what states the time or the number that it asks for is found without such a word.
    None is shown twice: what stands in the passage of a better hit is no hit of its own, nor is
    what says nearly the same. Excluded messages and system messages take no part.
    """
    end = view.count() + 1 if before is None else before
    anchors = view.anchors()
    hidden = frozenset((*anchors.excluded, *anchors.prompts))
    request = read_request(query)
    found = search(view, request, before=end, hidden=hidden)
    read = _rows(view, [one.seq for one in found])
    near = [one for one in found if one.seq in read and _is_hit(one, found[0], request, read)]
    ranked = answering_first(near, request, _text_of(read))
    heads = _heads(ranked, read, {one.seq: one for one in found}, limit)
    seqs = _passages(heads, hidden, end)
    rows = _rows(view, {seq for passage in seqs for seq in passage})
    return [
        _hit(head.found, [rows[seq] for seq in passage if seq in rows], query, counter)
        for head, passage in zip(heads, seqs, strict=True)
    ]


def hits_text(hits: Sequence[RecallHit], counter: TokenCounter, *, max_tokens: int) -> str:
    """As much of `hits` as fits, as text: the hits themselves first, then what is nearest to them.

    The best hit comes first, the messages of each in order; "" if nothing fits.
    """
    shown: set[int] = set()
    left = max_tokens
    for hit, one in _by_need(hits):
        size = counter.count(f"{one}\n\n")
        if size <= left and (one is hit or hit.seq in shown):
            left -= size
            shown.add(one.seq)
    passages = ([one for one in _passage(hit) if one.seq in shown] for hit in hits)
    return "\n\n".join("\n".join(map(str, passage)) for passage in passages if passage)


def _by_need(hits: Sequence[RecallHit]) -> Iterator[tuple[RecallHit, RecalledMessage]]:
    """All messages with the hit that each belongs to."""
    yield from zip(hits, hits, strict=True)
    for hit in hits:
        near = [(abs(one.seq - hit.seq), -one.seq, one) for one in (*hit.before, *hit.after)]
        yield from ((hit, one) for *_, one in sorted(near, key=itemgetter(0, 1)))


def _passage(hit: RecallHit) -> tuple[RecalledMessage, ...]:
    return (*hit.before, hit, *hit.after)


def _heads(
    found: Iterable[Found],
    rows: Mapping[int, Counted],
    all_found: Mapping[int, Found],
    limit: int,
) -> list[_Head]:
    """The best of what was found, without what stands in a better passage or says the same."""
    best = max((one.score for one in all_found.values()), default=0.0)
    heads: list[_Head] = []
    words: list[frozenset[str]] = []
    for one in found:
        near = next((head for head in heads if one.seq in head.reach), None)
        if near is not None:
            if one.rarity >= near.found.rarity:
                near.passage.update(_reach(one, all_found, best))
        elif len(heads) < limit:
            said = index_words_of(rows[one.seq])
            if not says_the_same(said, words):
                reach = _reach(one, all_found, best)
                heads.append(_Head(one, reach, {*reach}))
                words.append(said)
    return heads


def _passages(heads: Sequence[_Head], hidden: Collection[int], end: int) -> list[list[int]]:
    """The messages of each hit, in order; none belongs to two."""
    taken = {head.found.seq for head in heads}
    passages = []
    for head in heads:
        free = head.passage.difference(taken, hidden)
        taken |= free
        passages.append(sorted(seq for seq in (*free, head.found.seq) if 1 <= seq < end))
    return passages


def _hit(found: Found, rows: Sequence[Counted], query: str, counter: TokenCounter) -> RecallHit:
    messages = [_message(row, query, counter) for row in rows]
    [own] = [one for one in messages if one.seq == found.seq]
    return RecallHit(
        seq=own.seq,
        role=own.role,
        created_at=own.created_at,
        text=own.text,
        name=own.name,
        score=found.score,
        before=tuple(one for one in messages if one.seq < own.seq),
        after=tuple(one for one in messages if one.seq > own.seq),
    )


def _message(row: Counted, query: str, counter: TokenCounter) -> RecalledMessage:
    return RecalledMessage(
        seq=row.seq,
        role=row.message.role,
        created_at=row.said_at,
        text=piece_of(row, query, counter),
        name=row.function_name if row.message.is_tool_result else "",
    )


def _rows(view: HistoryView, seqs: Collection[int]) -> dict[int, Counted]:
    """The messages with these numbers, without calls of our own tools and their answers."""
    return {row.seq: row for row in view.get(seqs) if not repeats(row)}


def _is_hit(one: Found, best: Found, request: Query, rows: Mapping[int, Counted]) -> bool:
    """Whether a message shares a word with the query, or states what it asks for near one."""
    if one.rarity > 0:
        return True
    is_near = one.score >= _NAMELESS_SHARE * best.score
    wanted = request.wanted
    return is_near and wanted is not None and states(rows[one.seq].message.text, wanted)


def _text_of(rows: Mapping[int, Counted]) -> Callable[[int], str]:
    return lambda seq: rows[seq].message.text


def _reach(one: Found, found: Mapping[int, Found], best: float) -> range:
    """The messages around one that was found, further where they are about the query too."""
    least = _GOES_ON_SHARE * best
    before = range(one.seq - 1, one.seq - _MOST_BEFORE - 1, -1)
    behind = range(one.seq + 1, one.seq + _MOST_BEHIND + 1)
    return range(
        one.seq - max(_BEFORE, _steps(before, found, least)),
        one.seq + max(_BEHIND, _steps(behind, found, least)) + 1,
    )


def _steps(seqs: Sequence[int], found: Mapping[int, Found], least: float) -> int:
    """How many of `seqs`, nearest first, a passage goes on for: while they have the `least` score,
    and to the one behind the last that shares a word with the query.
    """
    steps = 0
    for at, seq in enumerate(seqs, start=1):
        near = found.get(seq)
        if near is None or near.score < least:
            break
        if near.rarity > 0:
            steps = min(at + 1, len(seqs))
    return steps
