"""Reads pages of the list of sessions."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.engine.core import ContextEngine
from ctxcore.store.values import SessionFilter, SessionInfo
from dashboard.sessions_page.filtering import Wanted

PAGE_SESSIONS = 25  # chosen: fits a screen without much scrolling
_BATCH = 500  # sessions read at a time for an export


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of sessions, and the number of all."""

    sessions: list[SessionInfo]
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return -(-self.total // PAGE_SESSIONS)


def list_page(
    engine: ContextEngine, wanted: Wanted, *, number: int, is_deleted: bool = False
) -> Listing:
    """Page `number` (from 1) of the sessions that are wanted, deleted ones or not.

    Others' sessions are listed for operators only, without titles where they are no auditors.
    """
    user_id, listed = _whose(engine, wanted), _listed(wanted, is_deleted=is_deleted)
    return Listing(
        sessions=engine.people.sessions(
            user_id,
            listed=listed,
            title=wanted.title,
            where=wanted.where,
            limit=PAGE_SESSIONS,
            offset=(number - 1) * PAGE_SESSIONS,
        ),
        total=engine.people.count_sessions(
            user_id, listed=listed, title=wanted.title, where=wanted.where
        ),
    )


def all_listed(engine: ContextEngine, wanted: Wanted) -> list[SessionInfo]:
    """The sessions of all pages."""
    found: list[SessionInfo] = []
    while page := engine.people.sessions(
        _whose(engine, wanted),
        listed=_listed(wanted),
        title=wanted.title,
        where=wanted.where,
        limit=_BATCH,
        offset=len(found),
    ):
        found += page
    return found


def _whose(engine: ContextEngine, wanted: Wanted) -> str | None:
    return wanted.user_id if engine.user().is_operator else engine.user_id


def _listed(wanted: Wanted, *, is_deleted: bool = False) -> SessionFilter:
    if is_deleted:
        return "deleted"
    return "present" if wanted.has_branches else "unbranched"
