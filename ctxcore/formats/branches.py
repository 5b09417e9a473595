"""Finds the active branch of a session whose records name the record before them.

A prompt that was edited or taken back leaves its old branch in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Plain):
    """Where a record stands in the tree of its session."""

    ids: tuple[str, ...]
    """What other records may name it by: its own id first, if it has one."""
    parent: str | None
    is_root: bool = False
    """Whether it says that no record is before it."""


def active_branch(links: Sequence[Link], leaf: int | None) -> list[int]:
    """The places of the records from the beginning of the branch to `leaf`, in file order.

    A record whose parent is not in the file follows the record before it. Records of one id are
    pieces of one. Roots begin anew only in a file where most records have a parent.
    """
    parents = _parents(links)
    chain: set[int] = set()
    at = leaf
    while at is not None:  # a parent stands before its children, so this ends
        chain.add(at)
        at = parents[at]
    ids = {links[at].ids[0] for at in chain if links[at].ids}
    return [at for at, link in enumerate(links) if at in chain or (link.ids and link.ids[0] in ids)]


def _parents(links: Sequence[Link]) -> list[int | None]:
    places: dict[str, int] = {}
    known: list[int | None] = []
    for at, link in enumerate(links):
        known.append(places.get(link.parent) if link.parent else None)
        places.update(dict.fromkeys(link.ids, at))
    is_linked = 2 * sum(place is not None for place in known) > len(links)
    return [
        place if place is not None else _assumed(at, is_root=link.is_root and is_linked)
        for at, (place, link) in enumerate(zip(known, links, strict=True))
    ]


def _assumed(at: int, *, is_root: bool) -> int | None:
    return None if is_root or at == 0 else at - 1
