"""Draws what people see before they log in, and the button to log out."""

from __future__ import annotations

import logging

import streamlit as st
from streamlit.errors import StreamlitAuthError

from dashboard.callback import FAILURES, PARAMETER
from dashboard.codes import LoginError
from dashboard.login import Login, configured_login, user_id, user_name
from dashboard.safe_markdown import plain_label
from dashboard.texts import STATE_KEY, language_of, t
from dashboard.wording import reason_sentence

logger = logging.getLogger(__name__)

PRODUCT = "ctxcore"
_FAILED = "login_failed"


def is_needed() -> bool:
    """Whether somebody has to log in before anything is shown."""
    try:
        user_id()
    except LoginError:
        return True
    return False


def draw() -> None:
    """Draws the way to log in, or what is missing in its configuration."""
    st.session_state.setdefault(STATE_KEY, language_of(st.context.locale))
    login = configured_login()
    st.title(PRODUCT)
    if login is None or login.problem is not None:
        _incomplete(login)
        return
    st.write(t("shell.login_needed"))
    _failure()
    if st.user.get("is_logged_in"):  # with a token that names nobody
        st.error(t("login.no_subject"), icon=":material/error:")
    for name in login.providers:
        key = "shell_login" if len(login.providers) == 1 else f"shell_login_{name}"
        label = t("shell.login") if len(login.providers) == 1 else t("login.with", name=name)
        st.button(label, key=key, type="primary", on_click=_begin, args=(name,))


def draw_logout() -> None:
    """Draws who is logged in, and the button to log out; nothing without a login."""
    if configured_login() is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="shell_login_state"):
        st.caption(plain_label(user_name() or user_id()))
        st.button(
            t("login.logout"),
            key="shell_logout",
            icon=":material/logout:",
            type="tertiary",
            on_click=st.logout,
        )


def _begin(provider: str) -> None:
    st.query_params.pop(PARAMETER, None)
    try:
        st.login(None if provider == "default" else provider)
    except StreamlitAuthError as error:
        logger.warning("login cannot begin kind=%s", type(error).__name__)
        st.session_state[_FAILED] = True


def _failure() -> None:
    """Says why the last attempt failed."""
    named = st.query_params.get(PARAMETER)
    if st.session_state.pop(_FAILED, False):
        named = "failed"
    if named in FAILURES:
        st.error(t(f"login.{named}"), icon=":material/error:")


def _incomplete(login: Login | None) -> None:
    st.error(t("login.incomplete"), icon=":material/error:")
    if login is not None and login.problem is not None:
        st.markdown(plain_label(reason_sentence(login.problem), max_chars=500))
