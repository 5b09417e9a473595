"""The selections that every page shares: the current session and the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import SessionInfo
from dashboard.addresses import forget_places
from dashboard.login import user_id
from dashboard.services import engine
from dashboard.texts import STATE_KEY, Language, language_of, languages, t

_SESSION = "session_id"


def current_session() -> SessionInfo | None:
    """The selected session; None if there is none, it is deleted, or it is not accessible."""
    session_id = st.session_state.get(_SESSION)
    if not isinstance(session_id, str):
        return None
    try:
        session = engine().session(session_id)
    except ContextError:
        return None
    return None if session.deleted_at else session


def select_session(session_id: str | None) -> None:
    """Selects a session; the pages show it from the next run on, from its end."""
    if session_id != st.session_state.get(_SESSION):
        forget_places()
    take_session(session_id)


def take_session(session_id: str | None) -> None:
    """Selects the session that the address names, with the place that it names."""
    st.session_state[_SESSION] = session_id


def session_title(session: SessionInfo) -> str:
    """The title of a session, or a placeholder; a neutral name for one that may not be read."""
    if not session.title and session.user_id != engine().user_id:
        return session_name(session.id)
    return session.title or t("shell.untitled", id=session.id[:6])


def session_name(session_id: str) -> str:
    """What a session is called where its title may not be read."""
    return t("shell.session_of_other", id=session_id[:8])


def may_read(session: SessionInfo) -> bool:
    """Whether the user may read what was said in a session."""
    me = engine().user()
    return session.user_id == me.id or me.reads_others


def session_labels(sessions: Sequence[SessionInfo]) -> dict[str, str]:
    """A distinct label for each session, because a picker tells its options apart by label."""
    titles = Counter(session_title(session) for session in sessions)
    return {
        session.id: title if titles[title] == 1 else f"{title} · {session.id[:6]}"
        for session in sessions
        for title in (session_title(session),)
    }


def save_language(chosen: Language) -> None:
    """Saves the user's language, for this page and later visits."""
    st.session_state[STATE_KEY] = chosen
    engine().store.save_setting(_language_key(), chosen)


def _language_key() -> str:
    return f"language:{user_id()}"


def choose_language() -> None:
    if STATE_KEY in st.session_state:
        return
    stored = engine().store.setting(_language_key())
    is_known = stored in languages()
    st.session_state[STATE_KEY] = stored if is_known else language_of(st.context.locale)
