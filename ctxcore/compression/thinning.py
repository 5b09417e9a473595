"""Owns what happens before a tree is built for a very long output: its containers are thinned.

A budget holds at most a few hundred parts, so of a container with a hundred thousand only those
that can matter are looked at: head, tail, and the ones that the query names or that speak of
errors. The number of the others is kept. Linear in the length of the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import parse_inner, render_json
from ctxcore.compression.target import Target
from ctxcore.compression.worth import has_error
from ctxcore.messages.values import JsonValue

LONG_CHARS: Final = 100_000
MOST_PARTS: Final = 3_000
LEAST_PARTS: Final = 4
RECORD_PARTS: Final = 12  # so many parts a record is given before its list is thinned
MOST_TERMS: Final = 64
RARE_SHARE: Final = 10  # a term that more than every tenth member holds chooses none of them


def thin(value: JsonValue, minified: str, target: Target, unlisted: dict[int, int]) -> JsonValue:
    """`value` with long containers thinned; `unlisted` gets how many members each one lost."""
    if len(minified) <= LONG_CHARS:
        return value
    return _thin(value, max(MOST_PARTS, target.max_tokens), target.terms, unlisted)


def _thin(
    value: JsonValue, parts: int, terms: frozenset[str], unlisted: dict[int, int]
) -> JsonValue:
    thinned: JsonValue
    match value:
        case list():
            chosen = _choose(value, parts, terms)
            share = parts // max(1, len(chosen))
            thinned = [_thin(value[at], share, terms, unlisted) for at in chosen]
        case dict():
            keys = list(value)
            chosen = _choose(list(value.values()), parts, terms)
            share = parts // max(1, len(chosen))
            thinned = {keys[at]: _thin(value[keys[at]], share, terms, unlisted) for at in chosen}
        case str() if len(value) > LONG_CHARS and (inner := parse_inner(value)) is not None:
            return _thin(inner, parts, terms, unlisted)
        case _:
            return value
    if len(chosen) < len(value):
        unlisted[id(thinned)] = len(value) - len(chosen)
    return thinned


def _choose(members: Sequence[JsonValue], parts: int, terms: frozenset[str]) -> Sequence[int]:
    """The places of the members to look at: head and tail, errors and what the query names."""
    is_flat = not any(isinstance(member, list | dict) for member in members)
    most = max(LEAST_PARTS, parts // (1 if is_flat else RECORD_PARTS))
    if len(members) <= most:
        return range(len(members))
    quarter = most // 4
    texts = [_text_of(member) for member in members]
    errors = islice((at for at, text in enumerate(texts) if has_error(text)), quarter)
    chosen = {*errors, *islice(_named(texts, terms), quarter)}
    chosen.update(range(len(members) - quarter // 2, len(members)))
    chosen.update(
        islice((at for at in range(len(members)) if at not in chosen), most - len(chosen))
    )
    return sorted(chosen)


def _named(texts: Sequence[str], terms: frozenset[str]) -> Iterator[int]:
    """The places of the texts that hold a term few others hold, the rarest term first."""
    longest = sorted(terms, key=lambda term: (-len(term), term))[:MOST_TERMS]
    holders = [[at for at, text in enumerate(texts) if term in text] for term in longest]
    for places in sorted(holders, key=len):
        if len(places) * RARE_SHARE <= len(texts):
            yield from places


def _text_of(member: JsonValue) -> str:
    return (member if isinstance(member, str) else render_json(member)).lower()
