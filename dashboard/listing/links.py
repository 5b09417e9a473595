"""Owns the links that lead from a listed session to the pages that show it."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SessionInfo
from dashboard.shell import PAGES
from dashboard.texts import t

_OF_ALL = ("sessions", "settings")  # pages that are about no single session


def page_links(session: SessionInfo) -> None:
    """A link to every page that shows a session, with this one in hand there."""
    for name, icon in PAGES:
        if name in _OF_ALL:
            continue
        st.page_link(
            f"../pages/{name}.py",
            label=t(f"shell.page.{name}"),
            icon=icon,
            query_params={"session": session.id},
        )
