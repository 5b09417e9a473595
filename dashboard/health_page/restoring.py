"""Puts a backup in the place of the database, from a dialog that asks for a word."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast

import streamlit as st

from ctxcore.engine.health import Restored
from ctxcore.store.values import DatabaseInfo
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.health_page.jobs import wait_for
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.thread_jobs import Job, Progress
from dashboard.uploads import IMPORT_MEGABYTES
from dashboard.widgets import is_typed

_JOB, _DIALOG = "health_restore_job", "health_restore"


def show_restoring(database: DatabaseInfo) -> None:
    """Draws the button, its dialog while it is open, and what came of the last backup restored."""
    st.button(
        t("health.restore"),
        key="health_restore",
        icon=":material/settings_backup_restore:",
        on_click=open_dialog,
        args=(_DIALOG,),
    )
    if is_open(_DIALOG):
        st.dialog(t("health.restore.title"), on_dismiss=close_dialog)(_body)(database.sessions)
    job = cast("Job[Restored] | None", st.session_state.get(_JOB))
    if job is None:
        return
    wait_for(job, t("health.restore.working"))
    if job.result is not None:
        _show_result(job.result)


def _show_result(restored: Restored) -> None:
    text = t("health.restore.done.new")
    if restored.kept is not None:
        path = plain_label(str(restored.kept), max_chars=300)
        text = t("health.restore.done", path=path)
    st.success(text, icon=":material/check_circle:")
    lost = sum(not finding.is_repaired for finding in restored.findings)
    if lost:
        st.warning(t("health.restore.damaged", count=f"{lost:,}"), icon=":material/warning:")


def _body(sessions: int) -> None:
    st.warning(t("health.restore.told", count=f"{sessions:,}"), icon=":material/warning:")
    upload = st.file_uploader(
        t("health.restore.file", limit=IMPORT_MEGABYTES),
        type="db",
        max_upload_size=IMPORT_MEGABYTES,
        key="health_restore_file",
    )
    path = st.text_input(
        t("health.restore.path"), key="health_restore_path", placeholder="/var/backups/ctxcore.db"
    )
    is_meant = is_typed(t("health.restore.word"), key="health_restore_word")
    is_chosen = upload is not None or bool((path or "").strip())
    with st.container(horizontal=True, key="health_restore_buttons"):
        st.button(
            t("health.restore.confirm"),
            key="health_restore_confirm",
            type="primary",
            disabled=not (is_chosen and is_meant),
            on_click=_start,
        )
        st.button(t("common.cancel"), key="health_restore_cancel", on_click=_cancel)


def _start() -> None:
    upload = st.session_state.get("health_restore_file")
    path = Path(str(st.session_state["health_restore_path"]).strip()).expanduser()
    data = upload.getvalue() if upload is not None else None
    work = engine()

    def restored(note: Progress) -> Restored:
        if data is None:
            return work.restore_backup(path)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "backup.db"
            copy.write_bytes(data)
            return work.restore_backup(copy)

    st.session_state[_JOB] = Job(restored)
    _cancel()


def _cancel() -> None:
    close_dialog()
    st.rerun()
