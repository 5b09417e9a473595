"""The dialog: ways to compact side by side, the proposal of one, and the buttons that end it."""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.errors import LeaseTakenError
from dashboard.compaction_dialog import drawing, proposing
from dashboard.compaction_dialog.ways import show_ways
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.wording import error_text


def compaction_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if st.session_state.pop(proposing.DONE, False):  # a callback in the dialog cannot show a toast
        st.toast(t("compact.done"), icon=":material/check:")
    session_id = st.session_state.get(proposing.SESSION)
    if session_id is None:
        return
    on_dismiss = proposing.close_compaction
    draw = st.dialog(t("compact.title"), width="large", on_dismiss=on_dismiss)(_body)
    draw(session_id)


def _body(session_id: str) -> None:
    st.text_input(
        t("compact.focus"),
        key=proposing.FOCUS,
        placeholder=t("compact.focus_none"),
        help=t("compact.focus_help"),
        on_change=proposing.drop_proposal,
    )
    show_ways(session_id)
    try:
        proposal = proposing.current_proposal(session_id)
    except LeaseTakenError:
        st.info(t("compact.busy"), icon=":material/hourglass_top:")
        _buttons(can_confirm=False)
        return
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=600), icon=":material/error:")
        _buttons(can_confirm=False)
        return
    if (problem := st.session_state.get(proposing.PROBLEM)) is not None:
        st.warning(plain_label(problem, max_chars=400), icon=":material/sync_problem:")
    if proposal.record is None or proposal.after is None:
        st.info(drawing.why_nothing(proposal), icon=":material/info:")
        drawing.show_pins_made(session_id)
        _buttons(can_confirm=False)
        return
    edited = proposing.edited_proposal(proposal)
    drawing.show_comparison(edited)
    drawing.show_folded(proposal)
    drawing.show_facts(edited)
    drawing.show_summary_field(proposal, edited)
    drawing.show_pins_made(session_id)
    drawing.show_proposed_losses(proposal, edited)
    _buttons(can_confirm=problem is None)


def _buttons(*, can_confirm: bool) -> None:
    with st.container(horizontal=True, key="compact_buttons"):
        st.button(
            t("compact.confirm"),
            key="compact_confirm",
            type="primary",
            disabled=not can_confirm,
            on_click=proposing.confirm,
        )
        st.button(t("compact.refresh"), key="compact_refresh", on_click=proposing.refresh)
        st.button(t("common.cancel"), key="compact_cancel", on_click=_cancel)


def _cancel() -> None:
    proposing.close_compaction()
    st.rerun()
