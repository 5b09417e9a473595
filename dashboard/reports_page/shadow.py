"""Draws what policies in shadow mode would have done, and switches them on."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from ctxcore.engine.shadow import SWITCH, ShadowResult
from ctxcore.policy.changes import changed_fields
from dashboard import numbers
from dashboard.policy_saving import save_from_button, show_saved
from dashboard.reports_page.people import pick_user
from dashboard.services import engine
from dashboard.settings.policy_changes import show_changes
from dashboard.settings.scope_choice import saved_text, scope_name, user_names
from dashboard.texts import t
from dashboard.widgets import Row, csv_button, empty_state, plain_table

_PLACE = "reports_shadow"


def show_shadow() -> None:
    """Draws the results, and what switching on would change."""
    show_saved(_PLACE, saved_text)
    user = pick_user("reports_shadow_user")
    results = engine().reports.shadow(user)
    names = user_names()
    if not results:
        empty_state(t("reports.shadow.empty"), icon=":material/visibility_off:")
    else:
        st.caption(t("reports.shadow.told"))
        plain_table([result_row(one, names) for one in results], alt=t("reports.view.shadow"))
        csv_button(
            [{**one.to_dict(), "saved_tokens": one.saved_tokens} for one in results],
            key="reports_shadow_csv",
            name="shadow.csv",
        )
    _switches(user or _someone(results, names), names)


def result_row(one: ShadowResult, names: Mapping[str, str]) -> Row:
    """A row of the table."""
    return {
        t("reports.user"): names.get(one.user_id, one.user_id),
        t("reports.shadow.when"): f"{one.first_at:%Y-%m-%d} – {one.last_at:%Y-%m-%d}",
        t("usage.signals.sessions"): one.sessions,
        t("reports.shadow.compactions"): one.compactions,
        t("reports.shadow.calls"): one.next_calls,
        t("reports.shadow.without"): one.without_tokens,
        t("reports.shadow.with"): one.with_tokens,
        t("reports.shadow.facts_lost"): one.facts_lost,
        t("reports.shadow.rules_lost"): one.rules_lost,
        t("reports.savings.net"): numbers.money(one.dollars),
    }


def _someone(results: list[ShadowResult], names: Mapping[str, str]) -> str | None:
    """The user whose policy can be switched on, where results of several are shown."""
    found = [one.user_id for one in results]
    if len(found) <= 1:
        return found[0] if found else None
    return str(
        st.selectbox(
            t("reports.shadow.whose"),
            found,
            format_func=lambda user_id: names.get(user_id, user_id),
            key="reports_shadow_whose",
            width=300,
        )
    )


def _switches(user: str | None, names: Mapping[str, str]) -> None:
    """Draws a preview and a button for each scope that sets shadow mode."""
    if user is None:
        return
    for switch in engine().reports.shadow_switches(user):
        who = scope_name(switch.scope, names)
        with st.container(border=True, key=f"reports_switch_{switch.scope.kind}"):
            st.markdown(t("reports.shadow.switch", who=who))
            changes = changed_fields({SWITCH: True}, {SWITCH: False})  # what will be in force
            show_changes(changes, alt=t("reports.shadow.preview"))
            st.button(
                t("reports.shadow.on", who=who),
                key=f"reports_switch_{switch.scope.kind}_on",
                type="primary",
                icon=":material/play_arrow:",
                on_click=save_from_button,
                args=(switch.scope, switch.after, _PLACE),
            )
