"""Lets an idle tab follow what happens to its session elsewhere.

A fragment looks every few seconds by one small statement. It draws nothing and redraws the page
only if the session has changed, or a turn runs that another tab began.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import SessionStamp
from dashboard.chat_page import elsewhere
from dashboard.chat_page.turn_runner import turn_runner
from dashboard.dialogs import is_any_open
from dashboard.services import engine

LOOK_SECONDS = 4.0  # chosen: a change shows within five seconds


def watch(session_id: str, drawn: SessionStamp) -> None:
    """Redraws the page when the session is no longer what `drawn` says it was."""
    _look(session_id, drawn)


@st.fragment(run_every=LOOK_SECONDS)
def _look(session_id: str, drawn: SessionStamp) -> None:
    if not is_any_open() and has_changed(session_id, drawn):  # a redraw would disturb a dialog
        st.rerun()


def has_changed(session_id: str, drawn: SessionStamp) -> bool:
    """Whether a turn runs in the session, or it was changed since it was read.

    A turn of another process that has ended changes it too.
    """
    if turn_runner().running(session_id) is not None:
        return True
    try:
        stamp = engine().session_stamp(session_id)
        return stamp != drawn or elsewhere.has_ended(session_id, stamp)
    except ContextError:
        return True  # erased: the page then shows another session
