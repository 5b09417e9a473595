"""Draws who changed which setting of which policy, from what to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ctxcore.store.values import PolicyChange
from dashboard.services import engine
from dashboard.settings.policy_changes import change_row
from dashboard.settings.scope_choice import scope_name, user_names
from dashboard.texts import t
from dashboard.widgets import Row, csv_button, empty_state, plain_table

MOST = 500  # chosen: drawn at once; the command prints more


def show_changes_made() -> None:
    """Draws the list, newest first."""
    me = engine().user()
    by = _author() if me.is_operator else None
    own = None if me.is_operator else me.id
    changes = engine().reports.changes(user_id=own, by=by, limit=MOST)
    rows = change_rows(changes, user_names())
    if not rows:
        empty_state(t("reports.changes.empty"), icon=":material/history:")
        return
    st.caption(t("reports.changes.told" if me.is_operator else "reports.changes.own"))
    plain_table(rows, alt=t("reports.view.changes"))
    csv_button(rows, key="reports_changes_csv", name="changes.csv")
    if len(changes) == MOST:
        st.caption(t("compaction.newest", count=MOST))


def change_rows(changes: Sequence[PolicyChange], names: Mapping[str, str]) -> list[Row]:
    """A row for each field of each version."""
    return [
        {
            t("reports.at"): f"{change.version.created_at:%Y-%m-%d %H:%M}",
            t("reports.by"): names.get(change.version.created_by, change.version.created_by),
            t("settings.deviations.who"): scope_name(change.version.scope, names),
            **change_row(field),
        }
        for change in changes
        for field in change.fields
    ]


def _author() -> str | None:
    """The choice of who made the changes."""
    names, authors = user_names(), engine().reports.authors()
    if len(authors) < 2:
        return None
    chosen = st.selectbox(
        t("reports.by"),
        ["", *authors],
        format_func=lambda user_id: names.get(user_id, user_id or t("reports.user.all")),
        key="reports_changes_by",
        width=300,
    )
    return str(chosen) or None
