"""Finds messages of the session on its page: answers `/recall`, and shows the transcript at one.

What was found belongs to the page: it is neither stored nor sent to the model.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

from ctxcore.assembly.recall_hits import RecalledMessage, RecallHit
from ctxcore.store.values import SessionInfo
from dashboard.addresses import name_place, named
from dashboard.excerpts import excerpt
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t

_ASKED: Final = "chat_recall"
_FURTHER: Final = "chat_further"
_HIT_CHARS: Final = 500  # chosen: a paragraph
_NEWER: Final = 10  # messages more at a click; chosen: a few screens


def look_up(session: SessionInfo, words: str) -> None:
    """Searches the session for `words` from the next run on."""
    show_newest()
    st.session_state[_ASKED] = (session.id, words)


def open_message(session_id: str, seq: int) -> None:
    """Shows the transcript up to message `seq` (from 1) from the next run on.

    The page scrolls to the end of the transcript, so the message is in sight. The address names it.
    """
    st.session_state.pop(_FURTHER, None)
    st.query_params["session"] = session_id
    name_place("m", seq)


def open_story(session_id: str, seq: int) -> None:
    """Shows the transcript up to message `seq` with its story; a callback."""
    open_message(session_id, seq)
    st.session_state[story_key(session_id, seq)] = True


def story_key(session_id: str, seq: int) -> str:
    """The key of the expander of a story."""
    return f"chat_story_{session_id}_{seq}"


def _show_further(seq: int) -> None:
    """Shows some messages more behind message `seq`, which was opened."""
    found, further = st.session_state.get(_FURTHER, (seq, 0))
    st.session_state[_FURTHER] = (seq, (further if found == seq else 0) + _NEWER)


def leave() -> None:
    """Removes what was found, and shows the newest messages again."""
    st.session_state.pop(_ASKED, None)
    show_newest()


def show_newest() -> None:
    """Shows the newest messages again."""
    st.session_state.pop(_FURTHER, None)
    name_place("m", None)


def found(session: SessionInfo) -> int | None:
    """The message that the address names, to be marked; None if the session has none of it."""
    seq = named("m")
    return seq if seq is not None and seq <= session.length else None


def opened(session: SessionInfo) -> int | None:
    """The last message of the session that is shown; None: the transcript is shown to its end."""
    if (seq := found(session)) is None:
        return None
    of, further = st.session_state.get(_FURTHER, (seq, 0))
    last = seq + (further if of == seq else 0)
    return last if last < session.length else None


def last_shown(session: SessionInfo) -> int:
    """The last message of the transcript that is shown."""
    return opened(session) or session.length


def draw_opened(session: SessionInfo) -> None:
    """Says that the transcript is not shown to its end, and leads back there."""
    if (seq := opened(session)) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="chat_opened_note"):
        st.caption(t("chat.opened", seq=seq, count=f"{session.length:,}"), width="content")
        st.button(
            t("chat.newer", count=f"{session.length - seq:,}"),
            key="chat_newer",
            icon=":material/expand_more:",
            on_click=_show_further,
            args=(found(session),),
        )
        st.button(
            t("chat.newest"),
            key="chat_newest",
            icon=":material/keyboard_double_arrow_down:",
            on_click=show_newest,
        )


def draw_found(session: SessionInfo) -> None:
    """Draws what the last `/recall` found in the session, below the newest messages."""
    session_id, words = st.session_state.get(_ASKED, (None, ""))
    if session_id != session.id or opened(session) is not None:
        return
    hits = engine().recall(session.id, words)
    with st.chat_message("assistant", avatar=":material/search:"):
        told = plain_label(words, max_chars=200)
        key = "chat.recall.found" if hits else "chat.recall.none"
        st.caption(t(key, count=len(hits), words=told))
        for hit in hits:
            _draw_hit(session.id, hit)
        st.button(t("chat.dismiss"), key="chat_recall_dismiss", on_click=leave)


def _draw_hit(session_id: str, hit: RecallHit) -> None:
    with st.container(border=True, gap="small", key=f"chat_recall_{hit.seq}"):
        for message in hit.before:
            _draw_beside(message)
        st.button(
            _heading(hit),
            key=f"chat_recall_open_{hit.seq}",
            icon=":material/chat:",
            type="tertiary",
            help=t("chat.recall.open"),
            on_click=open_message,
            args=(session_id, hit.seq),
        )
        st.text(excerpt(hit.text, _HIT_CHARS))
        for message in hit.after:
            _draw_beside(message)
        st.button(
            t("story.why.link"),
            key=f"chat_recall_why_{hit.seq}",
            icon=":material/help_center:",
            type="tertiary",
            on_click=open_story,
            args=(session_id, hit.seq),
        )


def _draw_beside(message: RecalledMessage) -> None:
    """Draws a message around a hit on one line."""
    text = plain_label(message.text, max_chars=160)
    st.caption(f"{_heading(message)} · {text}")


def _heading(message: RecalledMessage) -> str:
    date = [f"{message.created_at:%Y-%m-%d %H:%M}"] if message.created_at else []
    return " · ".join([f"#{message.seq}", t(f"fact.role.{message.role}"), *date])
