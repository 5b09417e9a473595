"""Draws what can be done with the session selected in the list."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.exports.files import file_title
from ctxcore.exports.registry import EXPORT_FORMS
from ctxcore.store.values import BRANCH, SessionInfo
from dashboard.page_registry import PAGES
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, may_read, select_session, session_title
from dashboard.services import engine
from dashboard.sessions_page import actions
from dashboard.sessions_page.comparing import show_comparing
from dashboard.sessions_page.exporting import choose_form, choose_redaction, secrets_told
from dashboard.texts import t


def show_chosen(session: SessionInfo, listed: Sequence[SessionInfo]) -> None:
    """Draws links, title, copies and exports of one session, and beside it another of `listed`."""
    with st.container(border=True, key="sessions_chosen"):
        st.markdown(f"**{plain_label(session_title(session))}**")
        if not may_read(session):
            st.caption(t("sessions.figures_alone"))
            return
        _origin(session)
        _open(session)
        _keep(session)
        _export(session)
        if engine().user().is_operator:
            _assign(session)
        show_comparing(session, listed)


def _origin(session: SessionInfo) -> None:
    """Says which session this one branches from, and how many branches it has itself."""
    relatives = {one.id: one for one in engine().people.relatives(session.id) if may_read(one)}
    parent = relatives.get(session.parent_id or "")
    if session.origin == BRANCH and parent is not None:
        title = plain_label(session_title(parent))
        place = (session.parent_seq or 0) + 1
        st.caption(f":material/call_split: {t('sessions.branch_of', title=title, seq=place)}")
    own = [
        one
        for one in relatives.values()
        if (one.parent_id, one.origin, one.deleted_at) == (session.id, BRANCH, None)
    ]
    if own:
        st.caption(f":material/call_split: {t('sessions.has_branches', count=f'{len(own):,}')}")


def _open(session: SessionInfo) -> None:
    current = current_session()
    with st.container(horizontal=True, key="sessions_links", vertical_alignment="center"):
        st.button(
            t("sessions.take"),
            key="sessions_take",
            type="primary",
            icon=":material/push_pin:",
            disabled=current is not None and current.id == session.id,
            on_click=select_session,
            args=(session.id,),
        )
        page_links(session)


def _keep(session: SessionInfo) -> None:
    with st.container(horizontal=True, key="sessions_keep", vertical_alignment="bottom"):
        key = f"sessions_title_{session.id}"
        st.text_input(
            t("sessions.rename"),
            value=session.title,
            max_chars=120,
            key=key,
            width=360,
            on_change=actions.rename,
            args=(session.id, key),
        )
        st.button(
            t("sessions.fork"),
            key="sessions_fork",
            icon=":material/fork_right:",
            help=t("sessions.fork.help"),
            disabled=not session.length,
            on_click=actions.fork,
            args=(session, t("sessions.fork.title", title=session_title(session))),
        )
        st.button(
            t("sessions.delete"),
            key="sessions_delete",
            icon=":material/delete:",
            help=t("sessions.delete.help"),
            on_click=actions.delete,
            args=(session.id, session_title(session)),
        )


def _export(session: SessionInfo) -> None:
    with st.container(horizontal=True, key="sessions_export", vertical_alignment="bottom"):
        name = choose_form("sessions_export_form")
        redacts = choose_redaction("sessions_export_redact")
        form = EXPORT_FORMS[name]
        st.download_button(
            t("sessions.export"),
            data=_Export(session.id, name, redacts=redacts),
            file_name=f"{file_title(session)}{form.suffix}",
            mime=form.media_type,
            key="sessions_export_file",
            icon=":material/download:",
            on_click="ignore",
        )
    if redacts:
        with st.spinner(t("sessions.export.searching")):
            counts = engine().secrets_in(session.id)
        st.caption(secrets_told(counts))


class _Export:
    """Makes the file on download, outside of the script run."""

    def __init__(self, session_id: str, form: str, *, redacts: bool) -> None:
        self._engine, self._session_id, self._form = engine(), session_id, form
        self._redacts = redacts

    def __call__(self) -> bytes:
        ids = [self._session_id]
        [file] = self._engine.export_many(ids, self._form, redacts=self._redacts)
        return file.data


def _assign(session: SessionInfo) -> None:
    users = {user.id: user for user in engine().users()}
    if len(users) < 2:
        return
    key = f"sessions_assign_{session.id}"
    st.selectbox(
        t("sessions.assign"),
        list(users),
        index=list(users).index(session.user_id),
        format_func=lambda user_id: users[user_id].name or user_id,
        key=key,
        width=360,
        on_change=actions.assign,
        args=(session.id, key),
    )


def page_links(session: SessionInfo) -> None:
    """Draws a link to every page that shows a session, with this one selected."""
    for page in PAGES.values():
        if not page.shows_session:
            continue
        st.page_link(
            str(page.file),
            label=t(page.title),
            icon=page.icon,
            query_params={"session": session.id},
        )
