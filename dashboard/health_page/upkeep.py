"""Checks the database and backs it up, each in a thread of its own, on request."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.health import dump_command
from ctxcore.store.values import DatabaseInfo, Finding
from dashboard.health_page.jobs import wait_for
from dashboard.health_page.restoring import show_restoring
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.thread_jobs import Job, Progress
from dashboard.wording import reason_text

_CHECK, _BACKUP = "health_check_job", "health_backup_job"
MOST_DOWNLOAD_BYTES = 500_000_000  # chosen: a browser gets it through the server's memory


def show_check() -> None:
    """Draws the button that checks the database, then what the check found."""
    st.button(
        t("health.check"),
        key="health_check",
        icon=":material/fact_check:",
        help=t("health.check.help"),
        on_click=_start_check,
    )
    job = cast("Job[list[Finding]] | None", st.session_state.get(_CHECK))
    if job is None:
        return
    wait_for(job, t("health.check.working"))
    if job.result:
        count = f"{len(job.result):,}"
        st.error(t("health.check.broken", count=count), icon=":material/error:")
        st.code("\n".join(map(_line, job.result)), language=None, wrap_lines=True)
    elif job.error is None:
        st.success(t("health.check.sound"), icon=":material/check_circle:")


def _line(finding: Finding) -> str:
    where = f"{finding.session_id}: " if finding.session_id else ""
    state = t("health.check.repairable") if finding.is_repairable else ""
    return f"{where}{reason_text(finding.reason)} {state}".strip()


def show_backup(database: DatabaseInfo) -> None:
    """Draws the backup of an SQLite file, or the command for another database."""
    st.markdown(f"**{t('health.backup')}**")
    if database.kind != "sqlite":
        st.caption(t("health.backup.command"))
        st.code(dump_command(database), language="shell", wrap_lines=True)
        return
    made_at = engine().last_backup()
    if made_at is None:
        st.caption(t("health.backup.never"))
    else:
        st.caption(t("health.backup.last", at=f"{made_at.astimezone(UTC):%Y-%m-%d %H:%M}"))
    if not engine().user().reads_others:
        st.caption(t("health.backup.auditors"))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="health_backup"):
        if database.size_bytes <= MOST_DOWNLOAD_BYTES:
            st.download_button(
                t("health.backup.download"),
                data=backup_bytes(engine()),
                file_name=f"ctxcore-{datetime.now(UTC):%Y%m%d-%H%M}.db",
                mime="application/vnd.sqlite3",
                key="health_backup_download",
                icon=":material/download:",
                on_click="ignore",
            )
        path = st.text_input(
            t("health.backup.path"),
            key="health_backup_path",
            placeholder="/var/backups/ctxcore.db",
            help=t("health.backup.path.help"),
        )
        st.button(
            t("health.backup.save"),
            key="health_backup_save",
            icon=":material/save:",
            disabled=not (path or "").strip(),
            on_click=_start_backup,
        )
    job = cast("Job[str] | None", st.session_state.get(_BACKUP))
    if job is not None:
        wait_for(job, t("health.backup.working"))
        if job.result:
            text = plain_label(job.result, max_chars=300)
            st.success(t("health.backup.done", path=text), icon=":material/check_circle:")
    show_restoring(database)


def backup_bytes(engine: ContextEngine) -> Callable[[], bytes]:
    """Makes the copy on download, outside of the script run."""

    def made() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ctxcore.db"
            engine.back_up(path)
            return path.read_bytes()

    return made


def _start_check() -> None:
    work = engine()
    st.session_state[_CHECK] = Job(lambda note: list(work.examine_database(on_progress=note)))


def _start_backup() -> None:
    path = Path(str(st.session_state["health_backup_path"]).strip()).expanduser()
    work = engine()

    def copy(note: Progress) -> str:
        work.back_up(path)
        return str(path)

    st.session_state[_BACKUP] = Job(copy)
