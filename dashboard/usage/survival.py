"""Draws the survival map: which message each call saw whole, shortened, summarized or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.store.values import CallInfo, SessionInfo
from dashboard.addresses import place_link
from dashboard.reads import runs_of
from dashboard.texts import t
from dashboard.usage.survival_rows import (
    Survival,
    sampled_calls,
    survival_figure,
    survival_of,
)
from dashboard.widgets import CONFIG


def show_survival(session: SessionInfo, calls: Sequence[CallInfo]) -> None:
    """Draws the map once its section is opened; nothing where no call recorded verdicts."""
    sampled = sampled_calls(calls)
    if not sampled:
        return
    label = t("usage.survival")
    with st.expander(
        label, key="usage_survival", icon=":material/grid_on:", on_change="rerun"
    ) as it:
        if not it.open:
            return
        with st.spinner(t("context.working")):
            runs = runs_of(session, [call.id for call in sampled.values()])
            found = survival_of({number: runs.get(call.id, ()) for number, call in sampled.items()})
        if found.cells:
            _map(session, found, is_sampled=len(found.calls) < len(calls))


def _map(session: SessionInfo, survival: Survival, *, is_sampled: bool) -> None:
    first, last = survival.rows[0]
    told = t(
        "usage.survival.told",
        calls=f"{len(survival.calls):,}",
        messages=f"{survival.rows[-1][1]:,}",
        size=f"{last - first + 1:,}",
    )
    st.caption(f"{told} {t('usage.survival.sampled')}" if is_sampled else told)
    names = {kind: t(f"usage.verdict.{kind}") for kind in get_args(VerdictKind)}
    figure = survival_figure(
        survival, names=names, call=t("usage.call"), messages=t("usage.messages")
    )
    st.plotly_chart(
        figure,
        key=f"usage_survival_{session.id}",
        alt=t("usage.survival.alt"),
        config=dict(CONFIG),
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="usage_survival_open"):
        seq = int(
            st.number_input(
                t("usage.survival.message"),
                1,
                survival.rows[-1][1],
                step=1,
                key=f"usage_survival_message_{session.id}",
                width=220,
            )
        )
        label = t("common.open_message", seq=f"{seq:,}")
        place_link(session.id, "m", seq, label=label, icon=":material/chat:")
