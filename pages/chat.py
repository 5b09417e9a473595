"""The chat page: the conversation on the left, what the model will see of it on the right."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.engine.proposals import Pending
from ctxcore.errors import ContextError
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.reasons.problems import BudgetProblem
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.values import SessionInfo
from dashboard import background
from dashboard.chat_page import (
    actions,
    branching,
    finding,
    instructions_dialog,
    knowledge,
    live,
    rule_dialog,
    side,
)
from dashboard.chat_page.partings import partings
from dashboard.chat_page.question import draw_question
from dashboard.chat_page.story import draw_story
from dashboard.chat_page.transcript import PAGE_MESSAGES, Transcript, first_shown, make_transcript
from dashboard.chat_page.transcript_view import Actions, TranscriptView
from dashboard.chat_page.turn_runner import RunningTurn, continued_in, turn_runner
from dashboard.chat_page.uploads import MAX_MEGABYTES
from dashboard.compaction_dialog import compaction_buttons, compaction_dialog
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, select_session, session_title
from dashboard.services import engine
from dashboard.texts import language, t, translate
from dashboard.widgets import show_problem
from dashboard.window_panel import TriggerLevel, trigger_level, window_panel
from dashboard.wording import error_text, reason_sentence

ACTIONS = Actions(
    on_message=actions.act_on_message, on_retry=actions.retry, on_session=select_session
)
LOG_HEIGHT = 600  # pixels; chosen: the input stays in sight on a laptop
ASKING_LOG_HEIGHT = 420  # chosen: keeps the newest messages visible above a question
SUGGESTIONS = ("first", "second", "third")


def draw() -> None:
    """Draws the page; a running answer is followed last, because that blocks until it ends."""
    session = current_session()
    turn = turn_runner().running(session.id) if session else None
    actions.follow_answered_turn()  # after `running`, which does not find a turn that moved before
    is_busy = session is not None and turn is None and background.is_busy(session.id)
    knowledge.settle()
    session = current_session()  # again: background work may just have changed it
    pending = engine().pending(session.id) if session and turn is None else None
    show_problem(actions.PROBLEM, max_chars=600)
    left, right = st.columns([3, 2], gap="large")
    with right:
        model = side.draw_model(session, is_running=turn is not None)
        if session is not None:
            instructions_dialog.draw_button(session, is_disabled=turn is not None)
        panel = st.empty()
    with left:
        height = LOG_HEIGHT if pending is None else ASKING_LOG_HEIGHT
        log = st.container(height=height, border=False, key="chat_log", autoscroll=True)
        welcome = log.empty()  # a separate slot that empties with the first message
    with st.bottom:
        with st.container(key="chat_above_input"):  # its own, so that nothing stale stays
            if session is not None and pending is not None:
                draw_question(session, pending, engine().store.last_turn(session.id))
            _unsent()
            _stop_button(turn)
            session_id = session.id if session else None
            knowledge.draw_chips(session_id, is_disabled=turn is not None)
        _input(turn)
    if session is None or (session.length == 0 and turn is None):
        with log, welcome.container():
            _first_run(model, session)
        instructions_dialog.draw_dialog()
        knowledge.draw_dialog()
        return
    context, level = _context(session, turn)
    transcript = _transcript(session, turn)
    with right:
        side.draw_window(panel, context, level)
        knowledge.draw_cut(context, session)
        if is_busy:
            background.watch(session.id)
        else:
            side.draw_failure(session)
        side.draw_cut(session)
        compaction_buttons(
            session,
            engine().compactions(session.id),
            page="chat",
            problem=actions.PROBLEM,
            is_disabled=turn is not None,
        )
        side.draw_pinned(session, transcript.pinned)
    with log:
        _older(transcript)
        _conversation(session, transcript, context, pending, turn)
        if turn is None:
            draw_story(session)
            finding.draw_opened(session)
            finding.draw_found(session)
    compaction_dialog()
    instructions_dialog.draw_dialog()
    branching.draw_dialog()
    rule_dialog.draw_dialog()
    knowledge.draw_dialog()
    if turn is not None:
        with log:
            live.draw_user_message(turn.text)
            shown_level = None if level is None or level.is_plain else level
            live.follow(turn, session.id, panel, partial(_draw_live_window, shown_level))
        st.rerun()


def _draw_live_window(level: TriggerLevel | None, context: Context, reply_tokens: int) -> None:
    window_panel(context, level, reply_tokens=reply_tokens)


def _stop_button(turn: RunningTurn | None) -> None:
    if turn is not None:
        st.button(
            t("chat.stop"),
            key="chat_stop",
            icon=":material/stop:",
            disabled=turn.is_stopping,
            on_click=actions.stop,
            args=(turn.session_id,),
        )


def _input(turn: RunningTurn | None) -> None:
    st.chat_input(
        t("chat.placeholder"),
        key="chat_ask",
        disabled=turn is not None,
        accept_file=True,
        max_upload_size=MAX_MEGABYTES,
        on_submit=actions.submit,
    )


def _unsent() -> None:
    """Draws the text that was written beside a file that could not be read."""
    if not (text := st.session_state.get(actions.UNSENT)):
        return
    with st.container(border=True, gap="small", key="chat_unsent_note"):
        st.markdown(f"{t('chat.not_sent')} {plain_label(text, max_chars=600)}")
        with st.container(horizontal=True, key="chat_unsent_buttons"):
            st.button(
                t("chat.file.send_without"),
                key="chat_unsent_send",
                on_click=actions.send,
                args=(text,),
            )
            st.button(t("chat.dismiss"), key="chat_unsent_drop", on_click=actions.drop_unsent)


def _conversation(
    session: SessionInfo,
    transcript: Transcript,
    context: Context | None,
    pending: Pending | None,
    turn: RunningTurn | None,
) -> None:
    """Draws the transcript, and the link to the session in which it continues."""
    is_at_end = turn is None and finding.opened(session) is None
    continuation = continued_in(engine(), session) if is_at_end else None
    if continuation is not None:  # the stopped turn goes on there
        endings = {
            seq: ending for seq, ending in transcript.endings.items() if ending.state != "stopped"
        }
        transcript = replace(transcript, endings=endings)
    can_retry = is_at_end and pending is None and continuation is None
    view = TranscriptView(
        transcript,
        context,
        ACTIONS,
        partings=partings(engine().branches(session.id), session),
        can_branch=turn is None,
        found=finding.found(session),
    )
    view.draw(can_retry=can_retry)
    if continuation is not None:
        # Not a page link: a link to the current page keeps the old address.
        st.button(
            t("chat.moved_to", title=plain_label(session_title(continuation))),
            key="chat_moved",
            icon=":material/add_comment:",
            on_click=select_session,
            args=(continuation.id,),
        )
    if is_at_end:
        _not_sent(session)


def _first_run(model: str, session: SessionInfo | None) -> None:
    st.subheader(t("chat.welcome"))
    st.write(t("chat.welcome_text"))
    suggestion_language = (
        "en" if model == LOCAL_MODEL else language()
    )  # the built-in model knows English only
    for name in SUGGESTIONS:
        text = translate(f"chat.suggestion.{name}", suggestion_language)
        st.button(text, key=f"chat_suggest_{name}", on_click=actions.send, args=(text,))
    if session is not None:
        st.caption(t("chat.empty_session"))


def _context(
    session: SessionInfo, turn: RunningTurn | None
) -> tuple[Context | None, TriggerLevel | None]:
    """The context of the next or the running call, and what the trigger compares.

    Both are None, and the error is shown, if that fails.
    """
    try:
        target = engine().call_target(session.id)
        level = trigger_level(target)
        running = turn.context if turn is not None else None
        call = replace(target.call, knowledge=knowledge.given(session.id))
        context = running or build_context(target.view, call, target.record)
    except ContextError as error:
        st.error(error_text(error), icon=":material/error:")
        return None, None
    return context, level


def _transcript(session: SessionInfo, turn: RunningTurn | None) -> Transcript:
    """The stored part of the transcript; the running turn is drawn live."""
    store = engine().store
    length = turn.base_length if turn is not None else finding.last_shown(session)
    first = first_shown(length, st.session_state.get(actions.SHOWN, PAGE_MESSAGES))
    goes_on = turn is not None and not turn.text
    return make_transcript(
        store.messages(session.id, first, length) if length else [],
        compactions=store.compactions(session.id),
        active_id=session.active_compaction_id,
        imported=store.imported_compactions(session.id),
        turns=store.turns(session.id),
        goes_on=goes_on,
        marks=store.marks(session.id),
        signals=store.signals(session.id),
    )


def _older(transcript: Transcript) -> None:
    if transcript.older:
        st.button(
            t("chat.older", count=transcript.older),
            key="chat_older",
            icon=":material/expand_less:",
            on_click=actions.show_older,
            args=(PAGE_MESSAGES,),
        )


def _not_sent(session: SessionInfo) -> None:
    """Draws a message or answer whose turn could not start."""
    turn = turn_runner().ended(session.id)
    if turn is None or turn.error is None or turn.is_recorded or turn.base_length != session.length:
        return
    live.draw_user_message(turn.text)
    text = _failure(turn.error)
    if turn.text:
        text = f"{t('chat.not_sent')} {text}"
    if turn.error.code == BudgetProblem.REFUSED:
        st.warning(text, icon=":material/block:")
    else:
        st.error(text, icon=":material/error:")
    with st.container(horizontal=True, key="chat_not_sent"):
        if turn.text:
            st.button(
                t("chat.send_again"),
                key="chat_send_again",
                on_click=actions.send,
                args=(turn.message or turn.text,),
            )
        st.button(
            t("chat.dismiss"),
            key="chat_dismiss",
            on_click=actions.dismiss,
            args=(session.id,),
        )


def _failure(error: Reason) -> str:
    if error.code == TurnProblem.STALE:
        return t("chat.question.stale")
    return plain_label(reason_sentence(error), max_chars=600)


draw()
