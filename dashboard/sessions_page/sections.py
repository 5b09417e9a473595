"""Draws the views of the sessions page: list, import, search in messages, deleted ones."""

from __future__ import annotations

import streamlit as st

from ctxcore.store.values import SearchHit, SessionInfo
from ctxcore.tokens.costs import Cost
from dashboard import numbers
from dashboard.addresses import place_link, why_link
from dashboard.reads import session_tokens
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, session_title
from dashboard.services import engine
from dashboard.sessions_page import actions
from dashboard.sessions_page.chosen import show_chosen
from dashboard.sessions_page.exporting import show_export
from dashboard.sessions_page.filtering import Wanted, draw_filters
from dashboard.sessions_page.importing import show_import
from dashboard.sessions_page.keeping import show_purge_all, show_retention
from dashboard.sessions_page.listing import Listing, list_page
from dashboard.sessions_page.wording import cost_text, origin_text
from dashboard.texts import t
from dashboard.widgets import Row, empty_state, table_with_choice

VIEWS = ("list", "import", "search", "deleted")


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
    wanted = draw_filters()
    page = _page(wanted)
    if not page.sessions:
        empty_state(t("sessions.none_found" if wanted.is_filtered else "sessions.empty"))
        return
    by_id = {session.id: session for session in page.sessions}
    current = current_session()
    costs = engine().costs(page.sessions)
    is_named = wanted.user_id != engine().user_id
    chosen = table_with_choice(
        [_row(session, costs.get(session.id), is_named=is_named) for session in page.sessions],
        list(by_id),
        key="sessions_list",
        alt=t("sessions.title"),
        newest=list(by_id).index(current.id) if current and current.id in by_id else 0,
    )
    if wanted.user_id == engine().user_id or engine().user().reads_others:
        show_export(wanted, page.total)
    show_chosen(by_id[chosen], page.sessions)


def _page(wanted: Wanted, *, is_deleted: bool = False) -> Listing:
    """Draws the choice of pages if there are several; returns the selected page."""
    found = list_page(engine(), wanted, number=1, is_deleted=is_deleted)
    if found.pages <= 1:
        return found
    name = "deleted" if is_deleted else "present"
    number = st.pagination(found.pages, key=f"sessions_{name}_page_{found.pages}")
    st.caption(t("sessions.count", count=f"{found.total:,}"))
    if number == 1:
        return found
    return list_page(engine(), wanted, number=number, is_deleted=is_deleted)


def _row(session: SessionInfo, cost: Cost | None, *, is_named: bool) -> Row:
    row: dict[str, object] = {
        t("sessions.name"): session_title(session),
        t("sessions.messages"): session.length,
        t("sessions.size"): session_tokens(session),
        t("sessions.model"): session.model or t("sessions.default_model"),
        t("sessions.cost"): cost_text(cost),
        t("sessions.origin"): origin_text(session.origin),
        t("sessions.updated"): f"{session.updated_at:%Y-%m-%d %H:%M}",
    }
    if is_named:
        row[t("sessions.user")] = session.user_id
    return row


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
        why_link(hit.session_id, hit.seq)


def _deleted() -> None:
    show_retention()
    st.caption(t("sessions.deleted.told"))
    page = _page(Wanted(user_id=engine().user_id), is_deleted=True)
    if not page.sessions:
        empty_state(t("sessions.deleted.empty"), icon=":material/delete:")
        return
    for session in page.sessions:
        _deleted_row(session)
    show_purge_all(page.total)
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
