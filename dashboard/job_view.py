"""Draws a job on any page: a bar and *Cancel* while it runs, and how it ended.

A fragment looks at the job while it runs; leaving the page leaves only the looking.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import JobInfo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.wording import reason_text

LOOK_SECONDS = 1.0  # chosen: smooth enough for work of seconds and more


def follow_job(job_id: str, *, key: str) -> JobInfo | None:
    """Draws the state of a job of this user, and returns it; None if it is gone.

    The page draws the result of one that is done; it is run again when the job ends.
    """
    try:
        job = engine().jobs.job(job_id)
    except RecordNotFoundError:
        st.info(t("job.gone"), icon=":material/delete:")
        return None
    match job.state:
        case "running":
            _watch(job_id, key)
        case "failed":
            text = reason_text(job.error) if job.error else ""
            st.error(plain_label(text, max_chars=500), icon=":material/error:")
        case "cancelled":
            st.info(t("job.cancelled"), icon=":material/cancel:")
        case "interrupted":
            st.warning(t("job.interrupted"), icon=":material/power_off:")
        case "done":
            pass
    return job


@st.fragment(run_every=LOOK_SECONDS)
def _watch(job_id: str, key: str) -> None:
    """The progress of a running job; runs the page again once it has ended."""
    try:
        job = engine().jobs.job(job_id)
    except ContextError:  # the page says what is wrong
        st.rerun()
    if job.state != "running":
        st.rerun()
    share = min(job.done / job.total, 1.0) if job.total else 0.0
    counts = {"done": f"{job.done:,}", "total": f"{job.total:,}"}
    text = t("job.progress", **counts) if job.total else t("job.starting")
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_job"):
        st.progress(share, text=text)
        st.button(
            t("job.cancel"),
            key=f"{key}_cancel",
            icon=":material/stop:",
            on_click=_cancel,
            args=(job_id,),
        )


def _cancel(job_id: str) -> None:
    engine().jobs.cancel(job_id)
