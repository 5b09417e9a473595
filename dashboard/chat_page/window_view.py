"""Draws the window of the chat page: the strip above the input, and all details on demand.

Both can be redrawn in place while an answer streams.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ctxcore.assembly.context import Context
from ctxcore.engine.services import CallTarget
from ctxcore.store.values import CompactionInfo, SessionInfo
from dashboard.chat_page import actions, instructions_dialog, side
from dashboard.chat_page.strip import Strip, strip_of
from dashboard.chat_page.transcript import Transcript
from dashboard.compaction_dialog import compact_button, compaction_buttons
from dashboard.dialogs import DETAILS
from dashboard.texts import t
from dashboard.window_panel import TriggerLevel, window_panel


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCall:
    """The next or the running call of a session."""

    target: CallTarget
    context: Context
    level: TriggerLevel | None
    """What the trigger compares; None stands for the whole input of the context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowView:
    """The places of the page where the window stands."""

    strip: Strip
    slot: DeltaGenerator
    panel: DeltaGenerator
    level: TriggerLevel | None

    def draw(self, context: Context, reply_tokens: int = 0) -> None:
        """Draws the window; `reply_tokens` are those of a running answer."""
        self.strip.draw(self.slot, context, reply_tokens)
        with self.panel.container():
            window_panel(context, self.level, reply_tokens=reply_tokens)


def draw_window(
    session: SessionInfo,
    call: NextCall | None,
    transcript: Transcript,
    compactions: list[CompactionInfo],
    *,
    is_running: bool,
) -> WindowView | None:
    """Draws the strip with its buttons; None where there is no context to draw."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="chat_strip"):
        with st.container(key="chat_strip_bar"):
            slot = st.empty()
        compact_button(session, page="chat", is_disabled=is_running)
        panel = _details(session, transcript, compactions, is_running=is_running)
    if call is None:
        return None
    strip = strip_of(call.target, call.level, transcript)
    view = WindowView(strip=strip, slot=slot, panel=panel, level=call.level)
    view.draw(call.context)
    return view


def _details(
    session: SessionInfo,
    transcript: Transcript,
    compactions: list[CompactionInfo],
    *,
    is_running: bool,
) -> DeltaGenerator:
    """Draws what the strip has no room for, in a popover; returns the place of the window."""
    with st.popover(
        t("chat.strip.details"),
        icon=":material/data_usage:",
        key=DETAILS,
        on_change="rerun",  # so that a dialog can close it
    ):
        panel = st.empty()
        compaction_buttons(
            session,
            compactions,
            page="chat",
            problem=actions.PROBLEM,
            is_disabled=is_running,
            with_compact=False,
        )
        instructions_dialog.draw_button(session, is_disabled=is_running)
        side.draw_pinned(session, transcript.pinned)
    return panel
