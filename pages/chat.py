"""The chat page: the conversation, and below it the window of the model and the input."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.engine.events import ANSWER_CUT
from ctxcore.engine.proposals import Pending
from ctxcore.errors import ContextError
from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.reasons.problems import BudgetProblem
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.values import CompactionInfo, LeaseInfo, SessionInfo
from dashboard import background
from dashboard.chat_page import (
    actions,
    branching,
    command_list,
    elsewhere,
    finding,
    following,
    guided,
    instructions_dialog,
    knowledge,
    live,
    model_picker,
    rule_dialog,
    side,
    submitting,
)
from dashboard.chat_page.folded_notice import draw_notice, folded_by_itself
from dashboard.chat_page.partings import partings
from dashboard.chat_page.question import draw_question
from dashboard.chat_page.story import draw_story
from dashboard.chat_page.transcript import PAGE_MESSAGES, Transcript, first_shown, make_transcript
from dashboard.chat_page.transcript_view import Actions, TranscriptView
from dashboard.chat_page.turn_runner import RunningTurn, continued_in, turn_runner
from dashboard.chat_page.window_view import NextCall, draw_window
from dashboard.compaction_dialog import compaction_dialog
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, select_session, session_title
from dashboard.services import engine
from dashboard.texts import language, t, translate
from dashboard.uploads import TEXT_MEGABYTES
from dashboard.widgets import draw_nothing, show_problem
from dashboard.window_panel import trigger_level
from dashboard.wording import error_text, reason_sentence

ACTIONS = Actions(
    on_message=actions.act_on_message, on_retry=actions.retry, on_session=select_session
)
LOG_HEIGHT = 600  # pixels, where the style sheet does not fit it to the window
SUGGESTIONS = ("first", "second", "third")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The containers of the page, and the model that is chosen below the input."""

    log: DeltaGenerator
    welcome: DeltaGenerator
    above_input: DeltaGenerator
    model: str


def draw() -> None:
    """Draws the page; a running answer is followed last, because that blocks until it ends."""
    session = current_session()
    turn = turn_runner().running(session.id) if session else None
    actions.follow_answered_turn()  # after `running`, which does not find a turn that moved before
    is_busy = session is not None and turn is None and background.is_busy(session.id)
    knowledge.settle()
    session = current_session()  # again: background work may just have changed it
    stamp = engine().session_stamp(session.id) if session is not None else None
    holder = None
    if session is not None and stamp is not None and turn is None:
        holder = elsewhere.settle(session.id, stamp)
    guided.draw_guide(session, is_running=turn is not None)
    places = _places(session, turn)
    if session is None or (session.length == 0 and turn is None):
        _draw_empty(places, session)
    else:
        _draw_session(places, session, turn, holder, is_busy=is_busy)
    if session is not None and stamp is not None:
        following.watch(session.id, stamp)


def _places(session: SessionInfo | None, turn: RunningTurn | None) -> Places:
    """Draws what stands on every chat page: the log, the input, and the tools below it."""
    log = st.container(height=LOG_HEIGHT, border=False, key="chat_log", autoscroll=True)
    welcome = log.empty()  # a separate slot that empties with the first message
    with st.bottom:
        above_input = st.container(gap="xsmall", key="chat_above_input")
        _input(turn)
        with st.container(horizontal=True, gap="small", key="chat_tools"):
            command_list.draw_list(is_disabled=turn is not None)
            session_id = session.id if session else None
            knowledge.draw_chips(session_id, is_disabled=turn is not None)
            model = model_picker.draw_model_menu(session, is_running=turn is not None)
    return Places(log=log, welcome=welcome, above_input=above_input, model=model)


def _draw_empty(places: Places, session: SessionInfo | None) -> None:
    """Draws a session without messages, or none."""
    with places.above_input:
        show_problem(actions.PROBLEM, max_chars=600)
        _unsent()
        if session is not None:
            instructions_dialog.draw_button(session, is_disabled=False)
    with places.log, places.welcome.container():
        _first_run(places.model, session)
        command_list.draw_help()
    instructions_dialog.draw_dialog()
    knowledge.draw_dialog()


def _draw_session(
    places: Places,
    session: SessionInfo,
    turn: RunningTurn | None,
    holder: LeaseInfo | None,
    *,
    is_busy: bool,
) -> None:
    """Draws a session with messages, and follows its running turn.

    `holder`: who answers in it in another process.
    """
    pending = engine().pending(session.id) if turn is None else None
    call = _next_call(session, turn)
    compactions = engine().store.compactions(session.id)
    transcript = _transcript(session, turn, compactions)
    context = call.context if call is not None else None
    with places.above_input:
        show_problem(actions.PROBLEM, max_chars=600)
        with st.container(gap="xsmall", key="chat_notes"):
            # Always as many elements: the browser keeps an earlier one while an answer streams.
            if pending is not None:
                draw_question(session, pending, engine().store.last_turn(session.id))
            else:
                draw_nothing()
            elsewhere.draw(session.id, holder)
            _unsent()
            _notes(session, context, compactions, is_busy=is_busy, is_running=turn is not None)
            _stop_button(turn)
        view = draw_window(session, call, transcript, compactions, is_running=turn is not None)
    with places.log:
        _older(transcript)
        _conversation(session, transcript, context, pending, turn)
        if turn is None:
            draw_story(session)
            finding.draw_opened(session)
            finding.draw_found(session)
            command_list.draw_help()
    _dialogs()
    if turn is not None:
        with places.log:
            live.draw_user_message(turn.text)
            live.follow(turn, session.id, view.draw if view is not None else None)
        st.rerun()


def _dialogs() -> None:
    compaction_dialog()
    instructions_dialog.draw_dialog()
    branching.draw_dialog()
    rule_dialog.draw_dialog()
    knowledge.draw_dialog()


def _stop_button(turn: RunningTurn | None) -> None:
    if turn is None:
        draw_nothing()
    else:
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
        key=submitting.FIELD,
        disabled=turn is not None,
        accept_file=True,
        max_upload_size=TEXT_MEGABYTES,
        on_submit=submitting.submit,
    )


def _unsent() -> None:
    """Draws the text that was written beside a file that could not be read."""
    if not (text := st.session_state.get(actions.UNSENT)):
        draw_nothing()
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


def _next_call(session: SessionInfo, turn: RunningTurn | None) -> NextCall | None:
    """The next or the running call; None, and the error is shown, if that fails."""
    try:
        target = engine().call_target(session.id)
        level = trigger_level(target)
        running = turn.context if turn is not None else None
        call = replace(target.call, knowledge=knowledge.given(session.id))
        context = running or build_context(target.view, call, target.record)
    except ContextError as error:
        st.error(error_text(error), icon=":material/error:")
        return None
    # While a turn runs, what the trigger compares changes with the context.
    is_followed = turn is not None and level.is_plain
    return NextCall(target=target, context=context, level=None if is_followed else level)


def _notes(
    session: SessionInfo,
    context: Context | None,
    compactions: list[CompactionInfo],
    *,
    is_busy: bool,
    is_running: bool,
) -> None:
    """Draws what happened to the context of the last turn, or still does."""
    if is_busy:
        background.watch(session.id)
    else:
        side.draw_failure(session)
    folded = folded_by_itself(
        compactions, session.active_compaction_id, engine().store.last_turn(session.id)
    )
    draw_notice(session, folded, is_disabled=is_running)
    side.draw_cut(session)
    knowledge.draw_cut(context, session)


def _transcript(
    session: SessionInfo, turn: RunningTurn | None, compactions: list[CompactionInfo]
) -> Transcript:
    """The stored part of the transcript; the running turn is drawn live."""
    store = engine().store
    length = turn.base_length if turn is not None else finding.last_shown(session)
    first = first_shown(length, st.session_state.get(actions.SHOWN, PAGE_MESSAGES))
    goes_on = turn is not None and not turn.text
    return make_transcript(
        store.messages(session.id, first, length) if length else [],
        compactions=compactions,
        active_id=session.active_compaction_id,
        imported=store.imported_compactions(session.id),
        turns=store.turns(session.id),
        goes_on=goes_on,
        marks=store.marks(session.id),
        signals=store.signals(session.id),
        cuts=store.last_events(session.id, (ANSWER_CUT,)),
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
