"""The filters of the list of sessions: drawn in one popover, read as conditions of the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, TypeAlias

import streamlit as st

from ctxcore.store.values import EVERY_SESSION, SessionConditions
from dashboard.services import engine
from dashboard.texts import t

Which: TypeAlias = Literal["any", "yes", "no"]
WHICH: tuple[Which, ...] = ("any", "yes", "no")
EVERYBODY = "*"
_KEYS = ("model", "compacted", "imported", "messages", "from", "until", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the list shows: whose sessions, which titles, and what they have in common."""

    user_id: str | None
    """None: those of all users."""
    title: str = ""
    has_branches: bool = False
    where: SessionConditions = EVERY_SESSION

    @property
    def is_filtered(self) -> bool:
        """Whether sessions may be left out."""
        return bool(self.title) or self.where != EVERY_SESSION


def conditions(
    *,
    model: str = "",
    compacted: Which = "any",
    imported: Which = "any",
    messages: int | None = None,
    first: date | None = None,
    last: date | None = None,
) -> SessionConditions:
    """The typed filters as conditions; days are whole ones, in UTC."""
    return SessionConditions(
        model=model.strip(),
        changed_from=None if first is None else _midnight(first),
        changed_before=None if last is None else _midnight(last + timedelta(days=1)),
        is_compacted=_truth(compacted),
        is_imported=_truth(imported),
        least_messages=messages or 0,
    )


def draw_filters() -> Wanted:
    """Draws title, filters and switches on one line; returns what they ask for."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="sessions_filters"):
        title = st.text_input(
            t("sessions.filter"),
            key="sessions_filter",
            type="search",
            placeholder=t("sessions.filter.hint"),
            live=True,
            persist_state="session",
        )
        active = sum(_is_set(key) for key in _KEYS)
        label = t("sessions.filters.active", count=active) if active else t("sessions.filters")
        with st.popover(label, icon=":material/filter_list:", key="sessions_filters_open"):
            where, user_id = _drawn(), _user()
            st.button(t("sessions.filters.clear"), key="sessions_filters_clear", on_click=_clear)
        has_branches = st.toggle(
            t("sessions.branches"),
            key="sessions_branches",
            help=t("sessions.branches.help"),
            persist_state="session",
        )
    return Wanted(
        user_id=user_id, title=(title or "").strip(), has_branches=has_branches, where=where
    )


def _drawn() -> SessionConditions:
    model = st.text_input(
        t("sessions.model"),
        key="sessions_by_model",
        placeholder=t("sessions.filters.model.hint"),
        persist_state="session",
    )
    compacted, imported = (_which(name) for name in ("compacted", "imported"))
    messages = st.number_input(
        t("sessions.filters.messages"),
        value=None,
        min_value=1,
        step=10,
        key="sessions_by_messages",
        persist_state="session",
    )
    first, last = (_day(name) for name in ("from", "until"))
    return conditions(
        model=model or "",
        compacted=compacted,
        imported=imported,
        messages=messages,
        first=first,
        last=last,
    )


def _which(name: str) -> Which:
    return st.segmented_control(
        t(f"sessions.filters.{name}"),
        WHICH,
        default="any",
        required=True,
        format_func=lambda which: t(f"sessions.filters.{which}"),
        key=f"sessions_by_{name}",
        persist_state="session",
    )


def _day(name: str) -> date | None:
    return st.date_input(
        t(f"sessions.filters.{name}"),
        value=None,
        format="YYYY-MM-DD",
        key=f"sessions_by_{name}",
        persist_state="session",
    )


def _user() -> str | None:
    """The user whose sessions are listed; operators choose one, or everybody."""
    work = engine()
    if not work.user().is_operator:
        return work.user_id
    users = {user.id: user.name or user.id for user in work.users()}
    chosen = st.selectbox(
        t("sessions.user"),
        [work.user_id, EVERYBODY, *(one for one in users if one != work.user_id)],
        format_func=lambda one: t("sessions.everybody") if one == EVERYBODY else users[one],
        key="sessions_by_user",
        persist_state="session",
    )
    return None if chosen == EVERYBODY else str(chosen)


def _is_set(key: str) -> bool:
    value = st.session_state.get(f"sessions_by_{key}")
    return value not in (None, "", "any", engine().user_id)


def _clear() -> None:
    for key in _KEYS:
        st.session_state.pop(f"sessions_by_{key}", None)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _truth(which: Which) -> bool | None:
    return None if which == "any" else which == "yes"
