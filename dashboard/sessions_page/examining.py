"""The examination of chosen files before they are imported, as `ctxcore autopsy` makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ctxcore.autopsy.examining import examine
from ctxcore.autopsy.page import WORDS, figures_of, render_page, verdict_of
from ctxcore.autopsy.summing import breaks_by_cause, largest_causes, sum_up, worst_folds
from ctxcore.autopsy.values import Autopsy, ExaminedSession, sum_known
from ctxcore.compaction.loss_report import loss_code
from ctxcore.engine.trials import read_export
from ctxcore.formats.native import is_native
from ctxcore.formats.reading import parse_transcripts
from ctxcore.policy.values import Policy
from dashboard import numbers
from dashboard.safe_markdown import plain_label
from dashboard.texts import language, t, text_of
from dashboard.thread_jobs import Job, Progress
from dashboard.widgets import Row, plain_table
from dashboard.wording import error_text, reason_sentence

SHOWN: Final = 8  # rows of each table; the page for download has more
_JOB: Final = "sessions_autopsy_job"
_FILES: Final = "sessions_autopsy_files"


def show_examination(files: Sequence[tuple[str, str]], place: DeltaGenerator) -> None:
    """Draws into `place` what an examination of these files, by name and text, found.

    It runs in a thread; draw all else before, since this waits for it.
    """
    known = tuple((name, hash(text)) for name, text in files)
    if st.session_state.get(_FILES) != known:
        st.session_state[_FILES] = known
        st.session_state[_JOB] = Job(examination(files))
    job = cast("Job[Autopsy]", st.session_state[_JOB])
    bar = place.empty()
    for done, total in job.follow():
        share = min(done / total, 1.0) if total else 0.0
        bar.progress(share, text=t("sessions.autopsy.progress", done=done, total=len(files)))
    bar.empty()
    with place:
        if job.error is not None:
            st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
        if job.result is not None and job.result.sessions:
            _draw(job.result)


def forget_examination() -> None:
    """Drops what was found, before other files are chosen."""
    for key in (_JOB, _FILES):
        st.session_state.pop(key, None)


def examination(files: Sequence[tuple[str, str]]) -> Callable[[Progress], Autopsy]:
    """The examination as work for a `Job`; progress counts files."""

    def work(note: Progress) -> Autopsy:
        policy = Policy.preset("default")
        found: list[ExaminedSession] = []
        for number, (name, text) in enumerate(files, 1):
            own = is_native(text)
            read = [read_export(text, name=name)] if own else parse_transcripts(text, name=name)
            found += (examine(transcript, policy) for transcript in read)
            note(number, len(files))
        return sum_up(found)

    return work


def _draw(found: Autopsy) -> None:
    words = {key: text_of(f"autopsy.{key}", language()) or text for key, text in WORDS.items()}
    st.subheader(words["title"])
    st.markdown(plain_label(verdict_of(found, words), max_chars=500))
    with st.container(horizontal=True, key="sessions_autopsy_figures"):
        for one in figures_of(found, words):
            st.metric(one.label, one.value, help=one.note or None, width="content")
    _tables(found, words)
    st.download_button(
        t("sessions.autopsy.page"),
        data=lambda: render_page(found, words, language=language(), say=reason_sentence),
        file_name="ctxcore-autopsy.html",
        mime="text/html",
        key="sessions_autopsy_page",
        icon=":material/download:",
        on_click="ignore",
    )


def _tables(found: Autopsy, words: dict[str, str]) -> None:
    folds = worst_folds(found, SHOWN)
    _table(
        words["folds"],
        [
            {
                words["conversation"]: session.title,
                words["message"]: fold.at + 1,
                words["gone"]: fold.gone,
                words["gone_ours"]: fold.ours_gone,
            }
            for session, fold in folds
        ],
    )
    _table(
        t("sessions.autopsy.lost"),
        [
            {
                words["message"]: fold.at + 1,
                t("sessions.autopsy.what"): reason_sentence(loss_code(thing.kind)()),
                t("sessions.autopsy.text"): thing.text,
            }
            for _, fold in folds
            for thing in fold.lost
        ],
    )
    _table(
        words["causes"],
        [
            {
                words["cause"]: reason_sentence(cause.hint.reason),
                words["in_all"]: cause.hint.tokens,
                words["cost"]: numbers.money(cause.hint.dollars),
                words["conversation"]: cause.session.title,
            }
            for cause in largest_causes(found, SHOWN)
        ],
    )
    _table(
        words["breaks"],
        [
            {
                words["cause"]: reason_sentence(cuts[0].reason),
                words["times"]: len(cuts),
                words["resent"]: sum(cut.tokens for cut in cuts),
                words["extra"]: numbers.money(sum_known(cut.dollars for cut in cuts)),
            }
            for cuts in breaks_by_cause(found)
        ],
    )


def _table(title: str, rows: Sequence[Row]) -> None:
    if rows:
        with st.expander(title):
            plain_table(rows, alt=title)
