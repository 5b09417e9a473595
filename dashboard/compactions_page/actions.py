"""Owns the callbacks of the compaction page; each is one verb of the engine."""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import CompactionInfo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.shell import select_session
from dashboard.tell import tell_error
from dashboard.texts import t

NOTICE = "compaction_notice"


def undo(session_id: str) -> None:
    """Takes the active compaction back."""
    try:
        info = engine().undo(session_id)
    except ContextError as error:
        st.session_state[NOTICE] = tell_error(error)
        return
    if info is not None:
        st.toast(t("compact.undone"), icon=":material/undo:")


def redo(session_id: str) -> None:
    """Takes the last undo back."""
    try:
        info = engine().redo(session_id)
    except ContextError as error:
        st.session_state[NOTICE] = tell_error(error)
        return
    if info is not None:
        st.toast(t("compact.redone"), icon=":material/redo:")


def fork_at(info: CompactionInfo, end: int, title: str) -> None:
    """A new session that ends at message `end` with this compaction as its active one."""
    try:
        forked = engine().fork(info.session_id, end - 1, title=title)
        _undo_down_to(forked.id, info)
    except ContextError as error:
        st.session_state[NOTICE] = tell_error(error)
        return
    select_session(forked.id)
    st.toast(t("compaction.forked", title=plain_label(title)), icon=":material/fork_right:")


def _undo_down_to(session_id: str, info: CompactionInfo) -> None:
    """Takes back what the fork copied of the compactions after `info`."""
    work = engine()
    while True:
        active = work.store.active_compaction(session_id)
        if active is None or active.compaction == info.compaction:
            return
        work.undo(session_id)
