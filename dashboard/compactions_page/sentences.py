"""Draws the sentences of a summary, each with the messages it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ctxcore.assembly.records import SummarySentence
from ctxcore.compaction.loss_report import message_text
from ctxcore.store.values import CompactionInfo
from dashboard.excerpts import excerpt
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, table_with_choice

SENTENCE_CHARS = 90  # chosen: fits the table
MESSAGE_CHARS = 600  # chosen: some lines; the chat has the rest
MOST_MESSAGES = 8  # chosen: a sentence seldom has more


def show_sentences(info: CompactionInfo, doubts: Mapping[str, str]) -> None:
    """Draws the sentences once the list is opened; nothing where their messages are not known.

    `doubts` are the sentences that the source does not support, with the code of why.
    """
    sentences = info.compaction.sentences
    if not sentences:
        return
    key = f"compaction_sentences_{info.id}"
    with st.expander(t("compaction.sentences"), key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        options = [str(at) for at in range(len(sentences))]
        chosen = table_with_choice(
            [_cells(one, doubts) for one in sentences],
            options,
            key=key,
            alt=t("compaction.sentences"),
        )
        _chosen(info.session_id, sentences[int(chosen)], doubts)


def _cells(sentence: SummarySentence, doubts: Mapping[str, str]) -> Row:
    problem = doubts.get(sentence.text)
    return {
        t("compaction.sentences.sentence"): excerpt(sentence.text, SENTENCE_CHARS),
        t("compaction.sentences.messages"): ", ".join(map(str, sentence.seqs)),
        t("compaction.sentences.doubt"): t(f"compaction.doubt.{problem}") if problem else "",
    }


def _chosen(session_id: str, sentence: SummarySentence, doubts: Mapping[str, str]) -> None:
    """Draws a sentence and its messages."""
    st.code(sentence.text, language=None, wrap_lines=True)
    if problem := doubts.get(sentence.text):
        st.warning(t(f"compaction.doubt.{problem}"), icon=":material/help:")
    if not sentence.seqs:
        st.caption(t("compaction.sentences.none"))
    for stored in _messages(session_id, sentence.seqs[:MOST_MESSAGES]):
        st.caption(f"#{stored[0]} · {t(f'fact.role.{stored[1]}')}")
        st.code(stored[2], language=None, wrap_lines=True)
    if len(sentence.seqs) > MOST_MESSAGES:
        more = f"{len(sentence.seqs) - MOST_MESSAGES:,}"
        st.caption(t("compaction.sentences.more", count=more))


def _messages(session_id: str, seqs: Sequence[int]) -> list[tuple[int, str, str]]:
    """The number, role and beginning of each message."""
    found = [info for seq in seqs for info in engine().store.messages(session_id, seq, seq)]
    return [
        (info.seq, info.message.role, message_text(info.message)[:MESSAGE_CHARS]) for info in found
    ]
