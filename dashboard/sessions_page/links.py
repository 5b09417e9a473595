"""Owns the links that lead from a listed session to the pages that show it."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SessionInfo
from dashboard.page_registry import PAGES
from dashboard.texts import t


def page_links(session: SessionInfo) -> None:
    """A link to every page that shows a session, with this one in hand there."""
    for page in PAGES.values():
        if not page.shows_session:
            continue
        st.page_link(
            str(page.file),
            label=t(page.title),
            icon=page.icon,
            query_params={"session": session.id},
        )
