"""Draws what surrounds every page: the navigation, the sidebar, and problems that stop all pages.

The address may name a session; the engine checks that the user may open it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from ctxcore.errors import ConfigurationError, ContextError, PolicyError
from dashboard import following, guide, login_page
from dashboard.chat_page import guided, new_session
from dashboard.page_registry import PAGES
from dashboard.reports_page.alerts import show_badge
from dashboard.safe_markdown import plain_label
from dashboard.selection import (
    _SESSION,
    choose_language,
    current_session,
    save_language,
    select_session,
    session_labels,
    take_session,
)
from dashboard.services import engine, plugins, warm_up_later
from dashboard.settings.inputs import field_name
from dashboard.texts import STATE_KEY, language, language_name, language_of, languages, t
from dashboard.widgets import show_problem
from dashboard.wording import error_text, reason_text

PRODUCT: Final = "ctxcore"
LOGO: Final = Path(__file__).resolve().parent / "logo.svg"
STYLES: Final = Path(__file__).resolve().parent / "styles.css"

_REQUESTED = "shell_requested"  # the address as this module last saw or wrote it
_NOTICE = "shell_notice"


def run_shell() -> None:
    """Draws the shell and, inside it, the page that the address names."""
    st.set_page_config(page_title=PRODUCT, page_icon="🧠", layout="wide")
    if login_page.is_needed():
        login_page.draw()
        return
    found = plugins()
    try:
        choose_language()
        _choose_session()
        st.html(STYLES)
        st.logo(str(LOGO), size="large")
        page = st.navigation(_pages())
        guide.note_page(engine(), page.url_path or "chat")
        st.set_page_config(
            page_title=f"{page.title} · {PRODUCT}"
        )  # else the title of the page alone
        _sidebar()
    except (ConfigurationError, PolicyError) as error:
        _configuration_problem(error)
        return
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=600), icon=":material/error:")
        return
    show_problem(_NOTICE, is_notice=True)
    for plugin in found:
        if plugin.problem is not None:
            text = plain_label(reason_text(plugin.problem), max_chars=600)
            st.warning(text, icon=":material/extension_off:")
    following.watch(page.url_path or "chat")
    new_session.draw_dialog()  # before the page, which may end the run
    page.run()
    warm_up_later()


def _choose_session() -> None:
    """Selects the session that the address names, once."""
    requested = st.query_params.get("session")
    if requested and requested != st.session_state.get(_REQUESTED):
        _request(requested)
    if current_session() is None:
        newest = engine().sessions(limit=1)
        take_session(newest[0].id if newest else None)
    _write_address()


def _request(requested: str) -> None:
    try:
        engine().session(requested)
    except ContextError as error:
        st.session_state[_NOTICE] = error_text(error)
        st.session_state[_REQUESTED] = requested
    else:
        take_session(requested)


def _write_address() -> None:
    session_id = st.session_state.get(_SESSION)
    if session_id is None:
        st.query_params.pop("session", None)
    elif st.query_params.get("session") != session_id:
        st.query_params["session"] = session_id
    st.session_state[_REQUESTED] = session_id


def _pages() -> list[st.Page]:
    is_operator = engine().user().is_operator
    return [
        st.Page(
            page.file,
            title=t(page.title),
            icon=page.icon,
            url_path=page.name,
            default=page.name == "chat",
        )
        for page in PAGES.values()
        if not page.is_for_operators or is_operator
    ]


def _sidebar() -> None:
    with st.sidebar:
        show_badge()
        _session_picker()
        with st.container(horizontal=True, key="shell_actions"):
            st.button(t("shell.new"), key="shell_new", icon=":material/add:", on_click=_new_session)
            st.button(
                t("shell.new_with"),
                key="shell_new_with",
                icon=":material/post_add:",
                help=t("shell.new_with.help"),
                on_click=new_session.open_new_session,
            )
            _rename()
        st.selectbox(
            t("shell.language"),
            languages(),
            index=languages().index(language()),
            format_func=language_name,
            key="shell_language",
            on_change=_language_picked,
        )
        guided.draw_restart()
        login_page.draw_logout()


def _session_picker() -> None:
    sessions = {session.id: session for session in engine().sessions(branches=False)}
    current = current_session()
    if current is not None:
        sessions.setdefault(current.id, current)
        st.session_state["shell_session"] = current.id
    if not sessions:
        st.caption(t("shell.no_sessions"))
        return
    labels = session_labels(list(sessions.values()))
    st.selectbox(
        t("shell.session"),
        list(sessions),
        format_func=lambda session_id: labels.get(session_id, session_id),
        key="shell_session",
        on_change=_session_picked,
    )


def _session_picked() -> None:
    select_session(st.session_state["shell_session"])


def _language_picked() -> None:
    save_language(st.session_state["shell_language"])


def _new_session() -> None:
    select_session(engine().create_session().id)


def _rename() -> None:
    session = current_session()
    if session is None:
        return
    with st.popover(t("shell.rename"), icon=":material/edit:", key="shell_rename"):
        st.text_input(
            t("shell.title"),
            value=session.title,
            max_chars=120,
            key=f"shell_title_{session.id}",
            on_change=_renamed,
            args=(session.id,),
        )


def _renamed(session_id: str) -> None:
    engine().rename(session_id, st.session_state[f"shell_title_{session_id}"].strip())


def _configuration_problem(error: PolicyError | ConfigurationError) -> None:
    """Draws a mistake in environment or file; no page works until it is corrected."""
    is_unknown = STATE_KEY not in st.session_state
    if is_unknown:  # the stored language cannot be read either
        st.session_state[STATE_KEY] = language_of(st.context.locale)
    st.title(t("settings.problem.title"))
    st.error(_problem_text(error), icon=":material/error:")
    st.markdown(t("settings.problem.help"))
    if is_unknown:
        del st.session_state[STATE_KEY]


def _problem_text(error: PolicyError | ConfigurationError) -> str:
    if isinstance(error, ConfigurationError):
        return plain_label(error_text(error), max_chars=500)
    return t(
        "settings.problem",
        source=plain_label(reason_text(error.source), max_chars=300),
        field=plain_label(field_name(error.field)),
        value=plain_label(repr(error.value), max_chars=100),
        allowed=plain_label(reason_text(error.allowed), max_chars=2_000),
    )
