"""Draws a running turn: its answer as it streams, and the window as it fills.

Drawing stops when the turn ends or the page is left; the turn itself keeps running.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.tokens.count import count_tokens
from dashboard.chat_page.turn_runner import RunningTurn
from dashboard.shown_texts import newest_part, show_text, write_text
from dashboard.texts import t

PANEL_SECONDS = 1.0  # chosen: between redraws of the window while an answer streams

DrawWindow = Callable[[Context, int], None]


def draw_user_message(text: str) -> None:
    """Draws what the user just sent."""
    if text:
        with st.chat_message("user"):
            show_text(text, key="chat_said_all")


def follow(turn: RunningTurn, session_id: str, draw_window: DrawWindow | None) -> None:
    """Draws the running answer in the current container until it ends or leaves the session."""
    with st.chat_message("assistant"):
        answer, activity = st.empty(), st.empty()
    started = time.monotonic()
    window = _LiveWindow(turn, draw_window) if draw_window is not None else None
    answer_text = ""
    for chunk in turn.follow():
        if turn.session_id != session_id:
            return
        if chunk:
            answer_text += chunk
            write_text(newest_part(answer_text), answer)
        activity.caption(_activity(turn, time.monotonic() - started))
        if window is not None:
            window.update(answer_text)
    activity.empty()


def _activity(turn: RunningTurn, seconds: float) -> str:
    name = "stopping" if turn.is_stopping else turn.activity
    return t(f"chat.activity.{name}", seconds=f"{seconds:.0f}")


class _LiveWindow:
    """Redraws the window at most once per `PANEL_SECONDS`: counting the growing answer is slow."""

    def __init__(self, turn: RunningTurn, draw_window: DrawWindow) -> None:
        self._turn = turn
        self._draw = draw_window
        self._drawn_at: float | None = None

    def update(self, answer_text: str) -> None:
        """Redraws the window if the interval has passed."""
        context, now = self._turn.context, time.monotonic()
        if context is None or (self._drawn_at and now - self._drawn_at < PANEL_SECONDS):
            return
        self._drawn_at = now
        self._draw(context, count_tokens(answer_text) if answer_text else 0)
