"""Exports all sessions of a list into one ZIP, a native file each, in a thread with progress."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import cast

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.store.values import SessionInfo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.sessions_page.filtering import Wanted
from dashboard.sessions_page.listing import all_listed
from dashboard.texts import t
from dashboard.thread_jobs import Job, Progress
from dashboard.wording import error_text

_JOB = "sessions_export_job"


def show_export(wanted: Wanted, total: int) -> None:
    """Draws the button that exports the listed sessions, its progress, and the file."""
    if (job := st.session_state.get(_JOB)) is not None:
        _follow(cast("Job[bytes]", job))
        return
    st.button(
        t("sessions.export.all", count=f"{total:,}"),
        key="sessions_export_all",
        icon=":material/folder_zip:",
        help=t("sessions.export.all.help"),
        on_click=_start,
        args=(wanted,),
    )


def _start(wanted: Wanted) -> None:
    st.session_state[_JOB] = Job(export_work(engine(), all_listed(engine(), wanted)))


def _follow(job: Job[bytes]) -> None:
    place = st.empty()
    for done, total in job.follow():
        text = t("sessions.export.progress", done=f"{done:,}", total=f"{total:,}")
        place.progress(done / total if total else 0.0, text=text)
    place.empty()
    with st.container(horizontal=True, vertical_alignment="center", key="sessions_export_done"):
        if job.error is not None:
            st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
        if job.result is not None:
            st.download_button(
                t("sessions.export.zip", size=f"{len(job.result) / 1_000_000:.1f}"),
                data=job.result,
                file_name="ctxcore-sessions.zip",
                mime="application/zip",
                key="sessions_export_zip",
                type="primary",
                icon=":material/download:",
                on_click="ignore",
            )
        st.button(
            t("sessions.dismiss"),
            key="sessions_export_dismiss",
            type="tertiary",
            on_click=lambda: st.session_state.pop(_JOB, None),
        )


def export_work(
    engine: ContextEngine, sessions: Sequence[SessionInfo]
) -> Callable[[Progress], bytes]:
    """The export of `sessions` as work for a `Job`; progress counts sessions."""

    def work(note: Progress) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            for number, session in enumerate(sessions, start=1):
                text = engine.export(session.id, "native")
                data = text.encode("utf-8", errors="surrogatepass")
                packed.writestr(f"{file_name(session)}-{session.id[:8]}.jsonl", data)
                note(number, len(sessions))
        return out.getvalue()

    return work


def file_name(session: SessionInfo) -> str:
    """The title as the name of a file, without its ending; the id where it has none."""
    kept = "".join(char if char.isalnum() or char in "-_ " else "_" for char in session.title)
    return kept.strip()[:60] or session.id[:8]
