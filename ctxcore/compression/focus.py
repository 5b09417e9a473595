"""Finds the members of a collection that stand out.

Members stand out that the query names, that report an error, or that differ from the others. Rows
are lifted out of their table as whole objects, so that they keep all their members while the other
rows lose columns. Only members near the best match count, however many may be lifted.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.naming import CLIFF, Query
from ctxcore.compression.salience import is_error, is_identifier_key
from ctxcore.compression.target import Target, shared_by_line
from ctxcore.messages.values import JsonValue
from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.signals import mentions_error, suspect_lines

LEAST_MEMBERS: Final = 6  # chosen: fewer fit or shrink well enough without a focus
GREATEST_SHARE: Final = 6  # chosen: at most every sixth member stands out, else none does
MOST_MEMBERS: Final = 12  # chosen: of those that stand out in one way
MOST_ASKED: Final = 2  # chosen: members that a name in the query may mean, of however few
LEAST_ODD_RECORDS: Final = 12  # chosen: among fewer, a single value is not odd
MOST_CATEGORIES: Final = 4  # chosen: of the values of a member, for one of them to be odd
ODD_SHARE: Final = 20  # chosen: at most every twentieth record is odd in one way
MANY_TEXTS: Final = 500  # chosen: of more, terms are searched as parts of words, which is faster
MOST_TERMS: Final = 64  # chosen: the longest terms of a query, for many texts
MOST_COMPARED: Final = 100  # chosen: members whose values are compared with the query
MOST_VALUES: Final = 40  # chosen: of a member, to be compared with the query


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The places of the members that stand out."""

    named: frozenset[int] = frozenset()
    """Those that the query names."""
    odd: frozenset[int] = frozenset()
    """Those that report an error, or differ from the others."""

    @property
    def places(self) -> list[int]:
        """All, in order."""
        return sorted(self.named | self.odd)


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a collection; those of an object have keys."""

    values: Sequence[JsonValue]
    keys: Sequence[str] = ()

    def texts(self) -> list[str]:
        """Each member as text in lower case, its key first."""
        texts = (v if isinstance(v, str) else render_json(v) for v in self.values)
        if self.keys:
            texts = (f"{key} {text}" for key, text in zip(self.keys, texts, strict=True))
        return [text.lower() for text in texts]

    def names(self, at: int) -> Iterator[tuple[str, bool]]:
        """The values by which a member may be named, and whether each is an identifier."""
        if self.keys:
            yield self.keys[at], True
        yield from islice(_scalars(self.values[at]), MOST_VALUES)


def _scalars(value: JsonValue, key: str = "") -> Iterator[tuple[str, bool]]:
    match value:
        case dict():
            for name, member in value.items():
                yield from _scalars(member, name)
        case list():
            for item in value:
                yield from _scalars(item, key)
        case str():
            yield value, is_identifier_key(key)
        case int() if not isinstance(value, bool):
            yield str(value), is_identifier_key(key)


def standing_out(members: Members, target: Target, query: Query) -> Outstanding:
    """Which of the members stand out; none in a way in which too many would."""
    count = len(members.values)
    if count <= LEAST_MEMBERS:
        return Outstanding(frozenset(_named_of_few(members, query)))
    texts = members.texts()
    most = min(MOST_MEMBERS, max(1, count // GREATEST_SHARE))
    joined = JoinedLines(text.replace("\n", " ") for text in texts)
    named = frozenset(_named(members, _shared(texts, joined, target.terms), query, most))
    suspect = sorted(suspect_lines(joined))
    failed = [at for at in suspect if mentions_error(texts[at]) and _fails(members.values[at])]
    groups = (failed, odd_members(members.values))
    return Outstanding(named, frozenset(at for g in groups if len(g) <= most for at in g) - named)


def _named_of_few(members: Members, query: Query) -> list[int]:
    """The places of the members with a value of their own that a brief query repeats whole."""
    count = len(members.values)
    held = _held(members, range(count), query) if query.is_brief and count > 1 else {}
    holders = Counter(phrase for those in held.values() for phrase in those)
    found = [at for at, those in held.items() if any(holders[phrase] == 1 for phrase in those)]
    return found if len(found) <= count // 2 else []


def _shared(
    texts: Sequence[str], joined: JoinedLines, terms: frozenset[str]
) -> Mapping[int, Collection[str]]:
    """The terms of the query in each text that has any."""
    if len(texts) <= MANY_TEXTS:
        return shared_by_line(terms, joined)
    longest = sorted(terms, key=lambda term: (-len(term), term))[:MOST_TERMS]
    found = ([term for term in longest if term in text] for text in texts)
    return {at: named for at, named in enumerate(found) if named}


def _named(
    members: Members, shared: Mapping[int, Collection[str]], query: Query, most: int
) -> Iterable[int]:
    """The places of the members whose values the query repeats, or that share its rarest terms."""
    total = len(members.values)
    scores = _rarities(shared, total)
    best = heapq.nlargest(MOST_COMPARED, scores, key=lambda at: (scores[at], -at))
    held = _held(members, sorted(best), query)
    for at, rarity in _rarities(held, total).items():
        scores[at] += rarity
    top = max(scores.values(), default=0.0)
    near = [at for at, score in scores.items() if top > 0 and score >= top * CLIFF]
    holders = Counter(phrase for those in held.values() for phrase in those)
    few = max(MOST_ASKED, min(most, min(holders.values(), default=0)))
    whole = [at for at, those in held.items() if any(holders[p] <= few for p in those)]
    found = {*(near if len(near) <= most else ()), *whole}
    return sorted(found, key=lambda at: (-scores[at], at))[:MOST_MEMBERS]


def _held(members: Members, places: Iterable[int], query: Query) -> dict[int, frozenset[str]]:
    """What the query repeats of the values of these members; no part of something longer."""
    phrases = {
        at: frozenset(query.phrase(name, is_identifier=own) for name, own in members.names(at))
        for at in places
    }
    longest = frozenset(query.longest(frozenset().union(*phrases.values()) - {""}))
    return {at: kept for at, those in phrases.items() if (kept := those & longest)}


def _rarities(shared: Mapping[int, Collection[str]], total: int) -> dict[int, float]:
    """How rare the terms are, in all, that each of `total` members has."""
    seen_in = Counter(term for named in shared.values() for term in named)
    rarity = {term: math.log(total / count) for term, count in seen_in.items()}
    return {at: math.fsum(sorted(map(rarity.__getitem__, shared[at]))) for at in shared}


def _fails(member: JsonValue, key: str = "") -> bool:
    """Whether any member in it reports an error."""
    match member:
        case dict():
            return any(_fails(value, name) for name, value in member.items())
        case list():
            return any(_fails(value, key) for value in member)
        case _:
            return is_error(key, member)


def odd_members(members: Sequence[JsonValue]) -> list[int]:
    """Records with a member that few others have, or a value that few have where others agree."""
    records = [member for member in members if isinstance(member, dict)]
    if len(records) < max(LEAST_ODD_RECORDS, len(members)):
        return []
    most = max(1, len(records) // ODD_SHARE)
    holders = Counter(key for record in records for key in record)
    rare = {key for key, count in holders.items() if count <= most}
    values: dict[str, Counter[str | bool]] = {key: Counter() for key in holders if key not in rare}
    for record in records:
        for key, value in record.items():
            if isinstance(value, str | bool) and key in values:
                values[key][value] += 1
                if len(values[key]) > MOST_CATEGORIES:
                    del values[key]
    odd = {
        (key, value)
        for key, counts in values.items()
        for value, count in counts.items()
        if count <= most and len(counts) > 1
    }
    return [
        at
        for at, record in enumerate(records)
        if not rare.isdisjoint(record) or any(record.get(key) == value for key, value in odd)
    ]
