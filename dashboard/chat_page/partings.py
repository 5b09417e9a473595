"""Finds where the branches of a session part, as the transcript shows it; pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxcore.engine.branches import BranchPoint
from ctxcore.store.values import SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Which of the ways to go on from a message a session takes."""

    number: int
    """From 1."""
    count: int
    previous: str | None
    """The session that takes the way before, if there is one."""
    next: str | None


def partings(points: Iterable[BranchPoint], session: SessionInfo) -> dict[int, Parting]:
    """Where other ways than that of `session` begin, by message (from 1)."""
    found = {point.place + 1: _parting(point, session) for point in points}
    return {seq: parting for seq, parting in found.items() if parting.count > 1}


def _parting(point: BranchPoint, session: SessionInfo) -> Parting:
    """The ways at a place; a session that ends there takes none, unless it is the shown one."""
    ways = [one.id for one in point.sessions if one.length > point.place or one.id == session.id]
    at = ways.index(session.id)
    return Parting(
        number=at + 1,
        count=len(ways),
        previous=ways[at - 1] if at else None,
        next=ways[at + 1] if at + 1 < len(ways) else None,
    )
