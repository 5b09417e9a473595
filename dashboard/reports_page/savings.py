"""Draws what compactions saved: by month, user and version of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ctxcore.engine.savings import Saving, total_saving
from dashboard import numbers
from dashboard.reports_page.charts import monthly_savings
from dashboard.reports_page.people import pick_user
from dashboard.services import engine
from dashboard.settings.scope_choice import scope_name, user_names
from dashboard.texts import t
from dashboard.widgets import Row, chart, csv_button, empty_state, plain_table

MOST_VERSIONS = 2_000  # chosen: more than anybody saves; older ones are shown by number


def show_savings() -> None:
    """Draws the sums, a chart by month, and the table."""
    user = pick_user("reports_savings_user")
    savings = engine().reports.savings(user)
    if not savings:
        empty_state(t("reports.savings.empty"), icon=":material/savings:")
        return
    total = total_saving(savings)
    _sums(total)
    st.caption(t("reports.savings.told"))
    _gaps(total)
    _months(savings)
    names = user_names()
    versions = _versions(user, names)
    rows = [saving_row(one, names, versions) for one in savings]
    plain_table(rows, alt=t("reports.view.savings"))
    csv_button([saving_csv(one) for one in savings], key="reports_savings_csv", name="savings.csv")


def _sums(total: Saving) -> None:
    figures = (
        ("net", numbers.money(total.net_dollars)),
        ("unsent", numbers.short_tokens(total.unsent_tokens)),
        ("unsent_dollars", numbers.money(total.unsent_dollars)),
        ("summary_dollars", numbers.money(_cost(total.summary_dollars))),
        ("rewritten_dollars", numbers.money(_cost(total.rewritten_dollars))),
    )
    with st.container(horizontal=True, key="reports_savings_sums"):
        for name, value in figures:
            st.metric(
                t(f"reports.savings.{name}"),
                value,
                help=t(f"reports.savings.{name}.help"),
                width=170,
            )


def _gaps(total: Saving) -> None:
    """Says what the sums leave out."""
    if unknown := total.calls - total.compared_calls:
        st.caption(t("reports.savings.unknown", count=f"{unknown:,}", calls=f"{total.calls:,}"))
    if total.net_dollars is None:
        st.caption(t("reports.savings.unpriced"))


def _months(savings: Sequence[Saving]) -> None:
    """Draws the money by month, where all prices are known, else the tokens."""
    months = sorted({one.month or "" for one in savings})
    sums = {month: total_saving([one for one in savings if one.month == month]) for month in months}
    if len(months) < 2:
        return
    is_priced = all(one.net_dollars is not None for one in sums.values())
    names = {name: t(f"reports.savings.{name}") for name in ("unsent", "summaries", "rewritten")}
    figure = monthly_savings(
        sums,
        names=names,
        in_dollars=is_priced,
        axis=t("reports.dollars" if is_priced else "common.tokens"),
    )
    rows: list[Row] = [
        {
            t("reports.month"): month,
            t("reports.savings.net"): numbers.money(one.net_dollars),
            t("reports.savings.unsent"): one.unsent_tokens,
        }
        for month, one in sums.items()
    ]
    chart(figure, rows, key="reports_savings_months", alt=t("reports.savings.months"))


def _versions(user: str | None, names: Mapping[str, str]) -> dict[int, str]:
    """The names of versions of policies by id: whose they are, and their numbers."""
    changes = engine().reports.changes(user_id=user, limit=MOST_VERSIONS)
    return {
        change.version.id: t(
            "reports.version",
            who=scope_name(change.version.scope, names),
            number=change.version.version,
        )
        for change in changes
    }


def saving_row(one: Saving, names: Mapping[str, str], versions: Mapping[int, str]) -> Row:
    """A row of the table; a version that has no name is shown by its number in the store."""
    user, version = one.user_id or "", one.policy_version_id
    name = t("usage.signals.unsaved") if version is None else versions.get(version, f"#{version}")
    return {
        t("reports.month"): one.month,
        t("reports.user"): names.get(user, user),
        t("usage.signals.policy"): name,
        t("usage.figure.calls"): one.calls,
        t("reports.savings.net"): numbers.money(one.net_dollars),
        t("reports.savings.unsent"): one.unsent_tokens,
        t("reports.savings.unsent_dollars"): numbers.money(one.unsent_dollars),
        t("reports.savings.summary_dollars"): numbers.money(_cost(one.summary_dollars)),
        t("reports.savings.rewritten_dollars"): numbers.money(_cost(one.rewritten_dollars)),
    }


def saving_csv(one: Saving) -> Row:
    """A row of the file, the same as `ctxcore savings --csv` prints."""
    return {**one.to_dict(), "net_tokens": one.net_tokens, "net_dollars": one.net_dollars}


def _cost(dollars: float | None) -> float | None:
    """What was paid, as a part of the sum."""
    return dollars if not dollars else -dollars
