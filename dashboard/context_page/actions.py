"""Owns the callbacks of the context page: showing a shortened message whole, and not any more."""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.services import engine
from dashboard.tell import tell_error
from dashboard.texts import t

PROBLEM = "context_problem"


def picked_key(session_id: str) -> str:
    """Where the session state holds which shortened message is looked at."""
    return f"context_pick_{session_id}"


def show_whole(session_id: str, seq: int) -> None:
    """Pins message `seq` (from 1), so that the next context shows all of it."""
    _change(session_id, seq, is_pinned=True)


def shorten_again(session_id: str, seq: int) -> None:
    """Takes the pin off and looks at the message again."""
    _change(session_id, seq, is_pinned=False)
    st.session_state[picked_key(session_id)] = seq


def _change(session_id: str, seq: int, *, is_pinned: bool) -> None:
    try:
        if is_pinned:
            engine().pin(session_id, seq - 1)
        else:
            engine().unpin(session_id, seq - 1)
    except ContextError as error:
        st.session_state[PROBLEM] = tell_error(error)
        return
    name = "restored" if is_pinned else "unpinned"
    st.toast(t(f"context.{name}", seq=seq), icon=":material/keep:")
