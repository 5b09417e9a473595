"""Draws the Lab: what to try on what, the stored trials, and the one that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from ctxcore.engine.trials import TRIAL
from ctxcore.store.values import JobInfo
from ctxcore.trials.values import Trial
from dashboard.excerpts import excerpt
from dashboard.job_view import follow_job
from dashboard.lab_page.applying import show_applying
from dashboard.lab_page.choosing import OPEN, is_asked, show_choosing, take_address
from dashboard.lab_page.live import is_live_open, show_live
from dashboard.lab_page.results import show_results
from dashboard.lab_page.worlds import show_world
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import empty_state

_PICK = "lab_trial"
MOST_TRIALS = 30  # chosen: a list that can be looked through


def show_lab() -> None:
    """Draws the page."""
    st.caption(t("lab.told"))
    jobs = engine().jobs.recent(TRIAL, limit=MOST_TRIALS)
    take_address()
    is_open = is_asked() or (not jobs and not is_live_open())
    with st.expander(
        t("lab.choose"), expanded=is_open, icon=":material/science:", key="lab_choose"
    ):
        show_choosing()
    show_live()
    if not jobs:
        empty_state(t("lab.empty"), icon=":material/science:")
        return
    job_id = _picked(jobs)
    job = follow_job(job_id, key="lab")
    if job is not None and job.result is not None:
        _result(job)
    if job is not None and job.state != "running":
        _manage(job)


def _picked(jobs: Sequence[JobInfo]) -> str:
    """The trial that is open: the one just started, the one chosen, or the newest."""
    ids = [job.id for job in jobs]
    if (started := st.session_state.pop(OPEN, None)) in ids:
        st.session_state[_PICK] = started
    if st.session_state.get(_PICK) not in ids:
        st.session_state[_PICK] = ids[0]
    names = {job.id: job_name(job) for job in jobs}
    return str(st.selectbox(t("lab.trials"), ids, format_func=names.__getitem__, key=_PICK))


def job_name(job: JobInfo) -> str:
    """A trial by its sessions, its policies, its time and its state."""
    titles = cast("list[str]", job.spec.get("titles") or [])
    first = excerpt(titles[0] if titles and titles[0] else "–", 40)
    policies = len(cast("list[object]", job.spec.get("candidates") or []))
    more = t("lab.trial.more", count=len(titles) - 1) if len(titles) > 1 else ""
    state = "" if job.state == "done" else f" · {t(f'lab.state.{job.state}')}"
    when = f"{job.created_at:%Y-%m-%d %H:%M}"
    return f"{first}{more} · {t('lab.trial.policies', count=policies)} · {when}{state}"


def _result(job: JobInfo) -> None:
    trial = Trial.from_dict(job.result or {})
    if not trial.sessions:
        for one in trial.failed:
            st.error(plain_label(f"{one.title}: {one.reason}", max_chars=400))
        return
    opened = show_results(trial, job.id)
    window = cast("int | None", job.spec.get("window_tokens"))
    candidate = trial.candidates[opened]
    show_world(trial, candidate, window_tokens=window)
    show_applying(candidate)


def _manage(job: JobInfo) -> None:
    st.button(
        t("lab.delete"),
        key="lab_delete",
        icon=":material/delete:",
        on_click=_delete,
        args=(job.id,),
    )


def _delete(job_id: str) -> None:
    engine().jobs.delete(job_id)
