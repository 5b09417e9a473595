"""Callbacks of the chat page: send, stop, retry, answer, mark, fork, branch, choose a model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.compaction.plans import Answer
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.messages.values import Message, text_message
from dashboard.chat_page import branching, finding, knowledge, rule_dialog
from dashboard.chat_page.turn_runner import RunningTurn, turn_runner
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, select_session
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.widgets import report_errors

PROBLEM = "chat_problem"
SHOWN = "chat_shown"
ANSWERED = "chat_answered"
NEW_MODEL = "chat_model_new"

UNSENT = "chat_unsent"
"""The text that was written beside a file that could not be read."""

_TITLE_CHARS = 60  # chosen: fits the sidebar


@report_errors(PROBLEM)
def send(content: str | Message, attached: Sequence[Message] = ()) -> None:
    """Sends `content` in the current session, or in a new one if there is none.

    The messages of an attached file stand before it.
    """
    message = text_message("user", content) if isinstance(content, str) else content
    st.session_state.pop(UNSENT, None)
    finding.leave()
    session = current_session()
    if session is None:
        session = engine().create_session(model=st.session_state.get(NEW_MODEL))
        select_session(session.id)
        knowledge.adopt(session.id)
    if not session.title:
        engine().rename(session.id, " ".join(message.text.split())[:_TITLE_CHARS])
    if attached and turn_runner().running(session.id) is None:
        engine().append(session.id, attached)
        if session.goal_seq is None:  # the words around a file ask for nothing
            engine().store.set_goal(session.id, None)
    texts = knowledge.given(session.id)
    knowledge.note_sent(turn_runner().start(engine(), session.id, message, knowledge=texts))


def drop_unsent() -> None:
    """Removes a text from the page that was not sent because of its file."""
    st.session_state.pop(UNSENT, None)


@report_errors(PROBLEM)
def answer(session_id: str, plan_id: str, chosen: Answer) -> None:
    """Answers the pending compaction `plan_id`."""
    pending = engine().pending(session_id)
    if pending is None or pending.plan_id != plan_id:
        st.session_state[PROBLEM] = t("chat.question.answered")
    else:
        texts = knowledge.given(session_id)
        turn = turn_runner().answer(engine(), session_id, plan_id, chosen, knowledge=texts)
        st.session_state[ANSWERED] = turn
        knowledge.note_sent(turn)


def follow_answered_turn() -> None:
    """Selects the session in which a turn answered on this page continues, if it is another one."""
    turn, session = st.session_state.get(ANSWERED), current_session()
    if not isinstance(turn, RunningTurn) or session is None:
        return
    is_running = turn.is_running  # read first, because a turn moves before it ends
    has_moved = turn.session_id != turn.first_session_id == session.id
    if is_running and not has_moved:
        return
    del st.session_state[ANSWERED]
    if has_moved:
        select_session(turn.session_id)
        st.toast(t("chat.moved"), icon=":material/add_comment:")
        st.rerun()


@report_errors(PROBLEM)
def retry() -> None:
    """Resumes the last turn."""
    if (session := current_session()) is not None:
        texts = knowledge.given(session.id)
        knowledge.note_sent(turn_runner().resume(engine(), session.id, knowledge=texts))


def stop(session_id: str) -> None:
    """Stops the running turn; the partial answer is kept."""
    if (turn := turn_runner().running(session_id)) is not None:
        turn.cancel()


def dismiss(session_id: str) -> None:
    """Removes a message that could not be sent from the page."""
    turn_runner().dismiss(session_id)


@report_errors(PROBLEM)
def act_on_message(key: str, seq: int) -> None:
    """Runs the action chosen in the menu of message `seq` (from 1)."""
    session = current_session()
    if session is None:
        return
    match st.session_state[key]:
        case "pin":
            engine().pin(session.id, seq - 1)
        case "unpin":
            engine().unpin(session.id, seq - 1)
        case "exclude":
            engine().exclude(session.id, seq - 1)
        case "include":
            engine().include(session.id, seq - 1)
        case "fork":
            select_session(engine().fork(session.id, seq - 1).id)
            st.toast(t("chat.forked"), icon=":material/call_split:")
        case "story":
            finding.open_story(session.id, seq)
        case "rule":
            rule_dialog.choose(session.id, seq)
        case "edit":
            branching.open_edit(session.id, seq)
        case "regenerate":
            branching.regenerate(session.id, seq)


@report_errors(PROBLEM)
def unpin(session_id: str, seq: int) -> None:
    """Unpins message `seq`."""
    engine().unpin(session_id, seq - 1)


@report_errors(PROBLEM)
def choose_model(session_id: str | None, key: str) -> None:
    """Sets the model of the session, or of the one that the next message starts.

    A typed name may be any; one with a blank in it can be none, and changes nothing.
    """
    chosen = str(st.session_state[key] or "").strip()
    if not chosen or any(letter.isspace() for letter in chosen):
        st.session_state[PROBLEM] = t("models.bad_name", name=plain_label(chosen, max_chars=80))
    elif session_id is None:
        st.session_state[NEW_MODEL] = chosen
    else:
        engine().set_model(session_id, None if chosen == default_model() else chosen)


@report_errors(PROBLEM)
def new_local_session() -> None:
    """Begins a small session with the built-in model."""
    select_session(engine().create_session(model=LOCAL_MODEL).id)


def show_older(page: int) -> None:
    """Shows `page` older messages more."""
    st.session_state[SHOWN] = st.session_state.get(SHOWN, page) + page
