"""Draws the views of the settings page."""

from __future__ import annotations

import streamlit as st

from dashboard.selection import save_language
from dashboard.settings.assigning import show_assigning
from dashboard.settings.connections import show_connections
from dashboard.settings.models import show_figures
from dashboard.settings.policy_file import show_policy_file
from dashboard.settings.thresholds import show_thresholds
from dashboard.settings.users import show_users
from dashboard.texts import language, language_name, languages, t
from dashboard.widgets import show_value

VIEWS = ("thresholds", "assigning", "file", "connections", "models", "users", "language")


def show_settings() -> None:
    """Draws the selected view."""
    view = st.segmented_control(
        t("settings.view"),
        VIEWS,
        default="thresholds",
        required=True,
        format_func=lambda name: t(f"settings.view.{name}"),
        label_visibility="collapsed",
        key="settings_view",
    )
    if view == "assigning":
        show_assigning()
    elif view == "file":
        show_policy_file()
    elif view == "connections":
        show_connections()
    elif view == "models":
        show_figures()
    elif view == "users":
        show_users()
    elif view == "language":
        _language()
    else:
        show_thresholds()
        st.page_link(
            "../pages/reports.py",
            label=t("reports.effects.link"),
            icon=":material/assessment:",
            query_params={"view": "effects"},
        )


def _language() -> None:
    show_value("settings_language", language())
    st.radio(
        t("settings.language"),
        languages(),
        format_func=language_name,
        key="settings_language",
        on_change=_language_picked,
    )
    st.caption(t("settings.language.told"))


def _language_picked() -> None:
    save_language(st.session_state["settings_language"])
