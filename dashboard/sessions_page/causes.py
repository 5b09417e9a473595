"""The largest causes of tokens in sessions that were just imported, over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.formats.hints import Hint
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.safe_markdown import plain_label
from dashboard.selection import session_title
from dashboard.services import engine
from dashboard.texts import t
from dashboard.thread_jobs import Job, Progress
from dashboard.wording import error_text, reason_sentence

SHOWN: Final = 3
_JOB: Final = "sessions_causes_job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A hint with its session."""

    session: SessionInfo
    hint: Hint


def show_causes(sessions: Sequence[SessionInfo]) -> None:
    """Draws a button that looks for the causes, its progress, then the three largest."""
    job = cast("Job[list[Cause]] | None", st.session_state.get(_JOB))
    if job is None:
        st.button(
            t("sessions.causes.find", count=f"{len(sessions):,}"),
            key="sessions_causes_find",
            icon=":material/troubleshoot:",
            on_click=_start,
            args=(sessions,),
        )
        return
    place = st.empty()
    for done, total in job.follow():
        share = min(done / total, 1.0) if total else 0.0
        place.progress(share, text=t("sessions.causes.progress", done=done, total=total))
    place.empty()
    if job.error is not None:
        st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
    _draw(job.result or [])


def forget_causes() -> None:
    """Drops what was found, before other files are imported."""
    st.session_state.pop(_JOB, None)


def largest(causes: Sequence[Cause], most: int = SHOWN) -> list[Cause]:
    """The causes with the most tokens, the largest first."""
    return sorted(causes, key=lambda cause: -cause.hint.tokens)[:most]


def causes_work(
    engine: ContextEngine, sessions: Sequence[SessionInfo]
) -> Callable[[Progress], list[Cause]]:
    """The search as work for a `Job`; progress counts sessions."""

    def work(note: Progress) -> list[Cause]:
        found: list[Cause] = []
        for number, session in enumerate(sessions, 1):
            found += (
                Cause(session=session, hint=hint) for hint in engine.reports.hints(session.id)
            )
            found = largest(found)
            note(number, len(sessions))
        return found

    return work


def _start(sessions: Sequence[SessionInfo]) -> None:
    st.session_state[_JOB] = Job(causes_work(engine(), sessions))


def _draw(causes: Sequence[Cause]) -> None:
    if not causes:
        st.info(t("sessions.causes.none"), icon=":material/check:")
        return
    st.subheader(t("sessions.causes"))
    for number, cause in enumerate(causes, 1):
        with st.container(border=True, key=f"sessions_cause_{number}"):
            _draw_one(number, cause)


def _draw_one(number: int, cause: Cause) -> None:
    st.markdown(
        t(
            "sessions.cause",
            number=number,
            tokens=f"{cause.hint.tokens:,}",
            cost=numbers.money(cause.hint.dollars),
            title=plain_label(session_title(cause.session)),
        )
    )
    st.caption(plain_label(reason_sentence(cause.hint.reason), max_chars=600))
    if (at := cause.hint.at) is not None:
        label = t("common.open_message", seq=f"{at + 1:,}")
        place_link(cause.session.id, "m", at + 1, label=label, icon=":material/chat:")
