"""Compares two sessions side by side: their figures, and the message at which they part."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.compaction.triggers import is_recorded
from ctxcore.engine.core import ContextEngine
from ctxcore.messages.openai import to_openai
from ctxcore.store.values import MessageInfo, SessionInfo
from ctxcore.tokens.costs import Cost
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.excerpts import excerpt
from dashboard.reads import session_tokens, turn_beginnings
from dashboard.safe_markdown import plain_label
from dashboard.selection import may_read, session_labels
from dashboard.services import database_url, engine
from dashboard.sessions_page.wording import cost_text, origin_text
from dashboard.texts import t
from dashboard.widgets import Row, plain_table

_CHUNK = 500  # messages compared at a time


def show_comparing(session: SessionInfo, others: Sequence[SessionInfo]) -> None:
    """Draws the choice of another session, and both side by side once one is chosen."""
    found = {one.id: one for one in [*engine().people.relatives(session.id), *others]}
    choices = {
        one.id: one
        for one in found.values()
        if one.id != session.id and one.deleted_at is None and may_read(one)
    }
    if not choices:
        return
    labels = session_labels(list(choices.values()))
    chosen = st.selectbox(
        t("sessions.compare"),
        list(choices),
        index=None,
        placeholder=t("sessions.compare.hint"),
        format_func=lambda one: labels.get(one, one),
        key=f"sessions_compare_{session.id}",
        width=360,
    )
    if chosen in choices:
        _compare(session, choices[str(chosen)])


def _compare(one: SessionInfo, other: SessionInfo) -> None:
    costs = engine().costs([one, other])
    titles = session_labels([one, other])
    figures = [_figures(session, costs.get(session.id)) for session in (one, other)]
    rows: list[Row] = [
        {t("sessions.compare.figure"): name, titles[one.id]: value, titles[other.id]: second}
        for (name, value), second in zip(figures[0].items(), figures[1].values(), strict=True)
    ]
    plain_table(rows, alt=t("sessions.compare"))
    shared = _shared(database_url(), one.id, one.length, other.id, other.length)
    if not shared:
        st.caption(t("sessions.compare.apart"))
        return
    is_all = shared == max(one.length, other.length)
    key = "sessions.compare.same" if is_all else "sessions.compare.parts"
    st.markdown(t(key, shared=f"{shared:,}"))
    for session in () if is_all else (one, other):
        _next(session, shared, titles[session.id])


def _next(session: SessionInfo, shared: int, title: str) -> None:
    """Draws the first message of a session that the other one does not have."""
    if session.length <= shared:
        st.caption(t("sessions.compare.ends", title=plain_label(title)))
        return
    (info,) = engine().store.messages(session.id, shared + 1, shared + 1)
    label = t("common.open_message", seq=f"{info.seq:,}")
    with st.container(border=True, key=f"sessions_compare_next_{session.id}"):
        st.caption(f"{plain_label(title)} · {t(f'fact.role.{info.message.role}')}")
        st.text(excerpt(info.message.text))
        place_link(session.id, "m", info.seq, label=label, icon=":material/chat:")


def _figures(session: SessionInfo, cost: Cost | None) -> dict[str, str]:
    store = engine().store
    made = [one for one in store.compactions(session.id) if not is_recorded(one.compaction)]
    compactions = len(made) + len(store.imported_compactions(session.id))
    return {
        t("sessions.messages"): f"{session.length:,}",
        t("sessions.size"): numbers.tokens(session_tokens(session)),
        t("usage.figure.turns"): f"{len(turn_beginnings(session)):,}",
        t("usage.figure.calls"): f"{store.count_calls(session.id):,}",
        t("usage.compactions"): f"{compactions:,}",
        t("sessions.cost"): cost_text(cost),
        t("sessions.model"): session.model or t("sessions.default_model"),
        t("sessions.origin"): origin_text(session.origin),
        t("sessions.created"): f"{session.created_at:%Y-%m-%d %H:%M}",
        t("sessions.updated"): f"{session.updated_at:%Y-%m-%d %H:%M}",
        t("sessions.user"): session.user_id,
    }


@st.cache_data(ttl="1h", max_entries=64, show_spinner=False)
def _shared(url: str, one: str, length: int, other: str, other_length: int) -> int:
    del url
    return shared_messages(engine(), one, other, min(length, other_length))


def shared_messages(engine: ContextEngine, one: str, other: str, most: int) -> int:
    """How many messages two sessions both begin with, of `most`; each is read once."""
    for first in range(1, most + 1, _CHUNK):
        last = min(first + _CHUNK - 1, most)
        pairs = zip(
            engine.store.messages(one, first, last),
            engine.store.messages(other, first, last),
            strict=True,
        )
        for at, (left, right) in enumerate(pairs):
            if _said(left) != _said(right):
                return first - 1 + at
    return most


def _said(info: MessageInfo) -> object:
    return to_openai(info.message)
