"""The buttons that compact, undo and redo, as several pages have them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.store.values import CompactionInfo, SessionInfo
from dashboard.compaction_dialog.proposing import open_compaction
from dashboard.reads import can_redo
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors


def compaction_buttons(
    session: SessionInfo,
    compactions: Sequence[CompactionInfo],
    *,
    page: str,
    problem: str,
    is_disabled: bool = False,
    is_primary: bool = False,
    with_compact: bool = True,
) -> None:
    """Draws compact, undo and redo; `page` prefixes their keys, `problem` keeps their errors.

    `with_compact` is false where the page has the first one in another place.
    """
    active_id = session.active_compaction_id
    with st.container(horizontal=True, gap="xsmall", key=f"{page}_compact_buttons"):
        if with_compact:
            compact_button(session, page=page, is_disabled=is_disabled, is_primary=is_primary)
        st.button(
            t("common.undo"),
            key=f"{page}_undo",
            icon=":material/undo:",
            help=t("compact.undo_help"),
            disabled=is_disabled or active_id is None,
            on_click=_undo,
            args=(session.id, problem),
        )
        st.button(
            t("compact.redo"),
            key=f"{page}_redo",
            icon=":material/redo:",
            help=t("compact.redo_help"),
            disabled=is_disabled or not can_redo(compactions, active_id),
            on_click=_redo,
            args=(session.id, problem),
        )


def compact_button(
    session: SessionInfo, *, page: str, is_disabled: bool = False, is_primary: bool = False
) -> None:
    """Draws the button that opens the dialog; `page` prefixes its key."""
    st.button(
        t("compact.open"),
        key=f"{page}_compact",
        type="primary" if is_primary else "secondary",
        icon=":material/compress:",
        shortcut="Ctrl+K",
        disabled=is_disabled or not session.length,
        on_click=open_compaction,
        args=(session.id,),
    )


def _undo(session_id: str, problem: str) -> None:
    with report_errors(problem):
        undo_compaction(session_id)


def _redo(session_id: str, problem: str) -> None:
    with report_errors(problem):
        redo_compaction(session_id)


def undo_compaction(session_id: str) -> bool:
    """Undoes the active compaction and says so; False if there is none."""
    is_undone = engine().undo(session_id) is not None
    if is_undone:
        st.toast(t("compact.undone"), icon=":material/undo:")
    return is_undone


def redo_compaction(session_id: str) -> bool:
    """Applies the undone compaction again and says so; False if there is none."""
    is_redone = engine().redo(session_id) is not None
    if is_redone:
        st.toast(t("compact.redone"), icon=":material/redo:")
    return is_redone
