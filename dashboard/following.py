"""Lets an idle page follow what other tabs, users and processes change.

A fragment looks every few seconds whether anything in the database has changed, which costs no
statement; only then does it read what the page depends on, and redraws the page if that is another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.dialogs import is_any_open
from dashboard.selection import current_session
from dashboard.services import engine

LOOK_SECONDS: Final = 2.0  # chosen: a change shows within three seconds
UNTOLD_SECONDS: Final = 4.0  # chosen: between looks where nothing was heard of changes
_OF_SESSION: Final = ("context", "usage", "compaction")


@dataclass(slots=True)
class Heard:
    """What a drawn page has heard of changes."""

    count: int = field(default_factory=lambda: engine().change_count())
    at: float = field(default_factory=time.monotonic)

    def is_news(self) -> bool:
        """Whether anything has changed since the last time this was so."""
        before, self.count = self.count, engine().change_count()
        return self.count != before

    def is_time_to_look(self) -> bool:
        """Whether anything has changed, or nothing was heard for long."""
        if not self.is_news() and time.monotonic() - self.at < UNTOLD_SECONDS:
            return False
        self.at = time.monotonic()
        return True


def watch(page: str) -> None:
    """Redraws a page, by its name, when what it shows was changed; not all pages do that."""
    if page in ("chat", "sessions", "settings", *_OF_SESSION):
        _look(Followed(lambda: _state(page)))


class Followed:
    """What a page depends on, read again only when there is news."""

    def __init__(self, read: Callable[[], object]) -> None:
        self._read = read
        self._heard = Heard()  # first: what changes from now on is news
        self._known = read()

    def has_changed(self) -> bool:
        """Whether the page would show something else now."""
        if not self._heard.is_news():
            return False
        before, self._known = self._known, self._read()
        return self._known != before


@st.fragment(run_every=LOOK_SECONDS)
def _look(followed: Followed) -> None:
    if not is_any_open() and followed.has_changed():  # a redraw would disturb a dialog
        st.rerun()


def _state(page: str) -> tuple[object, ...]:
    """What the page depends on; the chat looks after its session itself."""
    try:
        newest = engine().store.policy_changes(limit=1)
        state: tuple[object, ...] = tuple(change.version.id for change in newest)
        session = current_session() if page in _OF_SESSION else None
        if session is not None:
            return (*state, engine().session_stamp(session.id))
        if page == "sessions":
            return (*state, *((one.id, one.updated_at) for one in engine().sessions(limit=1)))
    except ContextError as error:  # erased: the page then shows another session
        return (type(error).__name__,)
    return state
