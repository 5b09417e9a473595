"""Owns one page of the list of sessions: the user's own, or everybody's for operators."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.engine.core import ContextEngine
from ctxcore.store.values import Listed, SessionInfo

PAGE_SESSIONS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Some of the sessions, and how many there are in all."""

    sessions: list[SessionInfo]
    total: int

    @property
    def pages(self) -> int:
        """How many pages all of them fill."""
        return -(-self.total // PAGE_SESSIONS)


def list_page(
    engine: ContextEngine, *, title: str, everybody: bool, deleted: bool, number: int
) -> Listing:
    """Page `number` (from 1) of the sessions whose title holds `title`."""
    is_all = everybody and engine.user().is_operator
    user_id = None if is_all else engine.user_id
    listed: Listed = "deleted" if deleted else "present"
    title = title.strip()
    return Listing(
        sessions=engine.store.list_sessions(
            user_id,
            listed=listed,
            title=title,
            limit=PAGE_SESSIONS,
            offset=(number - 1) * PAGE_SESSIONS,
        ),
        total=engine.store.count_sessions(user_id, listed=listed, title=title),
    )
