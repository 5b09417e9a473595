"""Draws the views of the sessions page: list, import, search in messages, deleted ones."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ctxcore.engine.core import ContextEngine
from ctxcore.store.values import SearchHit, SessionFilter, SessionInfo
from ctxcore.tokens.costs import Cost
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.reads import session_tokens
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, session_title
from dashboard.services import engine
from dashboard.sessions_page import actions
from dashboard.sessions_page.chosen import show_chosen
from dashboard.sessions_page.importing import show_import
from dashboard.texts import t
from dashboard.widgets import Row, empty_state, table_with_choice

VIEWS = ("list", "import", "search", "deleted")

PAGE_SESSIONS = 25  # chosen: fits a screen without much scrolling


def show_sessions() -> None:
    """Draws the selected view, below the outcome of the last action."""
    actions.show_outcome()
    view = st.segmented_control(
        t("sessions.view"),
        VIEWS,
        default="list",
        required=True,
        format_func=lambda name: t(f"sessions.view.{name}"),
        label_visibility="collapsed",
        key="sessions_view",
    )
    if view == "import":
        show_import()
    elif view == "search":
        _search()
    elif view == "deleted":
        _deleted()
    else:
        _list()


def _list() -> None:
    title = st.text_input(
        t("sessions.filter"),
        key="sessions_filter",
        type="search",
        placeholder=t("sessions.filter.hint"),
        persist_state="session",
    )
    everybody = engine().user().is_operator and st.toggle(
        t("sessions.everybody"), key="sessions_everybody", persist_state="session"
    )
    branches = st.toggle(
        t("sessions.branches"),
        key="sessions_branches",
        help=t("sessions.branches.help"),
        persist_state="session",
    )
    listed: SessionFilter = "present" if branches else "unbranched"
    page = _page(title or "", everybody=bool(everybody), listed=listed)
    if not page.sessions:
        empty_state(t("sessions.none_found" if title else "sessions.empty"))
        return
    by_id = {session.id: session for session in page.sessions}
    current = current_session()
    costs = engine().costs(page.sessions)
    chosen = table_with_choice(
        [
            _row(session, costs.get(session.id), is_named=bool(everybody))
            for session in page.sessions
        ],
        list(by_id),
        key="sessions_list",
        alt=t("sessions.title"),
        newest=list(by_id).index(current.id) if current and current.id in by_id else 0,
    )
    show_chosen(by_id[chosen])


def _page(title: str, *, everybody: bool, listed: SessionFilter) -> Listing:
    """Draws the choice of pages if there are several; returns the selected page."""
    number = 1
    found = list_page(engine(), title=title, everybody=everybody, listed=listed, number=1)
    if found.pages > 1:
        number = st.pagination(found.pages, key=f"sessions_{listed}_page_{found.pages}")
        st.caption(t("sessions.count", count=f"{found.total:,}"))
    if number == 1:
        return found
    return list_page(engine(), title=title, everybody=everybody, listed=listed, number=number)


def _row(session: SessionInfo, cost: Cost | None, *, is_named: bool) -> Row:
    row: dict[str, object] = {
        t("sessions.name"): session_title(session),
        t("sessions.messages"): session.length,
        t("sessions.size"): session_tokens(session),
        t("sessions.model"): session.model or t("sessions.default_model"),
        t("sessions.cost"): _cost(cost),
        t("sessions.origin"): _origin(session.origin),
        t("sessions.updated"): f"{session.updated_at:%Y-%m-%d %H:%M}",
    }
    if is_named:
        row[t("sessions.user")] = session.user_id
    return row


def _cost(cost: Cost | None) -> str:
    """What is known of it, with a + where some calls are missing; empty without calls."""
    if cost is None:
        return ""
    return numbers.money(cost.dollars) + ("+" if cost.unknown and cost.dollars is not None else "")


def _origin(origin: str) -> str:
    known = ("chat", "fork", "branch", "import")
    return t(f"sessions.origin.{origin}") if origin in known else origin


def _search() -> None:
    query = st.text_input(
        t("sessions.search"), key="sessions_query", type="search", help=t("sessions.search.help")
    )
    if not (query or "").strip():
        empty_state(t("sessions.search.empty"), icon=":material/search:")
        return
    hits = engine().search(query or "")
    if not hits:
        empty_state(t("sessions.search.none"), icon=":material/search_off:")
        return
    st.caption(t("sessions.search.found", count=len(hits)))
    for hit in hits:
        _hit(hit)


def _hit(hit: SearchHit) -> None:
    with st.container(border=True, key=f"sessions_hit_{hit.session_id}_{hit.seq}"):
        title = plain_label(hit.title or hit.session_id[:6])
        label = t("sessions.hit", title=title, seq=hit.seq, role=t(f"fact.role.{hit.role}"))
        place_link(hit.session_id, "m", hit.seq, label=label, icon=":material/chat:")
        st.text(hit.excerpt)


def _deleted() -> None:
    st.caption(t("sessions.deleted.told"))
    page = _page("", everybody=False, listed="deleted")
    if not page.sessions:
        empty_state(t("sessions.deleted.empty"), icon=":material/delete:")
        return
    for session in page.sessions:
        _deleted_row(session)
    actions.purge_dialog()


def _deleted_row(session: SessionInfo) -> None:
    with st.container(
        horizontal=True, border=True, vertical_alignment="center", key=f"sessions_gone_{session.id}"
    ):
        at = f"{session.deleted_at:%Y-%m-%d %H:%M}" if session.deleted_at else ""
        st.markdown(
            t(
                "sessions.deleted.row",
                title=plain_label(session_title(session)),
                messages=numbers.tokens(session.length),
                at=at,
            )
        )
        st.button(
            t("sessions.restore"),
            key=f"sessions_restore_{session.id}",
            icon=":material/restore_from_trash:",
            on_click=actions.restore,
            args=(session.id,),
        )
        st.button(
            t("sessions.purge"),
            key=f"sessions_purge_{session.id}",
            icon=":material/delete_forever:",
            on_click=actions.ask_purge,
            args=(session.id, session_title(session)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of sessions, and the number of all."""

    sessions: list[SessionInfo]
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return -(-self.total // PAGE_SESSIONS)


def list_page(
    engine: ContextEngine, *, title: str, everybody: bool, listed: SessionFilter, number: int
) -> Listing:
    """Page `number` (from 1) of the sessions whose title contains `title`.

    `everybody` lists all users' sessions if the user is an operator.
    """
    is_all = everybody and engine.user().is_operator
    user_id = None if is_all else engine.user_id
    title = title.strip()
    return Listing(
        sessions=engine.store.list_sessions(
            user_id,
            listed=listed,
            title=title,
            limit=PAGE_SESSIONS,
            offset=(number - 1) * PAGE_SESSIONS,
        ),
        total=engine.store.count_sessions(user_id, listed=listed, title=title),
    )
