"""Draws the views of the reports page."""

from __future__ import annotations

import streamlit as st

from dashboard.reports_page.alerts import show_alerts
from dashboard.reports_page.audit import show_audit
from dashboard.reports_page.changes import show_changes_made
from dashboard.reports_page.effects import show_effects
from dashboard.reports_page.savings import show_savings
from dashboard.reports_page.shadow import show_shadow
from dashboard.services import engine
from dashboard.texts import t

VIEWS = ("savings", "effects", "shadow", "changes", "audit")
OPERATOR_VIEWS = (*VIEWS, "alerts")


def show_reports() -> None:
    """Draws the selected view."""
    is_operator = engine().user().is_operator
    views = OPERATOR_VIEWS if is_operator else VIEWS
    _follow_address(views)
    view = st.segmented_control(
        t("reports.view"),
        views,
        required=True,
        format_func=lambda name: t(f"reports.view.{name}"),
        label_visibility="collapsed",
        key="reports_view",
    )
    if not is_operator:
        st.caption(t("reports.own"))
    match view:
        case "effects":
            show_effects()
        case "shadow":
            show_shadow()
        case "changes":
            show_changes_made()
        case "audit":
            show_audit()
        case "alerts":
            show_alerts()
        case _:
            show_savings()


def _follow_address(views: tuple[str, ...]) -> None:
    """Opens the view that the address names, once: `/reports?view=alerts`."""
    if st.session_state.get("reports_view") not in views:
        st.session_state["reports_view"] = views[0]
    named = st.query_params.get("view")
    if named in views and st.session_state.get("reports_view_followed") != named:
        st.session_state["reports_view"] = named
    st.session_state["reports_view_followed"] = named
