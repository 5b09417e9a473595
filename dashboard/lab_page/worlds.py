"""Draws one session under a candidate: its calls, and what each of them would have been sent."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.trials import start_call
from ctxcore.trials.candidates import Candidate
from ctxcore.trials.comparing import reference_at
from ctxcore.trials.values import SentCall, SentMessage, Trial, Tried, TriedSession
from dashboard.call_view.messages import show_parts
from dashboard.excerpts import excerpt
from dashboard.job_view import follow_job
from dashboard.lab_page.charts import call_rows, calls_figure
from dashboard.lab_page.choosing import candidate_name
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, chart, choosable_table, report_errors, show_problem

_JOB = "lab_call_job"
_PROBLEM = "lab_call_problem"


def show_world(trial: Trial, candidate: Candidate, *, window_tokens: int | None) -> None:
    """Draws the calls of one session under `candidate`, and one of them whole."""
    name = plain_label(candidate_name(candidate), max_chars=80)
    st.subheader(t("lab.world", policy=name))
    session = _session(trial.sessions)
    at = [one.name for one in trial.candidates].index(candidate.name)
    tried = session.tried[at]
    if not tried.calls:
        st.info(t("lab.world.no_calls"), icon=":material/info:")
        return
    other_at = reference_at(trial.candidates, trial.totals)
    other = None if other_at is None or other_at == at else session.tried[other_at]
    names = [candidate_name(candidate)]
    names += [] if other_at is None else [candidate_name(trial.candidates[other_at])]
    key = f"lab_calls_{session.id}_{at}"
    chart(calls_figure(tried, other, names), call_rows(tried), key=key, alt=t("lab.world.chart"))
    _call(session, candidate, tried, window_tokens=window_tokens)


def _session(sessions: Sequence[TriedSession]) -> TriedSession:
    if len(sessions) == 1:
        return sessions[0]
    by_id = {one.id: one for one in sessions}
    chosen = st.selectbox(
        t("lab.world.session"),
        list(by_id),
        format_func=lambda session_id: by_id[session_id].title or session_id[:8],
        key="lab_world_session",
    )
    return by_id[chosen]


def _call(
    session: TriedSession, candidate: Candidate, tried: Tried, *, window_tokens: int | None
) -> None:
    """Draws the choice of a call, and what it would have been sent once that is asked for."""
    show_problem(_PROBLEM)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.number_input(
            t("lab.world.call"), 1, len(tried.calls), len(tried.calls), key="lab_call_number"
        )
        asked = (session.id, candidate.name, int(number))
        st.button(
            t("lab.world.show"),
            key="lab_call_show",
            icon=":material/outbox:",
            on_click=_start,
            args=(asked, candidate, tried.calls[int(number) - 1][0], window_tokens),
        )
    known = st.session_state.get(_JOB)
    if known is None or known[0] != asked:
        return
    job = follow_job(known[1], key="lab_call")
    if job is not None and job.result is not None:
        _sent(SentCall.from_dict(job.result), session.id)


@report_errors(_PROBLEM)
def _start(
    asked: tuple[str, str, int], candidate: Candidate, at: int, window_tokens: int | None
) -> None:
    job = start_call(engine(), asked[0], candidate, at, window_tokens=window_tokens)
    st.session_state[_JOB] = (asked, job.id)


def _sent(sent: SentCall, session_id: str) -> None:
    if not sent.messages:
        st.warning(t("lab.world.refused"), icon=":material/block:")
        return
    st.caption(t("lab.world.sent", count=len(sent.messages), tokens=f"{sent.tokens:,}"))
    rows = [_row(number, one) for number, one in enumerate(sent.messages, 1)]
    opened = choosable_table(rows, key=f"lab_sent_{session_id}_{sent.at}", alt=t("lab.world.show"))
    if opened is not None:
        show_parts(sent.messages[opened].text, key=f"lab_sent_part_{opened}")


def _row(number: int, one: SentMessage) -> Row:
    places = f"#{one.places[0] + 1}" if one.places else t("usage.request.own.mark")
    if len(one.places) > 1:
        places = f"#{one.places[0] + 1}–{one.places[-1] + 1}"
    return {
        t("usage.request.number"): number,
        t("usage.request.role"): one.role,
        t("common.tokens"): one.tokens,
        t("usage.request.made_of"): places,
        t("usage.verdict"): ", ".join(t(f"usage.verdict.{verdict}") for verdict in one.verdicts),
        t("usage.said"): excerpt(one.text),
    }
