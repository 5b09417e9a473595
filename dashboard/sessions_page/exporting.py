"""Chooses a form of export, and packs all sessions of a list into a ZIP, in a thread."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.exports.files import noting_damage, write_zip
from ctxcore.exports.registry import EXPORT_FORMS
from ctxcore.reasons.values import Reason
from ctxcore.redaction.shapes import SecretKind, can_redact
from ctxcore.store.values import SessionInfo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.sessions_page.filtering import Wanted
from dashboard.sessions_page.listing import all_listed
from dashboard.texts import has_text, t
from dashboard.thread_jobs import Job, Progress
from dashboard.widgets import show_damage
from dashboard.wording import error_text

_JOB = "sessions_export_job"


class Export(NamedTuple):
    """A ZIP of sessions."""

    data: bytes
    damage: tuple[Reason, ...]
    """What of the sessions cannot be read, and is not in it."""


def show_export(wanted: Wanted, total: int) -> None:
    """Draws the button that exports the listed sessions, its progress, and the file."""
    if (job := st.session_state.get(_JOB)) is not None:
        _follow(cast("Job[Export]", job))
        return
    with st.container(horizontal=True, key="sessions_export_list", vertical_alignment="bottom"):
        form = choose_form("sessions_export_all_form")
        redacts = choose_redaction("sessions_export_all_redact")
        st.button(
            t("sessions.export.all", count=f"{total:,}"),
            key="sessions_export_all",
            icon=":material/folder_zip:",
            help=t("sessions.export.all.help"),
            on_click=_start,
            args=(wanted, form, redacts),
        )


def _start(wanted: Wanted, form: str, redacts: bool) -> None:
    listed = all_listed(engine(), wanted)
    st.session_state[_JOB] = Job(export_work(engine(), listed, form, redacts=redacts))


def _follow(job: Job[Export]) -> None:
    place = st.empty()
    for done, total in job.follow():
        text = t("sessions.export.progress", done=f"{done:,}", total=f"{total:,}")
        place.progress(done / total if total else 0.0, text=text)
    place.empty()
    with st.container(horizontal=True, vertical_alignment="center", key="sessions_export_done"):
        if job.error is not None:
            st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
        if job.result is not None:
            show_damage(job.result.damage, "sessions.export.damage")
            st.download_button(
                t("sessions.export.zip", size=f"{len(job.result.data) / 1_000_000:.1f}"),
                data=job.result.data,
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
    engine: ContextEngine, sessions: Sequence[SessionInfo], form: str, *, redacts: bool = False
) -> Callable[[Progress], Export]:
    """The export of `sessions` as work for a `Job`; progress counts files."""

    def work(note: Progress) -> Export:
        out, damage = io.BytesIO(), list[Reason]()
        ids = [session.id for session in sessions]
        files = noting_damage(engine.export_many(ids, form, redacts=redacts), damage)
        total = 1 if EXPORT_FORMS[form].is_joined else len(sessions)
        for number in write_zip(out, files):
            note(number, total)
        return Export(out.getvalue(), tuple(damage))

    return work


def choose_form(key: str) -> str:
    """Draws the choice of a form, with what it is for; returns its name."""
    chosen = st.selectbox(
        t("sessions.export.form"),
        list(EXPORT_FORMS),
        format_func=_label,
        key=key,
        width=360,
        help=t("sessions.export.form.help"),
    )
    return str(chosen)


def choose_redaction(key: str) -> bool:
    """Draws the choice to leave secrets out, where they can be recognised."""
    return can_redact() and st.checkbox(
        t("sessions.export.redact"), key=key, help=t("sessions.export.redact.help")
    )


def secrets_told(counts: Mapping[SecretKind, int]) -> str:
    """How many secrets an export leaves out."""
    return t("sessions.export.secrets", count=f"{sum(counts.values()):,}")


def _label(name: str) -> str:
    """What a form is called here; one that was registered by a program, by its name."""
    key = f"sessions.export.{name}"
    return t(key) if has_text(key) else name
