"""Says that another process answers in the session, and offers to end that.

A turn of a process that has ended needs no person: it is marked as interrupted.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.store.holders import parse_holder
from ctxcore.store.values import LeaseInfo, SessionStamp
from dashboard.chat_page.actions import PROBLEM
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import draw_nothing, report_errors


def settle(session_id: str, stamp: SessionStamp) -> LeaseInfo | None:
    """Who answers in the session, where this process does not; None if nobody does any more."""
    if stamp.turn_state != "running":
        return None
    holder = engine().turn_holder(session_id)
    if holder is None:
        engine().interrupt_stale_turns()
    return holder


def has_ended(session_id: str, stamp: SessionStamp) -> bool:
    """Whether a turn that was drawn as running belongs to nobody any more."""
    return stamp.turn_state == "running" and engine().turn_holder(session_id) is None


def draw(session_id: str, holder: LeaseInfo | None) -> None:
    """Draws who answers, and the button that ends it."""
    if holder is None:
        draw_nothing()
        return
    process = parse_holder(holder.holder)
    said = t("chat.elsewhere.unknown")
    if process is not None:
        said = t("chat.elsewhere", pid=process.pid, host=plain_label(process.host))
    name = "chat_elsewhere"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=name):
        st.markdown(f":material/sync: {said}", width="content")
        st.button(
            t("chat.elsewhere.take_over"),
            key="chat_take_over",
            icon=":material/stop:",
            help=t("chat.elsewhere.take_over.help"),
            on_click=_take_over,
            args=(session_id,),
        )


@report_errors(PROBLEM)
def _take_over(session_id: str) -> None:
    engine().take_over(session_id)
