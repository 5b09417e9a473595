"""Branches of stored sessions: where they part, and which sessions there are at each place.

A branch copies a session up to a place, so that a message can be edited and sent again, or an
answer made anew; the original stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcore.engine.errors import PlaceError, SplitBlockError
from ctxcore.engine.services import EngineServices
from ctxcore.plain import Plain
from ctxcore.store.values import BRANCH, SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchPoint(Plain):
    """A place where sessions with the same beginning part."""

    place: int
    """The first message that differs, from 0."""
    sessions: tuple[SessionInfo, ...]
    """One session for each way to go on there, the oldest way first; of several with the same
    message the one last changed, and always the session that was asked for."""


class Branches:
    """Makes branches and finds the family of a session, as described in `ContextEngine`."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def branch(self, session_id: str, at: int, *, title: str | None) -> SessionInfo:
        store = self._services.store
        length = self._services.session(session_id, "export").length
        if not 0 <= at < length:
            raise PlaceError(place=at, length=length)
        [info] = store.messages(session_id, at + 1, at + 1)
        if info.block != info.seq:
            raise SplitBlockError(place=at, first=info.block - 1)
        return store.fork(
            session_id,
            at,
            fork_id=self._services.new_id(),
            new_id=self._services.new_id,
            at=self._services.clock(),
            title=title,
            user_id=self._services.user_id,
            origin=BRANCH,
        )

    def family(self, session_id: str) -> list[BranchPoint]:
        asked = self._services.session(session_id)
        relatives = self._services.store.relatives(session_id)
        by_id = {session.id: session for session in relatives}
        shown = [one for one in relatives if one.deleted_at is None and _may_see(one, asked)]
        self._services.audit.lists(one for one in shown if one.id != asked.id)
        shared = {one.id: _shared(by_id, asked, one) for one in shown if one.id != asked.id}
        return [
            BranchPoint(place=place, sessions=_ways(by_id, asked, at_place))
            for place in sorted(set(shared.values()))
            for at_place in [[one for one in shown if shared.get(one.id) == place]]
        ]


def _may_see(one: SessionInfo, asked: SessionInfo) -> bool:
    return one.user_id == asked.user_id


def _ways(
    by_id: Mapping[str, SessionInfo], asked: SessionInfo, others: Sequence[SessionInfo]
) -> tuple[SessionInfo, ...]:
    """One session for each message that comes next at the place where `others` leave `asked`."""
    place = _shared(by_id, asked, others[0])
    ways: list[list[SessionInfo]] = [[asked]]
    for one in others:
        same = (way for way in ways[1:] if _shared(by_id, way[0], one) > place)
        way = next(same, None)
        if way is None:
            ways.append([one])
        else:
            way.append(one)
    ways.sort(key=lambda way: min((one.created_at, one.id) for one in way))
    return tuple(max(way, key=lambda one: (one.updated_at, one.id)) for way in ways)


def _shared(by_id: Mapping[str, SessionInfo], one: SessionInfo, other: SessionInfo) -> int:
    """How many messages two sessions of a family begin with in common."""
    up, across = _lineage(by_id, one), _lineage(by_id, other)
    common = next(known for known in up if known in across)
    lengths = [one.length, other.length]
    return min(length for line in (up, across) for length in [*lengths, line[common]])


def _lineage(by_id: Mapping[str, SessionInfo], session: SessionInfo) -> dict[str, int]:
    """A session and its ancestors, nearest first, with how many messages it has of each."""
    line, shared = {session.id: session.length}, session.length
    while session.parent_id is not None and session.parent_id in by_id:
        shared = min(shared, session.parent_seq or 0)
        session = by_id[session.parent_id]
        line[session.id] = shared
    return line
