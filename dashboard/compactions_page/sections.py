"""Owns the sections of the compaction page: actions, history, detail, what changed nothing."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.store.values import CompactionInfo, ImportedCompaction, SessionInfo
from dashboard import numbers
from dashboard.compactions_page.actions import NOTICE, redo, undo
from dashboard.compactions_page.attempts_section import show_attempts, show_plans
from dashboard.compactions_page.detail import show_detail
from dashboard.compactions_page.labels import strategy_label
from dashboard.compactions_page.rows import CompactionRow, compaction_rows
from dashboard.panels import open_compaction
from dashboard.reads import Recorded, recorded
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.shell import session_title
from dashboard.tell import tell_recorded
from dashboard.texts import t
from dashboard.widgets import Row, empty_state, plain_table, table_with_choice
from dashboard.wording import words_for


def show_compactions(session: SessionInfo) -> None:
    """The whole page for one session."""
    st.caption(plain_label(session_title(session)))
    session = engine().session(session.id)
    found = recorded(session)
    rows = compaction_rows(found.compactions, session.active_compaction_id)
    _notice()
    _actions(session, found)
    if rows:
        _history(session, rows)
    else:
        empty_state(t("compaction.empty"), icon=":material/compress:")
    _imported(found.imported)
    show_plans(session)
    show_attempts(session)


def _notice() -> None:
    if (text := st.session_state.pop(NOTICE, None)) is not None:
        st.warning(plain_label(text, max_chars=400), icon=":material/info:")


def _actions(session: SessionInfo, found: Recorded) -> None:
    active = session.active_compaction_id
    can_redo = any(info.parent_id == active for info in found.compactions)
    with st.container(horizontal=True, key="compaction_actions"):
        st.button(
            t("compact.open"),
            key="compaction_open",
            type="primary",
            icon=":material/compress:",
            shortcut="Ctrl+K",
            on_click=open_compaction,
            args=(session.id,),
        )
        st.button(
            t("compact.undo"),
            key="compaction_undo",
            icon=":material/undo:",
            help=t("compact.undo_help"),
            disabled=active is None,
            on_click=undo,
            args=(session.id,),
        )
        st.button(
            t("compact.redo"),
            key="compaction_redo",
            icon=":material/redo:",
            help=t("compact.redo_help"),
            disabled=not can_redo,
            on_click=redo,
            args=(session.id,),
        )


def _history(session: SessionInfo, rows: Sequence[CompactionRow]) -> None:
    st.subheader(t("compaction.history"))
    by_id = {row.info.id: row for row in rows}
    chosen = table_with_choice(
        [_history_row(row) for row in rows],
        list(by_id),
        key=f"compaction_rows_{session.id}_{len(rows)}",
        label=t("compaction.choose"),
        name=lambda option: _name(by_id[option]),
        alt=t("compaction.history"),
    )
    show_detail(session, by_id[chosen])


def _name(row: CompactionRow) -> str:
    return (
        f"{row.info.number} · {t(f'compaction.state.{row.state}')} · {tell_recorded(row.trigger)}"
    )


def _history_row(row: CompactionRow) -> Row:
    info = row.info
    return {
        t("compaction.number"): f"{'↳ ' * row.depth}{info.number}",
        t("compaction.state"): t(f"compaction.state.{row.state}"),
        t("compaction.when"): _when(info),
        t("compaction.trigger"): tell_recorded(row.trigger),
        t("compaction.strategies"): strategy_label(*row.strategies),
        t("common.segment.before"): row.before_tokens,
        t("common.segment.after"): info.compaction.after_tokens,
        t("compaction.saved"): _saved(row),
        t("usage.seconds"): row.seconds,
        t("usage.figure.cost"): "" if row.cost is None else numbers.money(row.cost),
        t("compact.lost"): None if (lost := info.compaction.facts_lost) is None else len(lost),
        t("compaction.covered"): info.compaction.covered_until,
        t("compaction.origin"): t(
            "compaction.origin.imported" if row.is_imported else "compaction.origin.own"
        ),
    }


def _when(info: CompactionInfo) -> str:
    return f"{info.created_at:%Y-%m-%d %H:%M:%S}"


def _saved(row: CompactionRow) -> str:
    ratio = row.saved_ratio
    return t("common.unknown") if ratio is None else f"{ratio:.0%}"


def _recorded_trigger(one: ImportedCompaction) -> str:
    if one.trigger is None:
        return t("common.unknown")
    return words_for("fact.trigger", one.trigger)


def _imported(found: Sequence[ImportedCompaction]) -> None:
    """What the recording program compacted itself, as its file tells it."""
    if not found:
        return
    st.subheader(t("compaction.imported"))
    st.caption(t("compaction.imported.told"))
    rows: list[Row] = [
        {
            t("compaction.before_message"): one.before_seq,
            t("compaction.when"): f"{one.recorded_at:%Y-%m-%d %H:%M}" if one.recorded_at else "",
            t("compaction.trigger"): _recorded_trigger(one),
            t("common.segment.before"): numbers.tokens(one.before_tokens),
            t("compaction.summary_chars"): len(one.summary),
        }
        for one in found
    ]
    plain_table(rows, alt=t("compaction.imported"))
