"""Asks why a phrase was forgotten: finds the messages that have it, and tells the story of one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.recall_hits import RecalledMessage
from ctxcore.errors import ContextError
from ctxcore.store.values import SessionInfo
from dashboard.excerpts import excerpt
from dashboard.services import engine
from dashboard.story.telling import show_story
from dashboard.texts import t
from dashboard.widgets import Row, table_with_choice

MOST_HITS = 8  # chosen: a table without a scroll bar
TEXT_CHARS = 120  # chosen: fits a column
_WORDS = "story_words"


def show_question(session: SessionInfo) -> None:
    """Draws the search field; below it what is found, and the story of the selected message."""
    st.subheader(t("story.why"))
    words = st.text_input(
        t("story.why.words"),
        key=_WORDS,
        type="search",
        label_visibility="collapsed",
        placeholder=t("story.why.words"),
    )
    if not words or not words.strip():
        return
    hits = engine().said_about(session.id, words, limit=MOST_HITS)
    if not hits:
        st.caption(t("story.why.none"))
        return
    st.caption(t("story.why.found", count=f"{len(hits):,}"))
    options = [str(hit.seq) for hit in hits]
    opened = table_with_choice(_rows(session, hits), options, key="story_hits", alt=t("story.why"))
    show_story(session, int(opened), key=f"story_{session.id}_{opened}", page="compaction")


def _rows(session: SessionInfo, hits: Sequence[RecalledMessage]) -> list[Row]:
    context = _next_call(session)
    return [
        {
            t("story.why.message"): hit.seq,
            t("story.why.who"): t(f"fact.role.{hit.role}"),
            t("story.why.text"): excerpt(hit.text, TEXT_CHARS),
            t("story.why.now"): _verdict(context, hit.seq),
        }
        for hit in hits
    ]


def _next_call(session: SessionInfo) -> Context | None:
    try:
        return engine().context(session.id)
    except ContextError:  # the page says so where it shows the next call
        return None


def _verdict(context: Context | None, seq: int) -> str:
    if context is None or seq > len(context.verdicts):
        return t("common.unknown")
    return t(f"usage.verdict.{context.verdict(seq - 1).verdict}")
