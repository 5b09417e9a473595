"""Lets an idle tab follow what happens to its session elsewhere.

A fragment looks by one small statement where the database has changed, else every few seconds. It
draws nothing and redraws the page only if the session has changed, or a turn runs that another tab
began.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import SessionStamp
from dashboard.chat_page import elsewhere
from dashboard.chat_page.turn_runner import turn_runner
from dashboard.dialogs import is_any_open
from dashboard.following import LOOK_SECONDS, Heard
from dashboard.services import engine


def watch(session_id: str, drawn: SessionStamp) -> None:
    """Redraws the page when the session is no longer what `drawn` says it was."""
    _look(session_id, drawn, Heard())


@st.fragment(run_every=LOOK_SECONDS)
def _look(session_id: str, drawn: SessionStamp, heard: Heard) -> None:
    if is_any_open() or not heard.is_time_to_look():  # a redraw would disturb a dialog
        return
    if has_changed(session_id, drawn):
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
