"""Owns the table of verdicts: what became of each run of messages, its tokens before and after."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.assembly.verdicts import Run
from dashboard.tell import tell
from dashboard.texts import t
from dashboard.widgets import Row, plain_table

SHOWN_RUNS = 5_000  # a table of so many is drawn at once; browsers draw only the rows in sight


def verdict_table(runs: Sequence[Run], *, alt: str) -> None:
    """The newest of `runs`, a row each, and how many there are if those are not all."""
    rows: list[Row] = [
        {
            t("usage.messages"): f"{run.first + 1}–{run.last + 1}"
            if run.last > run.first
            else f"{run.first + 1}",
            t("usage.verdict"): t(f"usage.verdict.{run.verdict}"),
            t("usage.reason"): tell(run.reason),
            t("common.segment.before"): run.before_tokens,
            t("common.segment.after"): run.after_tokens,
        }
        for run in runs[-SHOWN_RUNS:]
    ]
    plain_table(rows, alt=alt)
    if len(runs) > SHOWN_RUNS:
        st.caption(t("usage.verdicts.newest", shown=f"{SHOWN_RUNS:,}", count=f"{len(runs):,}"))
