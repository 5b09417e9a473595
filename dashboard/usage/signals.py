"""Draws the forgetting signals of a session, and of all sessions of its user by policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ctxcore.signals.values import SIGNAL_KINDS
from ctxcore.store.values import SessionInfo, SignalCounts, SignalInfo
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, plain_table


def show_signals(session: SessionInfo) -> None:
    """Draws the section; nothing where no turn of the user has a signal."""
    signals, counts = engine().signals(session.id), engine().signal_counts()
    if not any(_count(one) for one in counts) and not signals:
        return
    st.subheader(t("usage.signals"))
    st.caption(t("usage.signals.told"))
    if signals:
        plain_table(_of_session(signals), alt=t("usage.signals.session"))
    if rows := [_of_policy(one) for one in counts if one.turns]:
        st.caption(t("usage.signals.user"))
        plain_table(rows, alt=t("usage.signals.user"))


def _count(counts: SignalCounts) -> int:
    return counts.forgotten + counts.overlooked + counts.unplaced


def _of_session(signals: Sequence[SignalInfo]) -> list[Row]:
    """A row for each kind that there is, with what the context made of the earlier messages."""
    hidden = Counter(one.kind for one in signals if one.is_forgetting)
    shown = Counter(one.kind for one in signals if one.verdict == "kept")
    every = Counter(one.kind for one in signals)
    return [
        {
            t("usage.signals.kind"): t(f"signals.kind.{kind}"),
            t("usage.signals.count"): every[kind],
            t("usage.signals.forgotten"): hidden[kind],
            t("usage.signals.overlooked"): shown[kind],
        }
        for kind in SIGNAL_KINDS
        if every[kind]
    ]


def _of_policy(counts: SignalCounts) -> Row:
    judged = counts.right + counts.wrong
    version = counts.policy_version_id
    name = t("usage.signals.unsaved") if version is None else f"#{version}"
    return {
        t("usage.signals.policy"): name,
        t("usage.turns"): counts.turns,
        t("usage.signals.forgotten"): counts.forgotten,
        t("usage.signals.share"): round(100 * counts.forgetful_turns / counts.turns, 1),
        t("usage.signals.overlooked"): counts.overlooked,
        t("usage.signals.right"): f"{counts.right} / {judged}" if judged else "–",
    }
