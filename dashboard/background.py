"""Follows a compaction that runs in the background: shows a line, and redraws when it ends.

A fragment polls the engine only while there is work. After `MOST_SECONDS` polling stops and the
line asks to reload the page.
"""

from __future__ import annotations

import time

import streamlit as st

from dashboard.services import engine
from dashboard.texts import t

GRACE_SECONDS = 0.15  # chosen: most checks find nothing to do and end sooner
LOOK_SECONDS = 1.0  # chosen: the page updates soon after the end
MOST_SECONDS = 600.0  # chosen: longer than any summary takes

_BEGUN = "background_begun"


def is_busy(session_id: str) -> bool:
    """Whether a background compaction runs; call it before reading what a compaction may change."""
    busy = not engine().wait(session_id, GRACE_SECONDS)
    begun: dict[str, float] = st.session_state.setdefault(_BEGUN, {})
    if busy:
        begun.setdefault(session_id, time.monotonic())
    else:
        begun.pop(session_id, None)
    return busy


def watch(session_id: str) -> None:
    """Says that a compaction runs, and redraws the page when it has ended."""
    if _waited(session_id) < MOST_SECONDS:
        _look(session_id)
    else:
        st.caption(f":material/hourglass_bottom: {t('compact.background.long')}")


@st.fragment(run_every=LOOK_SECONDS)
def _look(session_id: str) -> None:
    if engine().wait(session_id, 0) or _waited(session_id) >= MOST_SECONDS:
        st.rerun()
    st.caption(f":material/hourglass_top: {t('compact.background')}")


def _waited(session_id: str) -> float:
    begun: dict[str, float] = st.session_state.get(_BEGUN, {})
    return time.monotonic() - begun.get(session_id, time.monotonic())
