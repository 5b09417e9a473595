"""Draws the compaction page: buttons, history, detail, plans and failed attempts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from ctxcore.store.values import ImportedCompaction, SessionInfo
from dashboard import numbers
from dashboard.addresses import follow, name_choice
from dashboard.compaction_dialog import compaction_buttons
from dashboard.compactions_page.detail import NOTICE, show_detail
from dashboard.compactions_page.generations import show_generations
from dashboard.compactions_page.rows import (
    FORESEEN,
    SHOWN,
    TRIED,
    Attempt,
    CompactionRow,
    Plan,
    attempts,
    compaction_rows,
    plans,
)
from dashboard.reads import recorded
from dashboard.safe_markdown import plain_label
from dashboard.selection import session_title
from dashboard.services import engine
from dashboard.story import show_question
from dashboard.texts import t
from dashboard.widgets import (
    Row,
    choice_key,
    empty_state,
    plain_table,
    show_problem,
    table_with_choice,
)
from dashboard.wording import name_text, reason_text, strategy_label


def show_compactions(session: SessionInfo) -> None:
    """Draws the page for one session."""
    st.caption(plain_label(session_title(session)))
    session = engine().session(session.id)
    found = recorded(session)
    rows = compaction_rows(found.compactions, session.active_compaction_id)
    show_problem(NOTICE, is_notice=True)
    compaction_buttons(
        session, found.compactions, page="compaction", problem=NOTICE, is_primary=True
    )
    show_question(session)
    if rows:
        _history(session, rows)
        show_generations(session, found.compactions)
    else:
        empty_state(t("compaction.empty"), icon=":material/compress:")
    _imported(found.imported)
    _plans(session)
    _attempts(session)


def _history(session: SessionInfo, rows: Sequence[CompactionRow]) -> None:
    st.subheader(t("compaction.history"))
    by_id = {row.info.id: row for row in rows}
    key = f"compaction_rows_{session.id}_{len(rows)}"
    follow("compaction", choice_key(key), {row.info.number: row.info.id for row in rows})
    chosen = table_with_choice(
        [_history_row(row) for row in rows],
        list(by_id),
        key=key,
        alt=t("compaction.history"),
    )
    number = by_id[chosen].info.number
    name_choice("compaction", choice_key(key), number, default=rows[0].info.number)
    show_detail(session, by_id[chosen])


def _history_row(row: CompactionRow) -> Row:
    info, effect = row.info, row.info.effect
    return {
        t("compaction.number"): f"{'↳ ' * row.depth}{info.number}",
        t("compaction.state"): t(f"compaction.state.{row.state}"),
        t("compaction.when"): _when(info.created_at),
        t("compaction.trigger"): reason_text(row.trigger),
        t("compaction.strategies"): strategy_label(*row.strategies),
        t("compaction.call_without"): effect and effect.without_tokens,
        t("compaction.call_with"): effect and effect.with_tokens,
        t("compaction.saved"): numbers.percent(effect.saved_ratio if effect else None, 1),
        t("compaction.unseen"): effect and effect.unseen_tokens,
        t("usage.seconds"): row.seconds,
        t("usage.figure.cost"): "" if row.cost is None else numbers.money(row.cost),
        t("compact.lost"): None if (lost := info.compaction.facts_lost) is None else len(lost),
        t("compaction.covered"): info.compaction.covered_until,
        t("compaction.origin"): t(
            "compaction.origin.imported" if row.is_imported else "compaction.origin.own"
        ),
    }


def _recorded_trigger(compaction: ImportedCompaction) -> str:
    if compaction.trigger is None:
        return t("common.unknown")
    return name_text("fact.trigger", compaction.trigger)


def _imported(found: Sequence[ImportedCompaction]) -> None:
    """Draws the compactions that the recording program made, as its file lists them."""
    if not found:
        return
    st.subheader(t("compaction.imported"))
    st.caption(t("compaction.imported.told"))
    rows: list[Row] = [
        {
            t("compaction.before_message"): compaction.before_seq,
            t("compaction.when"): f"{compaction.recorded_at:%Y-%m-%d %H:%M}"
            if compaction.recorded_at
            else "",
            t("compaction.trigger"): _recorded_trigger(compaction),
            t("common.segment.before"): numbers.tokens(compaction.before_tokens),
            t("compaction.summary_chars"): len(compaction.summary),
        }
        for compaction in found
    ]
    plain_table(rows, alt=t("compaction.imported"))


def _plans(session: SessionInfo) -> None:
    """Draws what a policy in shadow mode would have done; nothing without such a policy or plan."""
    is_shadow = engine().policy(session.id).policy.is_shadow
    events = engine().store.last_events(session.id, FORESEEN, limit=SHOWN)
    if not is_shadow and not events:
        return
    st.subheader(t("compaction.planned"))
    st.caption(t("compaction.planned.on" if is_shadow else "compaction.planned.off"))
    if not events:
        st.caption(t("compaction.planned.none"))
        return
    plain_table([_plan_row(plan) for plan in plans(events)], alt=t("compaction.planned"))
    _bounded(events)


def _attempts(session: SessionInfo) -> None:
    """Draws the attempts that changed nothing."""
    events = engine().store.last_events(session.id, TRIED, limit=SHOWN)
    st.subheader(t("compaction.tried"))
    if not events:
        st.caption(t("compaction.tried.none"))
        return
    tried = attempts(events)
    plain_table([_attempt_row(attempt) for attempt in tried], alt=t("compaction.tried"))
    _bounded(events)
    newest = plain_label(reason_text(tried[0].reason), max_chars=400)
    st.caption(t("compaction.tried.newest", reason=newest))


def _bounded(events: Sequence[object]) -> None:
    if len(events) == SHOWN:
        st.caption(t("compaction.newest", count=SHOWN))


def _attempt_row(attempt: Attempt) -> Row:
    return {
        t("compaction.when"): _when(attempt.at),
        t("compaction.outcome"): t(
            "compaction.outcome.failed" if attempt.has_failed else "compaction.outcome.skipped"
        ),
        t("compaction.trigger"): reason_text(attempt.trigger),
        t("compaction.strategies"): strategy_label(*attempt.strategies),
        t("usage.seconds"): attempt.seconds,
        t("usage.figure.cost"): "" if attempt.cost is None else numbers.money(attempt.cost),
        t("usage.reason"): reason_text(attempt.reason),
    }


def _plan_row(plan: Plan) -> Row:
    return {
        t("compaction.when"): _when(plan.at),
        t("compaction.trigger"): reason_text(plan.trigger),
        t("compaction.strategies"): strategy_label(*plan.strategies),
        t("compaction.call_without"): plan.next_call_tokens,
        t("compaction.expected"): plan.expected_tokens,
        t("compaction.saved"): numbers.percent(plan.saved_ratio, 1),
        t("compaction.messages"): plan.messages,
    }


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
