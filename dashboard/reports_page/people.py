"""The choice of whose figures a report shows: one's own, or for operators those of any user."""

from __future__ import annotations

import streamlit as st

from dashboard.services import engine
from dashboard.settings.scope_choice import user_names
from dashboard.texts import t

_ALL = ""


def pick_user(key: str) -> str | None:
    """Draws the choice for operators; returns a user's id, or None for all."""
    me = engine().user()
    if not me.is_operator:
        return me.id
    names = user_names()
    if len(names) == 1:
        return None
    chosen = st.selectbox(
        t("reports.user"),
        [_ALL, *names],
        format_func=lambda user_id: names.get(user_id, t("reports.user.all")),
        key=key,
        width=300,
    )
    return str(chosen) or None
