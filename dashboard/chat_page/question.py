"""Draws the question before a compaction that needs confirmation, and its four answers.

The pending compaction is read from the store: the question is still there after a reload, in
another tab and after a restart. The first answer counts.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.compaction.plans import ANSWERS, Answer
from ctxcore.engine.proposals import Pending
from ctxcore.store.values import SessionInfo, TurnInfo
from dashboard import numbers
from dashboard.chat_page import actions
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import about, language, t
from dashboard.wording import reason_text

_ICONS: dict[Answer, str] = {
    "compact": ":material/compress:",
    "drop_oldest": ":material/content_cut:",
    "new_session": ":material/add_comment:",
    "refuse": ":material/block:",
}


def draw_question(session: SessionInfo, pending: Pending, turn: TurnInfo | None) -> None:
    """Draws the question with its numbers and a button for each answer."""
    with st.container(border=True, gap="small", key="chat_question"):
        st.markdown(_headline(pending))
        st.caption(_explanation(session, pending, turn))
        with st.container(horizontal=True, gap="small", key="chat_answers"):
            for answer in ANSWERS:
                _button(session, pending, answer)


def _headline(pending: Pending) -> str:
    return ":material/help: " + t(
        "chat.question.outside" if pending.outside_tokens else "chat.question",
        current=numbers.tokens(pending.next_call_tokens),
        most=numbers.tokens(pending.max_tokens),
        share=numbers.percent(pending.next_call_tokens, pending.max_tokens),
        outside=numbers.tokens(pending.outside_tokens),
    )


def _explanation(session: SessionInfo, pending: Pending, turn: TurnInfo | None) -> str:
    """The rule that triggered, the effect, whether a message waits, and how tokens are counted."""
    sentences = [
        t(
            "chat.question.why",
            rule=plain_label(reason_text(pending.trigger.reason), max_chars=300),
        ),
        t(
            "chat.question.fold",
            count=f"{pending.messages:,}",
            expected=numbers.tokens(pending.expected_tokens),
        ),
    ]
    if turn is not None and turn.state == "awaiting_confirmation":
        sentences.append(t("chat.question.waits"))
    counting = engine().policy(session.id).policy.counting
    if counting != "model":
        sentences.append(t("chat.question.counting", rule=counting))
    return about(language()).between_sentences.join(sentences)


def _button(session: SessionInfo, pending: Pending, answer: Answer) -> None:
    st.button(
        t(f"chat.answer.{answer}"),
        key=f"chat_answer_{answer}",
        icon=_ICONS[answer],
        type="primary" if answer == "compact" else "secondary",
        help=t(f"chat.answer.{answer}.told"),
        on_click=actions.answer,
        args=(session.id, pending.plan_id, answer),
    )
