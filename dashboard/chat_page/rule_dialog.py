"""Makes a sentence of a message a standing rule: an only one at once, else a dialog offers them."""

from __future__ import annotations

import streamlit as st

from ctxcore.compaction.rules_in_force import rule_candidates
from dashboard.compaction_dialog import close_compaction
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

DIALOG = "rule"
MOST_SENTENCES = 60  # chosen: keeps the dialog quick to draw
RULE_CHARS = 300  # chosen: most sentences whole
_SEQ = "chat_rule_seq"
_PROBLEM = "chat_rule_problem"
_ADDED = "chat_rule_added"


def choose(session_id: str, seq: int) -> None:
    """Adds the only sentence of message `seq`, or opens the dialog to choose one; a callback."""
    sentences = rule_candidates(engine().call_target(session_id).view, seq)
    if len(sentences) == 1:
        _add(session_id, seq, sentences[0])
        return
    st.session_state[_SEQ] = seq
    close_compaction()
    open_dialog(DIALOG)


def draw_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if st.session_state.pop(_ADDED, False):  # a callback in the dialog cannot show a toast
        st.toast(t("chat.rule.added"), icon=":material/gavel:")
    session = current_session()
    if session is None or not is_open(DIALOG):
        return
    draw = st.dialog(t("chat.rule.title"), width="large", on_dismiss=close_dialog)(_body)
    draw(session.id, int(st.session_state[_SEQ]))


def _body(session_id: str, seq: int) -> None:
    show_problem(_PROBLEM)
    sentences = rule_candidates(engine().call_target(session_id).view, seq)
    st.caption(t("chat.rule.told" if sentences else "chat.rule.none", seq=f"{seq:,}"))
    for at, text in enumerate(sentences[:MOST_SENTENCES]):
        st.button(
            plain_label(text, max_chars=RULE_CHARS),
            key=f"chat_rule_{at}",
            type="tertiary",
            icon=":material/add:",
            on_click=_add_and_close,
            args=(session_id, seq, text),
        )
    if len(sentences) > MOST_SENTENCES:
        st.caption(t("chat.rule.more", count=f"{len(sentences) - MOST_SENTENCES:,}"))


@report_errors(_PROBLEM)
def _add_and_close(session_id: str, seq: int, text: str) -> None:
    _add(session_id, seq, text)
    close_dialog()
    st.rerun()


def _add(session_id: str, seq: int, text: str) -> None:
    engine().add_rule(session_id, seq - 1, text)
    st.session_state[_ADDED] = True
