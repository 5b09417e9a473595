"""Callbacks of the chat input: sends a text and its file, or runs the command in it.

A command is never sent to the model; what it answers is neither stored nor sent.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ctxcore.store.values import SessionInfo
from dashboard.chat_page import actions, finding
from dashboard.chat_page.actions import PROBLEM, UNSENT
from dashboard.chat_page.attaching import attached_file
from dashboard.chat_page.commands import Typed, message_number, read_typed
from dashboard.compaction_dialog import open_compaction, redo_compaction, undo_compaction
from dashboard.selection import current_session, select_session
from dashboard.services import engine
from dashboard.texts import t
from dashboard.uploads import text_of_file
from dashboard.widgets import report_errors

FIELD = "chat_ask"
LIST = "chat_commands"
HELP = "chat_help"
"""The text that was no command, or empty for the list alone; absent while no list is shown."""

_CALL_ID_CHARS = 9  # of letters and figures: the only form that Mistral takes


def submit() -> None:
    """Sends the text and the file of the input field, or runs the command in it."""
    given = st.session_state[FIELD]
    if given.files:
        _send_with_file(given.text, given.files[0])
    else:
        submit_text(given.text)


def run_listed() -> None:
    """Runs the command that was chosen in the list above the input."""
    submit_text(st.session_state[LIST]["run"])


def submit_text(text: str) -> None:
    """Sends `text`, or runs the command in it."""
    st.session_state.pop(HELP, None)
    typed = read_typed(text)
    if typed.name is None:
        actions.send(typed.text)
    elif typed.command is None:
        st.session_state[HELP] = text.strip() if typed.name else ""
    else:
        _run(typed)


def send_as_text() -> None:
    """Sends what was taken for a command."""
    actions.send(st.session_state.pop(HELP))


def close_help() -> None:
    """Removes the list of commands from the page."""
    st.session_state.pop(HELP, None)


def _send_with_file(text: str, file: UploadedFile) -> None:
    """Sends `text` behind the file, or keeps it on the page if the file cannot be read."""
    typed = read_typed(text)
    if typed.name is not None:
        st.session_state[PROBLEM] = t("chat.command.no_file", name=typed.name)
        return
    name = Path(file.name).name
    question = typed.text if typed.text.strip() else t("chat.file.question", name=name)
    st.session_state[UNSENT] = typed.text
    with report_errors(PROBLEM):
        content = text_of_file(name, file.getvalue())
        messages = attached_file(
            name,
            content,
            call_id=uuid.uuid4().hex[:_CALL_ID_CHARS],
            said=t("chat.file.said", name=name),
            answered=t("chat.file.answered", name=name),
        )
        actions.send(question, messages)


def _run(typed: Typed) -> None:
    """Runs a known command; one that needs a session with messages says so where there is none."""
    if typed.name == "new":
        select_session(engine().create_session().id)
        return
    if typed.name == "help":
        st.session_state[HELP] = ""
        return
    session = current_session()
    if session is None or not session.length:
        st.session_state[PROBLEM] = t("chat.command.no_messages", name=typed.name)
        return
    with report_errors(PROBLEM):
        _run_in(session, typed)


def _run_in(session: SessionInfo, typed: Typed) -> None:
    match typed.name:
        case "compact":
            open_compaction(session.id, typed.text)
        case "recall" if not typed.text:
            st.session_state[PROBLEM] = t("chat.nothing_to_recall")
        case "recall":
            finding.look_up(session, typed.text)
        case "pin" | "unpin":
            _mark(session, typed)
        case "undo" if not undo_compaction(session.id):
            st.session_state[PROBLEM] = t("chat.command.nothing_to_undo")
        case "redo" if not redo_compaction(session.id):
            st.session_state[PROBLEM] = t("chat.command.nothing_to_redo")
        case "retry":
            actions.retry()


def _mark(session: SessionInfo, typed: Typed) -> None:
    """Pins or unpins the message that is named; without a number, `/pin` takes the newest one."""
    is_pin = typed.name == "pin"
    seq = session.length if is_pin and not typed.text else message_number(typed.text)
    if seq is None or not 1 <= seq <= session.length:
        key = "chat.command.no_message"
        st.session_state[PROBLEM] = t(key, name=typed.name, count=f"{session.length:,}")
        return
    if is_pin:
        engine().pin(session.id, seq - 1)
    else:
        engine().unpin(session.id, seq - 1)
    key = "compact.lost.pinned" if is_pin else "context.unpinned"
    st.toast(t(key, seq=seq), icon=":material/keep:" if is_pin else ":material/keep_off:")
