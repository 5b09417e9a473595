"""Draws hints: what costs tokens in this session, with the money and the place."""

from __future__ import annotations

import streamlit as st

from ctxcore.formats.hints import Hint
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.reads import calls_of, session_hints
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.widgets import Row, choosable_table, csv_button
from dashboard.wording import reason_sentence

MOST_MESSAGES = 3_000  # chosen, as the next: read and judged in a fraction of a second
MOST_CALLS = 300
SHOWN = 20  # chosen: a screen; the CSV has all of them


def show_hints(session: SessionInfo) -> None:
    """Draws the hints, those with the most tokens first; nothing where there are none.

    In a long session they are found on request: all of it is read.
    """
    if _is_long(session) and not _asked(session):
        return
    with st.spinner(t("usage.counting")):
        hints = session_hints(session)
    if not hints:
        if _is_long(session):
            st.caption(t("usage.hints.none"))
        return
    if not _is_long(session):
        st.subheader(t("usage.hints"))
    st.caption(t("usage.hints.told" if calls_of(session) else "usage.hints.told.uncalled"))
    rows = [hint_row(hint) for hint in hints]
    chosen = choosable_table(rows[:SHOWN], key="usage_hints_table", alt=t("usage.hints"))
    csv_button(rows, key="usage_hints_csv", name="hints.csv")
    if chosen is None:
        return
    st.caption(plain_label(reason_sentence(hints[chosen].reason), max_chars=600))
    if (at := hints[chosen].at) is not None:
        label = t("common.open_message", seq=f"{at + 1:,}")
        place_link(session.id, "m", at + 1, label=label, icon=":material/chat:")


def _is_long(session: SessionInfo) -> bool:
    return session.length > MOST_MESSAGES or len(calls_of(session)) > MOST_CALLS


def _asked(session: SessionInfo) -> bool:
    """Draws the button; whether it was clicked for this session."""
    st.subheader(t("usage.hints"))
    key = f"usage_hints_wanted_{session.id}"
    if st.session_state.get(key):
        return True
    if st.button(t("usage.hints.find"), key="usage_hints_find", icon=":material/search:"):
        st.session_state[key] = True
        return True
    return False


def hint_row(hint: Hint) -> Row:
    """A row of the table."""
    return {
        t("common.segment.tokens"): hint.tokens,
        t("usage.figure.cost"): numbers.money(hint.dollars),
        t("usage.hints.hint"): reason_sentence(hint.reason),
        t("usage.message"): None if hint.at is None else hint.at + 1,
    }
