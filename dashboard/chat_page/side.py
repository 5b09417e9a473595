"""Draws what stands beside the chat input: the last failure, pinned messages."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.events import COMPACTED, FAILED, INPUT_CUT
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.chat_page import actions
from dashboard.reads import reason_in
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import draw_nothing
from dashboard.wording import reason_text


def draw_failure(session: SessionInfo) -> None:
    """Draws why the last compaction failed, unless one was recorded since."""
    newest = engine().store.last_events(session.id, (COMPACTED, FAILED), limit=1)
    if newest and newest[0].kind == FAILED:
        reason = plain_label(reason_text(reason_in(newest[0].body, "reason")), max_chars=200)
        st.caption(f":material/warning: {t('compact.failed', reason=reason)}")
    else:
        draw_nothing()


def draw_cut(session: SessionInfo) -> None:
    """Draws a warning where the provider counted far less than the last turn sent."""
    turn = engine().store.last_turn(session.id)
    newest = engine().store.last_events(session.id, (INPUT_CUT,), limit=1)
    if turn is None or not newest or newest[0].body.get("turn_id") != turn.id:
        draw_nothing()
        return
    sent, reported = (newest[0].body.get(name) for name in ("sent_tokens", "reported_tokens"))
    st.warning(
        t(
            "chat.input_cut",
            sent=numbers.tokens(sent if isinstance(sent, int) else None, is_exact=False),
            reported=numbers.tokens(reported if isinstance(reported, int) else None),
        ),
        icon=":material/content_cut:",
    )


def draw_pinned(session: SessionInfo, pinned: frozenset[int]) -> None:
    """Draws the pinned messages, each with a button that unpins it."""
    if not pinned:
        return
    st.markdown(f"**{t('chat.pinned')}**")
    for seq in sorted(pinned):
        info = engine().store.messages(session.id, seq, seq)[0]
        with st.container(horizontal=True, vertical_alignment="center", key=f"chat_pin_{seq}"):
            st.caption(f"#{seq} {plain_label(info.message.text, max_chars=90)}", width="stretch")
            st.button(
                t("chat.action.unpin"),
                key=f"chat_unpin_{seq}",
                type="tertiary",
                on_click=actions.unpin,
                args=(session.id, seq),
            )
