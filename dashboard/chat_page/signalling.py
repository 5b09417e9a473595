"""Marks turns that repeat something, ask for it again or say so; people say whether it is right.

A signal that a person finds wrong is not drawn any more; the usage page still counts it.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SignalInfo
from dashboard.chat_page.actions import PROBLEM
from dashboard.chat_page.finding import open_message
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors


def draw_signal(signal: SignalInfo) -> None:
    """Draws what a message tells of forgetting, a way to the earlier one, and two answers."""
    if signal.is_right is False:
        return
    key = f"chat_signal_{signal.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key):
        st.caption(f":material/history: {told(signal)}", width="content")
        if signal.earlier:
            st.button(
                t("chat.signal.open", seq=signal.earlier[0]),
                key=f"{key}_open",
                type="tertiary",
                on_click=open_message,
                args=(signal.session_id, signal.earlier[0]),
            )
        if signal.is_right is None:
            _answer(signal, is_right=True)
        _answer(signal, is_right=False)


def told(signal: SignalInfo) -> str:
    """What a signal is, and what the context made of the earlier message."""
    fate = signal.verdict or "unknown"
    return t(f"signals.kind.{signal.kind}") + " · " + t(f"signals.verdict.{fate}")


def _answer(signal: SignalInfo, *, is_right: bool) -> None:
    name = "right" if is_right else "wrong"
    st.button(
        t(f"chat.signal.{name}"),
        key=f"chat_signal_{signal.id}_{name}",
        type="tertiary",
        icon=":material/check:" if is_right else ":material/close:",
        help=t(f"chat.signal.{name}.help"),
        on_click=judge,
        args=(signal.session_id, signal.id, is_right),
    )


@report_errors(PROBLEM)
def judge(session_id: str, signal_id: int, is_right: bool) -> None:
    """Records whether a person finds a signal right."""
    engine().judge_signal(session_id, signal_id, is_right=is_right)
