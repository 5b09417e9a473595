"""Draws presets and strategies side by side for this very moment; a chosen row is proposed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.replay.alternatives import Alternative, Compared
from ctxcore.store.values import JobInfo
from ctxcore.tokens.costs import dollars_text
from dashboard import numbers
from dashboard.compaction_dialog.proposing import JOB, WAYS, choose_way, chosen_way, refresh
from dashboard.job_view import follow_job
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, table_with_choice
from dashboard.wording import reason_text, strategy_label

OPEN = "compact_ways"


def show_ways(session_id: str) -> None:
    """Draws the comparison on request; the selected row becomes the way of the proposal."""
    with st.expander(
        t("compact.ways"), key=OPEN, icon=":material/compare_arrows:", on_change="rerun"
    ) as opened:
        if opened.open:
            _comparison(session_id)
    if (way := chosen_way()) is not None:
        st.caption(f":material/alt_route: {t('compact.ways.by', way=plain_label(way_label(way)))}")


def _comparison(session_id: str) -> None:
    """Follows the job that compares, started when the table is opened first."""
    if JOB not in st.session_state:
        st.session_state[JOB] = engine().start_comparison(session_id).id
    job = follow_job(st.session_state[JOB], key="compact_ways")
    if job is not None and job.state == "done":
        _table(_rows(job))
    elif job is None or job.state != "running":
        st.button(
            t("compact.ways.again"),
            key="compact_ways_again",
            icon=":material/refresh:",
            on_click=refresh,
        )


def _rows(job: JobInfo) -> list[Compared]:
    rows = job.result["rows"] if job.result else []
    assert isinstance(rows, list)
    return [Compared.from_dict(row) for row in rows if isinstance(row, dict)]


def _table(rows: Sequence[Compared]) -> None:
    first = next((row for row in rows if row.effect is not None), None)
    if first is None or first.effect is None:
        st.caption(t("compact.ways.none"))
        return
    now = numbers.tokens(first.effect.without_tokens, is_exact=first.effect.is_exact)
    st.caption(t("compact.ways.told", now=now, needed=f"{first.needed:,}"))
    ways = {row.alternative.key: row.alternative for row in rows}
    opened = table_with_choice(
        [_row(row) for row in rows], list(ways), key=WAYS, alt=t("compact.ways")
    )
    way = ways[opened]
    choose_way(None if way.kind == "policy" else way)
    unit = first.payback.unit if first.payback else "tokens"
    st.caption(t(f"compact.ways.unit.{unit}"))


def _row(row: Compared) -> Row:
    effect, paid = row.effect, row.payback
    never = t("compact.ways.never")
    calls = None if paid is None else never if paid.calls is None else f"{paid.calls:,}"
    return {
        t("compact.ways.way"): way_label(row.alternative),
        t("compact.ways.next_call"): effect.with_tokens if effect else None,
        t("compact.ways.gone"): row.gone if effect else None,
        t("compact.ways.standing"): row.standing if effect else None,
        t("compact.ways.lost"): row.lost if effect else None,
        t("compact.ways.cost"): _cost(row),
        t("compact.ways.pays"): calls if effect else reason_text(row.reason),
    }


def _cost(row: Compared) -> str | None:
    """What it costs once: in dollars where that is known, else in tokens."""
    if row.payback is None:
        return None
    once = row.payback.once
    return dollars_text(once) if row.payback.unit == "dollars" else f"{once:,.0f}"


def way_label(way: Alternative) -> str:
    """The name of a way to compact, for people."""
    name = strategy_label(way.name) if way.kind == "strategy" else way.name
    return t(f"compact.ways.{way.kind}", name=name)
