"""Owns the tables of what was tried and changed nothing, and of what shadow mode foresaw."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.compactions_page.attempts import (
    FORESEEN,
    SHOWN,
    TRIED,
    Attempt,
    Plan,
    attempts,
    plans,
)
from dashboard.compactions_page.labels import strategy_label
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.tell import tell_recorded
from dashboard.texts import t
from dashboard.widgets import Row, plain_table


def show_plans(session: SessionInfo) -> None:
    """What a policy in shadow mode would have done; nothing where there is nothing to tell."""
    is_shadow = engine().policy(session.id).policy.is_shadow
    events = engine().store.last_events(session.id, FORESEEN, limit=SHOWN)
    if not is_shadow and not events:
        return
    st.subheader(t("compaction.planned"))
    st.caption(t("compaction.planned.on" if is_shadow else "compaction.planned.off"))
    if not events:
        st.caption(t("compaction.planned.none"))
        return
    plain_table([_plan_row(one) for one in plans(events)], alt=t("compaction.planned"))
    _bounded(events)


def show_attempts(session: SessionInfo) -> None:
    """What was tried and changed nothing."""
    events = engine().store.last_events(session.id, TRIED, limit=SHOWN)
    st.subheader(t("compaction.tried"))
    if not events:
        st.caption(t("compaction.tried.none"))
        return
    tried = attempts(events)
    plain_table([_attempt_row(one) for one in tried], alt=t("compaction.tried"))
    _bounded(events)
    newest = plain_label(tell_recorded(tried[0].reason), max_chars=400)
    st.caption(t("compaction.tried.newest", reason=newest))


def _bounded(events: Sequence[object]) -> None:
    if len(events) == SHOWN:
        st.caption(t("compaction.newest", count=SHOWN))


def _attempt_row(one: Attempt) -> Row:
    return {
        t("compaction.when"): _when(one.at),
        t("compaction.outcome"): t(
            "compaction.outcome.failed" if one.has_failed else "compaction.outcome.skipped"
        ),
        t("compaction.trigger"): tell_recorded(one.trigger),
        t("compaction.strategies"): strategy_label(*one.strategies),
        t("usage.seconds"): one.seconds,
        t("usage.figure.cost"): "" if one.cost is None else numbers.money(one.cost),
        t("usage.reason"): tell_recorded(one.reason),
    }


def _plan_row(one: Plan) -> Row:
    return {
        t("compaction.when"): _when(one.at),
        t("compaction.trigger"): tell_recorded(one.trigger),
        t("compaction.strategies"): strategy_label(*one.strategies),
        t("common.segment.before"): one.before_tokens,
        t("compaction.expected"): one.expected_tokens,
        t("compaction.saved"): numbers.percent(one.saved_ratio, 1),
        t("compaction.messages"): one.messages,
    }


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
