"""Callbacks of the sessions page, and the messages about their results."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SessionInfo
from dashboard.safe_markdown import plain_label
from dashboard.selection import select_session
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import choice_key, report_errors, show_problem

_DELETED = "sessions_just_deleted"
_PURGE = "sessions_to_purge"
_PROBLEM = "sessions_problem"


def rename(session_id: str, key: str) -> None:
    """Saves the title that was typed."""
    with report_errors(_PROBLEM):
        engine().rename(session_id, str(st.session_state[key]).strip())


def fork(session: SessionInfo, title: str) -> None:
    """Copies the whole session and selects the copy."""
    with report_errors(_PROBLEM):
        select_session(engine().fork(session.id, session.length - 1, title=title).id)
        st.toast(t("sessions.forked", title=plain_label(title)), icon=":material/fork_right:")


def delete(session_id: str, title: str) -> None:
    """Hides the session; the page then offers to restore it."""
    with report_errors(_PROBLEM):
        engine().delete(session_id)
        st.session_state[_DELETED] = (session_id, title)


def restore(session_id: str) -> None:
    """Restores a deleted session and selects it."""
    with report_errors(_PROBLEM):
        engine().restore(session_id)
        st.session_state.pop(_DELETED, None)
        st.session_state[choice_key("sessions_list")] = session_id
        select_session(session_id)
        st.toast(t("sessions.restored"), icon=":material/restore_from_trash:")


def assign(session_id: str, key: str) -> None:
    """Gives the session to the user that was picked."""
    user_id = str(st.session_state[key])
    with report_errors(_PROBLEM):
        engine().assign(session_id, user_id)
        st.toast(t("sessions.assigned", user=plain_label(user_id)), icon=":material/person:")


def ask_purge(session_id: str, title: str) -> None:
    """Opens the dialog that asks whether to erase a session."""
    st.session_state[_PURGE] = (session_id, title)


def purge_dialog() -> None:
    """Draws that dialog if it is open."""
    if (question := st.session_state.get(_PURGE)) is None:
        return
    draw = st.dialog(t("sessions.purge"), on_dismiss=_close_purge)(_purge_body)
    draw(*question)


def show_outcome() -> None:
    """Draws a problem, or the deleted session with a button to restore it."""
    show_problem(_PROBLEM)
    if (deleted := st.session_state.get(_DELETED)) is None:
        return
    session_id, title = deleted
    with st.container(
        horizontal=True, border=True, vertical_alignment="center", key="sessions_deleted_note"
    ):
        st.markdown(t("sessions.deleted", title=plain_label(title)))
        st.button(
            t("common.undo"),
            key="sessions_undo_delete",
            icon=":material/undo:",
            on_click=restore,
            args=(session_id,),
        )
        st.button(
            t("sessions.dismiss"),
            key="sessions_dismiss",
            type="tertiary",
            on_click=lambda: st.session_state.pop(_DELETED, None),
        )


def _purge_body(session_id: str, title: str) -> None:
    st.warning(t("sessions.purge.sure", title=plain_label(title)), icon=":material/warning:")
    with st.container(horizontal=True, key="sessions_purge_buttons"):
        st.button(
            t("sessions.purge.confirm"),
            key="sessions_purge_confirm",
            type="primary",
            on_click=_purge,
            args=(session_id,),
        )
        st.button(t("common.cancel"), key="sessions_purge_cancel", on_click=_cancel_purge)


def _purge(session_id: str) -> None:
    with report_errors(_PROBLEM):
        engine().purge(session_id)
    st.session_state.pop(_DELETED, None)
    _cancel_purge()


def _cancel_purge() -> None:
    _close_purge()
    st.rerun()


def _close_purge() -> None:
    st.session_state.pop(_PURGE, None)
