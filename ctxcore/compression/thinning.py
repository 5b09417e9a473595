"""Owns what happens before a tree is built for a long output: its containers are thinned.

A budget holds at most so many parts, so of a container with a hundred thousand only those that can
matter are looked at: head, tail, and those that stand out. The places of the others are known.
Linear in the length of the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.compression.focus import standing_out
from ctxcore.compression.structures import parse_inner
from ctxcore.compression.target import Target
from ctxcore.messages.values import JsonValue

CHARS_PER_TOKEN: Final = 30  # a shorter output is looked at as a whole
RECORD_TOKENS: Final = 3  # no record takes less
SCALAR_TOKENS: Final = 2
MOST_SCALARS: Final = 3  # looked at for each token of the budget
SAMPLE: Final = 8
LEAST_PARTS: Final = 8
LEAST_MEMBERS: Final = 64  # an object with fewer members is a record, which stays whole
TAIL_SHARE: Final = 8  # every eighth place is one at the end


@dataclass(frozen=True, slots=True)
class Thinned:
    """Which members of a container are looked at, by their place, of how many; which stand out."""

    places: Sequence[int]
    total: int
    outstanding: frozenset[int]


def thin(value: JsonValue, chars: int, target: Target, known: dict[int, Thinned]) -> JsonValue:
    """`value`, of so many characters, with long containers thinned; `known` gets their places."""
    if chars <= target.max_tokens * CHARS_PER_TOKEN:
        return value
    return _thin(value, max(LEAST_PARTS, target.max_tokens), target.terms, known)


def _thin(
    value: JsonValue, tokens: int, terms: frozenset[str], known: dict[int, Thinned]
) -> JsonValue:
    shorter: JsonValue
    match value:
        case list():
            found = _choose(value, tokens, terms, LEAST_PARTS)
            share = max(LEAST_PARTS, tokens // max(1, len(found.places)))
            shorter = [_thin(value[at], share, terms, known) for at in found.places]
        case dict() if len(value) < LEAST_MEMBERS:
            return {key: _thin(item, tokens, terms, known) for key, item in value.items()}
        case dict():
            keys, members = list(value), list(value.values())
            found = _choose(members, tokens, terms, LEAST_MEMBERS)
            shorter = {
                keys[at]: _thin(members[at], LEAST_PARTS, terms, known) for at in found.places
            }
        case str() if (inner := parse_inner(value)) is not None:
            return _thin(inner, tokens, terms, known)
        case _:
            return value
    if len(found.places) < len(value):
        known[id(shorter)] = found
    return shorter


def _choose(
    members: Sequence[JsonValue], tokens: int, terms: frozenset[str], least: int
) -> Thinned:
    """The members to look at: head and tail, and those that stand out."""
    if len(members) <= least:
        return Thinned(range(len(members)), len(members), frozenset())
    is_flat = not any(isinstance(member, list | dict) for member in members)
    most = tokens // (SCALAR_TOKENS if is_flat else RECORD_TOKENS)
    sample = members[:SAMPLE]
    scalars = sum(map(_count_scalars, sample)) // max(1, len(sample))
    most = max(least, min(most, tokens * MOST_SCALARS // max(1, scalars)))
    if len(members) <= most:
        return Thinned(range(len(members)), len(members), frozenset())
    outstanding = frozenset(standing_out(members, terms))
    tail = most // TAIL_SHARE
    places = {*outstanding, *range(len(members) - tail, len(members))}
    head = (at for at in range(len(members)) if at not in places)
    places.update(at for at, _ in zip(head, range(most - len(places)), strict=False))
    return Thinned(sorted(places), len(members), outstanding)


def _count_scalars(value: JsonValue) -> int:
    match value:
        case list():
            return sum(map(_count_scalars, value))
        case dict():
            return sum(map(_count_scalars, value.values()))
        case _:
            return 1
