"""Draws the story of the message that the address names, under the transcript."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SessionInfo
from dashboard.addresses import is_asked_why
from dashboard.chat_page.finding import found, story_key
from dashboard.story import show_story
from dashboard.texts import t


def draw_story(session: SessionInfo) -> None:
    """Draws the story once it is opened; an address may ask for it."""
    if (seq := found(session)) is None:
        return
    key = story_key(session.id, seq)
    if is_asked_why():
        st.session_state[key] = True
    label = t("story", seq=f"{seq:,}")
    with st.expander(label, key=key, icon=":material/timeline:", on_change="rerun") as it:
        if it.open:
            show_story(session, seq, key=f"story_{session.id}_{seq}")
