"""Edits a message and sends it again, and answers one anew.

Each makes a branch of the session up to the message; the session itself stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ctxcore.messages.values import Message, Text
from ctxcore.store.values import MessageInfo
from dashboard.chat_page.turn_runner import turn_runner
from dashboard.codes import GivenError, GivenProblem
from dashboard.compaction_dialog import close_compaction
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.selection import current_session, select_session
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

DIALOG = "edit"
FIELD_HEIGHT = 200  # pixels; chosen: a long message is seen at a glance
PAGE_MESSAGES = 50  # chosen: messages read at once on the way back to a question
_SEQ = "chat_edit_seq"
_TEXT = "chat_edit_text"
_PROBLEM = "chat_edit_problem"


def with_text(message: Message, text: str) -> Message:
    """`message` with `text` in place of its own; images and files stay."""
    others = [part for part in message.content if not isinstance(part, Text)]
    return replace(message, content=(Text(text=text), *others))


def open_edit(session_id: str, seq: int) -> None:
    """Opens the dialog with the text of message `seq`; a callback."""
    message = _message(session_id, seq).message
    texts = [part.text for part in message.content if isinstance(part, Text)]
    st.session_state[_SEQ], st.session_state[_TEXT] = seq, "\n".join(texts)
    st.session_state.pop(_PROBLEM, None)
    close_compaction()
    open_dialog(DIALOG)


def regenerate(session_id: str, seq: int) -> None:
    """Sends the question of answer `seq` again, in a branch.

    Raises:
        GivenError: no user message precedes it.
    """
    question = _question(session_id, seq)
    _send_in_branch(session_id, question.seq, question.message)


def draw_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    session = current_session()
    if session is None or not is_open(DIALOG):
        return
    draw = st.dialog(t("chat.edit.title"), width="large", on_dismiss=close_dialog)(_body)
    draw(session.id, int(st.session_state[_SEQ]))


def _body(session_id: str, seq: int) -> None:
    show_problem(_PROBLEM)
    st.caption(t("chat.edit.told"))
    text = st.text_area(t("chat.edit.text"), key=_TEXT, height=FIELD_HEIGHT)
    with st.container(horizontal=True, key="chat_edit_buttons"):
        st.button(
            t("chat.edit.send"),
            key="chat_edit_send",
            type="primary",
            disabled=not (text or "").strip(),
            on_click=_send,
            args=(session_id, seq),
        )
        st.button(t("common.cancel"), key="chat_edit_cancel", on_click=_close)


@report_errors(_PROBLEM)
def _send(session_id: str, seq: int) -> None:
    message = _message(session_id, seq).message
    _send_in_branch(session_id, seq, with_text(message, str(st.session_state[_TEXT])))
    _close()


def _send_in_branch(session_id: str, seq: int, message: Message) -> None:
    """Sends `message` in place of message `seq`, in a branch that the page then shows."""
    branch = engine().branch(session_id, seq - 1)
    select_session(branch.id)
    turn_runner().start(engine(), branch.id, message)


def _close() -> None:
    close_dialog()
    st.rerun()


def _message(session_id: str, seq: int) -> MessageInfo:
    engine().session(session_id)  # checks the owner
    return engine().store.messages(session_id, seq, seq)[0]


def _question(session_id: str, seq: int) -> MessageInfo:
    """The user message that answer `seq` belongs to."""
    engine().session(session_id)  # checks the owner
    for last in range(seq - 1, 0, -PAGE_MESSAGES):
        page = engine().store.messages(session_id, max(1, last - PAGE_MESSAGES + 1), last)
        found = next((info for info in reversed(page) if info.message.role == "user"), None)
        if found is not None:
            return found
    raise GivenError(GivenProblem.NO_QUESTION(number=seq))
