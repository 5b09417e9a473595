"""Owns what surrounds every page: language, the session in hand, the sidebar, the list of pages.

The address may name a session; that is a request, and whose session it is gets checked first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ctxcore.errors import ConfigurationError, ContextError, PolicyError
from ctxcore.plugins import load_plugins
from ctxcore.store.values import SessionInfo
from dashboard.page_registry import PAGES
from dashboard.safe_markdown import plain_label
from dashboard.services import engine, needs_login, user_id, warm_up_later
from dashboard.settings.problem import show_configuration_problem
from dashboard.tell import tell, tell_error
from dashboard.texts import STATE_KEY, Language, language, language_name, language_of, languages, t

_SESSION = "session_id"
_ASKED = "shell_asked"  # the address as this module last saw or wrote it
_NOTICE = "shell_notice"


def run_shell() -> None:
    """Draws the page that the address names, inside the shell."""
    st.set_page_config(page_title="ctxcore", page_icon="🧠", layout="wide")
    if needs_login():
        _login()
        return
    plugins = load_plugins()
    try:
        _choose_language()
        _choose_session()
        page = st.navigation(_pages())
        _sidebar()
    except (ConfigurationError, PolicyError) as error:
        show_configuration_problem(error)
        return
    except ContextError as error:
        st.error(plain_label(tell_error(error), max_chars=600), icon=":material/error:")
        return
    _notice()
    for plugin in plugins:
        if plugin.problem is not None:
            told = plain_label(tell(plugin.problem), max_chars=600)
            st.warning(told, icon=":material/extension_off:")
    page.run()
    warm_up_later()


def current_session() -> SessionInfo | None:
    """The session in hand, if it is there and the user's; None otherwise."""
    session_id = st.session_state.get(_SESSION)
    if not isinstance(session_id, str):
        return None
    try:
        session = engine().session(session_id)
    except ContextError:
        return None
    return None if session.deleted_at else session


def select_session(session_id: str | None) -> None:
    """Takes another session in hand; the pages show it from the next run on."""
    st.session_state[_SESSION] = session_id


def session_title(session: SessionInfo) -> str:
    """What a session is called where a name is needed."""
    return session.title or t("shell.untitled", id=session.id[:6])


def session_labels(sessions: Sequence[SessionInfo]) -> dict[str, str]:
    """A name for each session, no two alike: a picker tells its options apart by their names."""
    titles = Counter(session_title(session) for session in sessions)
    return {
        session.id: title if titles[title] == 1 else f"{title} · {session.id[:6]}"
        for session in sessions
        for title in (session_title(session),)
    }


def save_language(chosen: Language) -> None:
    """Changes the user's language, on this page and for later visits."""
    st.session_state[STATE_KEY] = chosen
    engine().store.save_setting(_language_key(), chosen)


def _language_key() -> str:
    return f"language:{user_id()}"


def _choose_language() -> None:
    if STATE_KEY in st.session_state:
        return
    stored = engine().store.setting(_language_key())
    is_known = stored in languages()
    st.session_state[STATE_KEY] = stored if is_known else language_of(st.context.locale)


def _choose_session() -> None:
    """Follows the address where it names a session that was not asked for yet."""
    asked = st.query_params.get("session")
    if asked and asked != st.session_state.get(_ASKED):
        _request(asked)
    if current_session() is None:
        newest = engine().sessions(limit=1)
        select_session(newest[0].id if newest else None)
    _write_address()


def _request(asked: str) -> None:
    try:
        engine().session(asked)
    except ContextError as error:
        st.session_state[_NOTICE] = tell_error(error)
        st.session_state[_ASKED] = asked
    else:
        select_session(asked)


def _write_address() -> None:
    session_id = st.session_state.get(_SESSION)
    if session_id is None:
        st.query_params.pop("session", None)
    elif st.query_params.get("session") != session_id:
        st.query_params["session"] = session_id
    st.session_state[_ASKED] = session_id


def _pages() -> list[st.Page]:
    return [
        st.Page(
            page.file,
            title=t(page.title),
            icon=page.icon,
            url_path=page.name,
            default=page.name == "chat",
        )
        for page in PAGES.values()
    ]


def _sidebar() -> None:
    with st.sidebar:
        _session_picker()
        with st.container(horizontal=True, key="shell_actions"):
            st.button(t("shell.new"), key="shell_new", icon=":material/add:", on_click=_new_session)
            _rename()
        st.selectbox(
            t("shell.language"),
            languages(),
            index=languages().index(language()),
            format_func=language_name,
            key="shell_language",
            on_change=_language_picked,
        )


def _session_picker() -> None:
    sessions = {session.id: session for session in engine().sessions()}
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


def _notice() -> None:
    if (text := st.session_state.pop(_NOTICE, None)) is not None:
        st.warning(plain_label(text, max_chars=400), icon=":material/info:")


def _login() -> None:
    st.title("ctxcore")
    st.write(t("shell.login_needed"))
    st.button(t("shell.login"), key="shell_login", type="primary", on_click=st.login)
