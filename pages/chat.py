"""The chat page: the conversation on the left, what the model will see of it on the right."""

from __future__ import annotations

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.errors import ContextError
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.store.values import SessionInfo
from dashboard import chat_actions, chat_side, live
from dashboard.hub import RunningTurn, hub
from dashboard.panels import compaction_dialog, window_panel
from dashboard.safe_markdown import plain_label
from dashboard.sentences import sentence
from dashboard.services import engine
from dashboard.shell import current_session
from dashboard.texts import language, t, translate
from dashboard.transcript import PAGE_MESSAGES, Transcript, first_shown, make_transcript
from dashboard.transcript_view import Actions, TranscriptView

ACTIONS = Actions(on_message=chat_actions.act_on_message, on_retry=chat_actions.retry)
LOG_HEIGHT = 600
SUGGESTIONS = ("first", "second", "third")


def draw() -> None:
    """The whole page; a running answer is followed last, because that takes as long as it does."""
    session = current_session()
    turn = hub().running(session.id) if session else None
    _problem()
    left, right = st.columns([3, 2], gap="large")
    with right:
        model = chat_side.draw_model(session, is_running=turn is not None)
        panel = st.empty()
    with left:
        log = st.container(height=LOG_HEIGHT, border=False, key="chat_log", autoscroll=True)
        welcome = log.empty()  # of its own, so that it goes with the first word that is said
    _input(session, turn)
    if session is None or (session.length == 0 and turn is None):
        with log, welcome.container():
            _first_run(model, session)
        return
    context = _context(session, turn)
    transcript = _transcript(session, turn)
    with right:
        chat_side.draw_window(panel, context)
        chat_side.draw_buttons(session, is_running=turn is not None)
        chat_side.draw_pinned(session, transcript.pinned)
    with log:
        _older(transcript)
        TranscriptView(transcript, context, ACTIONS).draw(can_retry=turn is None)
        _not_sent(session)
    compaction_dialog()
    if turn is not None:
        with log:
            live.draw_asked(turn.text)
            live.follow(turn, panel, _draw_live_window)
        st.rerun()


def _draw_live_window(context: Context, reply_tokens: int) -> None:
    window_panel(context, reply_tokens=reply_tokens)


def _problem() -> None:
    if (text := st.session_state.pop(chat_actions.PROBLEM, None)) is not None:
        st.error(plain_label(text, max_chars=600), icon=":material/error:")


def _input(session: SessionInfo | None, turn: RunningTurn | None) -> None:
    with st.bottom:
        if turn is not None:
            st.button(
                t("chat.stop"),
                key="chat_stop",
                icon=":material/stop:",
                disabled=turn.is_stopping,
                on_click=chat_actions.stop,
                args=(turn.session_id,),
            )
        st.chat_input(
            t("chat.placeholder"),
            key="chat_ask",
            disabled=turn is not None,
            on_submit=chat_actions.submit,
        )


def _first_run(model: str, session: SessionInfo | None) -> None:
    st.subheader(t("chat.welcome"))
    st.write(t("chat.welcome_text"))
    spoken = "en" if model == LOCAL_MODEL else language()  # the built-in model knows English only
    for name in SUGGESTIONS:
        text = translate(f"chat.suggestion.{name}", spoken)
        st.button(text, key=f"chat_suggest_{name}", on_click=chat_actions.say, args=(text,))
    if session is not None:
        st.caption(t("chat.empty_session"))


def _context(session: SessionInfo, turn: RunningTurn | None) -> Context | None:
    """What the next call sees, or the running one; None, with the reason shown, if that fails."""
    if turn is not None and turn.context is not None:
        return turn.context
    try:
        return engine().context(session.id)
    except ContextError as error:
        st.error(sentence(error), icon=":material/error:")
        return None


def _transcript(session: SessionInfo, turn: RunningTurn | None) -> Transcript:
    """The stored part: without the running turn, which is drawn as it comes."""
    store = engine().store
    length = turn.base_length if turn is not None else session.length
    first = first_shown(length, st.session_state.get(chat_actions.SHOWN, PAGE_MESSAGES))
    turns = store.turns(session.id)
    if turn is not None and not turn.text:
        turns = turns[:-1]  # it goes on: how it had ended is no longer true
    return make_transcript(
        store.messages(session.id, first, length) if length else [],
        compactions=store.compactions(session.id),
        active_id=session.active_compaction_id,
        imported=store.imported_compactions(session.id),
        turns=turns,
        marks=store.marks(session.id),
    )


def _older(transcript: Transcript) -> None:
    if transcript.older:
        st.button(
            t("chat.older", count=transcript.older),
            key="chat_older",
            icon=":material/expand_less:",
            on_click=chat_actions.show_older,
            args=(PAGE_MESSAGES,),
        )


def _not_sent(session: SessionInfo) -> None:
    """What was said but never stored, because the turn could not even start."""
    turn = hub().ended(session.id)
    if turn is None or turn.error is None or turn.base_length != session.length:
        return
    live.draw_asked(turn.text)
    st.error(
        f"{t('chat.not_sent')} {plain_label(turn.error, max_chars=600)}", icon=":material/error:"
    )
    with st.container(horizontal=True, key="chat_not_sent"):
        if turn.text:
            st.button(
                t("chat.send_again"),
                key="chat_send_again",
                on_click=chat_actions.say,
                args=(turn.text,),
            )
        st.button(
            t("chat.dismiss"),
            key="chat_dismiss",
            on_click=chat_actions.dismiss,
            args=(session.id,),
        )


draw()
