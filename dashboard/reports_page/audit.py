"""Draws who read what others said, and who set which roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ctxcore.store.values import AuditRecord
from dashboard.selection import session_name
from dashboard.services import engine
from dashboard.settings.users import roles_text
from dashboard.texts import t
from dashboard.widgets import Row, csv_button, empty_state, plain_table

MOST = 500  # chosen: drawn at once; the command prints more


def show_audit() -> None:
    """Draws the records, newest first: all for operators, for others what concerns them."""
    me = engine().user()
    records = engine().people.audit(limit=MOST)
    st.caption(t("audit.told" if me.is_operator else "audit.own"))
    if not records:
        empty_state(t("reports.audit.empty"), icon=":material/visibility_off:")
        return
    titles = {} if me.is_operator else _own_titles(records)
    rows = audit_rows(records, engine().people.names(records), titles)
    plain_table(rows, alt=t("reports.view.audit"))
    csv_button(rows, key="reports_audit_csv", name="audit.csv")
    if len(records) == MOST:
        st.caption(t("compaction.newest", count=MOST))


def audit_rows(
    records: Sequence[AuditRecord], names: Mapping[str, str], titles: Mapping[str, str]
) -> list[Row]:
    """A row for each record; sessions have titles for their owner alone."""
    return [
        {
            t("reports.at"): f"{one.created_at:%Y-%m-%d %H:%M}",
            t("audit.who"): names.get(one.user_id, one.user_id),
            t("audit.action"): t(f"audit.action.{one.action}"),
            t("audit.whose"): _whose(one, names),
            t("audit.session"): _session(one, titles),
            t("audit.roles"): roles_text(
                is_operator=bool(one.is_operator), is_auditor=bool(one.is_auditor)
            )
            if one.is_operator is not None
            else "",
        }
        for one in records
    ]


def _whose(record: AuditRecord, names: Mapping[str, str]) -> str:
    if record.owner_id is None:
        return t("audit.everybody")
    return names.get(record.owner_id, record.owner_id)


def _session(record: AuditRecord, titles: Mapping[str, str]) -> str:
    if record.session_id is None:
        return ""
    return titles.get(record.session_id) or session_name(record.session_id)


def _own_titles(records: Sequence[AuditRecord]) -> dict[str, str]:
    """The titles of the user's own sessions, as far as they are still there."""
    named = {one.session_id for one in records}
    own = engine().people.sessions(engine().user_id, listed="all", limit=10_000)
    return {one.id: one.title for one in own if one.id in named}
