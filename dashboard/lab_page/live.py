"""Asks one question under two policies: the form, the price, and the button that sends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from ctxcore.engine.live_trials import (
    LIVE_OFFER,
    answer_jobs,
    delete_offer,
    load_answers,
    start_answers,
    start_offer,
)
from ctxcore.policy.values import Policy
from ctxcore.store.values import JobInfo, SessionInfo
from ctxcore.trials.candidates import (
    DEFAULT_BASELINE,
    TODAY,
    Candidate,
    distinct,
    no_compaction,
    of_preset,
    parse_baseline,
    today,
)
from ctxcore.trials.live import LiveOffer
from dashboard.excerpts import excerpt
from dashboard.job_view import follow_job
from dashboard.lab_page.choosing import (
    MOST_SESSIONS,
    candidate_name,
    changed_candidates,
    policy_name,
)
from dashboard.lab_page.live_sides import show_answers, show_differences, show_prices
from dashboard.selection import current_session, session_labels
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

_OPEN: Final = "lab_live_open"
_PICK: Final = "lab_live_pick"
_PROBLEM: Final = "lab_live_problem"
_SESSION, _QUESTION = "lab_live_session", "lab_live_question"
_SIDES: Final = ("first", "second")
_USUAL: Final = (TODAY, DEFAULT_BASELINE)
MOST_OFFERS = 30  # chosen: a list that can be looked through


def show_live() -> None:
    """Draws the form, and the question that is open with its price and its answers."""
    offers = engine().jobs.recent(LIVE_OFFER, limit=MOST_OFFERS)
    with st.expander(
        t("lab.live"), expanded=is_live_open(), icon=":material/forum:", key="lab_live"
    ):
        st.caption(t("lab.live.told"))
        show_problem(_PROBLEM)
        sessions = _sessions()
        if not sessions:
            st.caption(t("lab.no_sessions"))
        else:
            _form(sessions)
        if offers:
            _opened(offers)


def is_live_open() -> bool:
    """Whether a question was asked on this visit, so that the form of a trial can stay closed."""
    return _OPEN in st.session_state


def _sessions() -> list[SessionInfo]:
    """The user's sessions that have messages, and the one that is selected."""
    listed = [one for one in engine().sessions(limit=MOST_SESSIONS) if one.length]
    shown = current_session()
    is_other = shown is not None and shown.length and shown.id not in {one.id for one in listed}
    return [shown, *listed] if shown is not None and is_other else listed


def _form(sessions: Sequence[SessionInfo]) -> None:
    labels, ids = session_labels(sessions), [one.id for one in sessions]
    shown = current_session()
    candidates = {candidate.name: candidate for candidate in _candidates()}
    with st.form("lab_live_form", border=False):
        st.selectbox(
            t("lab.live.session"),
            ids,
            index=ids.index(shown.id) if shown is not None and shown.id in ids else 0,
            format_func=labels.__getitem__,
            key=_SESSION,
        )
        st.text_area(
            t("lab.live.question"), placeholder=t("lab.live.hint"), height=80, key=_QUESTION
        )
        for column, side, usual in zip(st.columns(2), _SIDES, _USUAL, strict=True):
            column.selectbox(
                t(f"lab.live.{side}"),
                list(candidates),
                index=list(candidates).index(usual),
                format_func=lambda name: _name(candidates[name]),
                key=_key(side),
            )
        st.form_submit_button(
            t("lab.live.price"),
            icon=":material/price_check:",
            key="lab_live_price",
            on_click=_price,
            args=(candidates,),
        )


def _key(side: str) -> str:
    return f"lab_live_{side}"


def _candidates() -> list[Candidate]:
    """What a side may be: as in a trial, with the changed fields of its form."""
    presets = [of_preset(name) for name in Policy.presets()]
    simple = parse_baseline(DEFAULT_BASELINE)
    return distinct([today(), no_compaction(), *presets, simple, *changed_candidates()])


def _name(candidate: Candidate) -> str:
    is_preset = candidate.kind == "preset"
    return policy_name(candidate.name) if is_preset else candidate_name(candidate)


@report_errors(_PROBLEM)
def _price(candidates: Mapping[str, Candidate]) -> None:
    state = st.session_state
    left, right = (candidates[state[_key(side)]] for side in _SIDES)
    job = start_offer(engine(), state[_SESSION], state[_QUESTION], (left, right))
    state[_OPEN] = state[_PICK] = job.id


def _opened(offers: Sequence[JobInfo]) -> None:
    """Draws the choice among questions, and the one that is open."""
    ids = [job.id for job in offers]
    if st.session_state.get(_PICK) not in ids:
        st.session_state[_PICK] = ids[0]
    names = {job.id: _offer_name(job) for job in offers}
    offer_id = str(
        st.selectbox(t("lab.live.offers"), ids, format_func=names.__getitem__, key=_PICK)
    )
    job = follow_job(offer_id, key="lab_live_offer")
    if job is not None and job.result is not None:
        _offer(LiveOffer.from_dict(job.result), offer_id)
    elif job is not None and job.state != "running":
        _delete_button(offer_id)


def _offer_name(job: JobInfo) -> str:
    when = f"{job.created_at:%Y-%m-%d %H:%M}"
    return f"{excerpt(str(job.spec.get('question', '')), 60)} · {when}"


def _offer(offer: LiveOffer, offer_id: str) -> None:
    names = [_name(side.candidate) for side in offer.sides]
    show_prices(offer, names)
    sent = answer_jobs(engine(), offer_id)
    is_running = bool(sent) and sent[0].state == "running"
    with st.container(horizontal=True):
        if offer.sendable and not is_running:
            _send_button(offer, offer_id, attempt=len(sent) + 1)
        _delete_button(offer_id)
    if sent:
        job = follow_job(sent[0].id, key="lab_live_answers")
        if job is not None and job.result is not None:
            show_answers(load_answers(job.result), names)
    show_differences(offer, names, key=f"lab_live_differs_{offer_id}")


def _delete_button(offer_id: str) -> None:
    st.button(
        t("lab.live.delete"),
        key="lab_live_delete",
        icon=":material/delete:",
        on_click=_delete,
        args=(offer_id,),
    )


def _send_button(offer: LiveOffer, offer_id: str, *, attempt: int) -> None:
    is_all = len(offer.sendable) == len(offer.sides)
    label = t("lab.live.again" if attempt > 1 else "lab.live.both" if is_all else "lab.live.one")
    st.button(
        label,
        key="lab_live_send",
        type="primary" if attempt == 1 else "secondary",
        icon=":material/send:",
        on_click=_send,
        args=(offer_id, attempt),
        help=t("lab.live.send.help"),
    )


@report_errors(_PROBLEM)
def _send(offer_id: str, attempt: int) -> None:
    start_answers(engine(), offer_id, attempt=attempt)
    st.session_state[_OPEN] = offer_id


@report_errors(_PROBLEM)
def _delete(offer_id: str) -> None:
    delete_offer(engine(), offer_id)
