"""Draws the context of a past call: the map, the verdict on each message, what was sent."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import CallInfo, SessionInfo
from dashboard import numbers
from dashboard.addresses import follow, name_place, named
from dashboard.call_view.request import show_request
from dashboard.call_view.sizes import sent_tokens
from dashboard.context_page.history_map import show_map
from dashboard.reads import calls_of, last_call_with_runs
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.widgets import verdict_table

_MOMENTS = ("next", "past")


def chosen_call(session: SessionInfo) -> int | None:
    """Lets a person choose a call by its number in the timeline; None for the next one.

    `call=` in the address chooses one as well.
    """
    calls = calls_of(session)
    if not calls:
        return None
    key = f"context_moment_{session.id}"
    wanted = named("call")
    is_there = wanted is not None and wanted <= len(calls)
    follow("call", key, {wanted: "past"} if wanted and is_there else {})
    follow("call", f"{key}_number", {wanted: wanted} if wanted and is_there else {})
    with st.container(horizontal=True, vertical_alignment="bottom", key="context_moment"):
        moment = st.segmented_control(
            t("context.moment"),
            _MOMENTS,
            default=None if key in st.session_state else "next",
            required=True,
            format_func=lambda name: t(f"context.moment.{name}"),
            key=key,
        )
        number = _number(f"{key}_number", len(calls)) if moment == "past" else None
    name_place("call", number)
    for pick in (key, f"{key}_number"):
        st.session_state[f"{pick}_followed"] = number
    return number


def _number(key: str, count: int) -> int:
    state = st.session_state
    state[key] = min(max(1, state.get(key) or count), count)
    label = t("context.past.number", count=f"{count:,}")
    return int(st.number_input(label, 1, count, step=1, key=key, width=220))


def show_past_call(session: SessionInfo, number: int) -> None:
    """Draws what call `number` was sent, as far as it is known."""
    call = calls_of(session)[number - 1]
    st.caption(plain_label(_told(call), max_chars=300))
    st.subheader(t("context.verdicts"))
    with_runs = last_call_with_runs(session, [call])
    if with_runs is None:
        st.caption(t("usage.turn.no_verdicts"))
    else:
        runs = with_runs.runs
        before = sum(run.before_tokens for run in runs)
        after = sum(run.after_tokens for run in runs)
        st.caption(
            t("context.past.sent", before=numbers.tokens(before), after=numbers.tokens(after))
        )
        show_map(session, runs, key=f"context_past_map_{number}")
        alt = t("context.verdicts")
        verdict_table(session.id, runs, key=f"context_past_runs_{number}", alt=alt)
    show_request(session, [call], place="context")


def _told(call: CallInfo) -> str:
    """When the call was made, to which model, with how many tokens."""
    return t(
        "context.past.told",
        time=f"{call.created_at:%Y-%m-%d %H:%M:%S}",
        model=call.model or t("common.unknown"),
        tokens=numbers.tokens(sent_tokens(call)),
    )
