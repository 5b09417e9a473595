"""Draws the alerts, and the form of what operators want to be told; also the badge beside it."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.alerts import AlertRules
from ctxcore.store.values import Alert
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.scope_choice import user_names
from dashboard.texts import t
from dashboard.widgets import empty_state, report_errors, show_problem, show_value
from dashboard.wording import reason_sentence

_PROBLEM = "reports_alerts_problem"
_LIMITS = ("day_dollars", "month_dollars")
_SWITCHES = ("failed_summaries", "rules_lost")
SHOWN = 50  # chosen: the command lists more
PAGE = "../pages/reports.py"


def show_alerts() -> None:
    """Draws the list, newest first, and the form."""
    show_problem(_PROBLEM)
    alerts = engine().reports.alerts()
    unseen = [one for one in alerts if one.seen_at is None]
    if not alerts:
        empty_state(t("reports.alerts.empty"), icon=":material/notifications_none:")
    if len(unseen) > 1:
        st.button(
            t("reports.alerts.see_all", count=len(unseen)),
            key="reports_alerts_see",
            icon=":material/done_all:",
            on_click=_see,
            args=([one.id for one in unseen],),
        )
    names = user_names()
    for alert in alerts[:SHOWN]:
        _alert(alert, names)
    if len(alerts) > SHOWN:
        st.caption(t("compaction.newest", count=SHOWN))
    _form(engine().reports.alert_rules())


def show_badge() -> None:
    """Draws a link to the alerts where there are some that no operator has seen."""
    if count := engine().reports.unseen_alerts():
        st.page_link(
            PAGE,
            label=t("reports.alerts.badge", count=f"{count:,}"),
            icon=":material/notifications_active:",
            query_params={"view": "alerts"},
        )


def _alert(alert: Alert, names: dict[str, str]) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"reports_alert_{alert.id}"
    ):
        icon = "notifications_active" if alert.seen_at is None else "notifications_none"
        text = plain_label(reason_sentence(alert.reason), max_chars=600)
        st.markdown(f":material/{icon}: {alert.created_at:%Y-%m-%d %H:%M} · {text}")
        if alert.session_id is not None:
            st.page_link(
                "../pages/compaction.py" if _is_of_compaction(alert) else "../pages/usage.py",
                label=t("reports.alerts.session", who=plain_label(_who(alert, names))),
                icon=":material/open_in_new:",
                query_params={"session": alert.session_id},
            )
        if alert.seen_at is None:
            st.button(
                t("reports.alerts.see"),
                key=f"reports_alert_{alert.id}_see",
                icon=":material/check:",
                on_click=_see,
                args=([alert.id],),
            )
        else:
            seen_by = names.get(alert.seen_by or "", alert.seen_by or "")
            st.caption(t("reports.alerts.seen", by=plain_label(seen_by)), width="content")


def _is_of_compaction(alert: Alert) -> bool:
    return not alert.cause.startswith("budget:")


def _who(alert: Alert, names: dict[str, str]) -> str:
    return names.get(alert.user_id, alert.user_id)


def _see(alert_ids: list[int]) -> None:
    with report_errors(_PROBLEM):
        engine().reports.see_alerts(alert_ids)


def _form(rules: AlertRules) -> None:
    """Draws what operators want to be told; every change is saved at once."""
    st.subheader(t("reports.alerts.rules"))
    st.caption(t("reports.alerts.rules.told"))
    for name in (*_LIMITS, *_SWITCHES):
        show_value(_key(name), getattr(rules, name))
    with st.container(horizontal=True, key="reports_alert_rules"):
        for name in _LIMITS:
            st.number_input(
                t(f"reports.alerts.{name}"),
                value=None,
                min_value=0.01,
                step=1.0,
                format="%.2f",
                placeholder=t("settings.none"),
                help=t(f"reports.alerts.{name}.help"),
                key=_key(name),
                on_change=_save,
                width=260,
            )
    for name in _SWITCHES:
        st.toggle(t(f"reports.alerts.{name}"), key=_key(name), on_change=_save)


def _save() -> None:
    given = {name: st.session_state[_key(name)] for name in (*_LIMITS, *_SWITCHES)}
    with report_errors(_PROBLEM):
        engine().reports.save_alert_rules(AlertRules(**given))
        st.toast(t("settings.saved"), icon=":material/check:")


def _key(name: str) -> str:
    return f"reports_alert_rule_{name}"
