"""Draws what became of the message that was looked for: which calls had it, and who used it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.compaction.loss_report import loss_code
from ctxcore.engine.stories import MessageStory, StoryStep
from ctxcore.replay.losses import NeededFact
from ctxcore.store.values import SessionInfo
from dashboard.addresses import place_link
from dashboard.chat_page.finding import found
from dashboard.excerpts import short_fact
from dashboard.reads import message_story
from dashboard.texts import t
from dashboard.widgets import Row, plain_table
from dashboard.wording import reason_text

FACT_CHARS = 80  # chosen: fits a column
MOST_STEPS = 100  # chosen: keeps the page quick to draw


def draw_story(session: SessionInfo) -> None:
    """Draws the story of the message that the address names, once it is opened."""
    if (seq := found(session)) is None:
        return
    key = f"chat_story_{session.id}_{seq}"
    label = t("chat.story", seq=f"{seq:,}")
    with st.expander(label, key=key, icon=":material/timeline:", on_change="rerun") as it:
        if not it.open:
            return
        with st.spinner(t("chat.story.working")):
            story = message_story(session, seq)
        _draw(session, story)


def _draw(session: SessionInfo, story: MessageStory) -> None:
    if not story.steps:
        st.caption(t("chat.story.no_calls"))
        return
    st.markdown(f"**{_sentence(story)}**")
    shown = story.steps[-MOST_STEPS:]
    plain_table(_rows(shown), alt=t("chat.story", seq=story.seq))
    if len(shown) < len(story.steps):
        st.caption(t("chat.story.newest", shown=f"{len(shown):,}", count=f"{len(story.steps):,}"))
    _links(session, story)
    if story.uses:
        st.caption(t("chat.story.uses"))
        plain_table([_use(fact) for fact in story.uses], alt=t("chat.story.uses"))
    st.caption(t("chat.story.recallable" if story.is_recallable else "chat.story.not_recallable"))


def _sentence(story: MessageStory) -> str:
    """What became of the message, in one sentence."""
    last = story.steps[-1]
    if story.hidden_from is None:
        name = "whole" if last.verdict == "kept" else last.verdict
        return t(f"chat.story.always.{name}")
    needed = f"{len(story.uses):,}"
    first = next(step for step in story.steps if not step.is_shown)
    gone = t("chat.story.hidden", call=f"{first.call:,}", needed=needed)
    return gone if not last.is_shown else f"{gone} {t('chat.story.back')}"


def _rows(steps: Sequence[StoryStep]) -> list[Row]:
    """A row a step; sizes and compactions where any is known."""
    sized = any(step.before_tokens is not None for step in steps)
    folded = any(step.compaction is not None for step in steps)
    return [_row(step, sized=sized, folded=folded) for step in steps]


def _row(step: StoryStep, *, sized: bool, folded: bool) -> Row:
    row: dict[str, object] = {
        t("usage.call"): step.call,
        t("compaction.when"): f"{step.at:%Y-%m-%d %H:%M:%S}",
        t("usage.verdict"): t(f"usage.verdict.{step.verdict}"),
        t("usage.reason"): reason_text(step.reason),
    }
    if sized:
        row[t("common.segment.before")] = step.before_tokens
        row[t("common.segment.after")] = step.after_tokens
    if folded:
        row[t("usage.compaction")] = step.compaction
    return row


def _links(session: SessionInfo, story: MessageStory) -> None:
    """Draws the ways to the first call without the message, and to what folded it."""
    first = next((step for step in story.steps if not step.is_shown), None)
    if first is None:
        return
    with st.container(horizontal=True, key="chat_story_links"):
        label = t("usage.timeline.call", number=f"{first.call:,}")
        place_link(session.id, "call", first.call, label=label, icon=":material/monitoring:")
        if first.compaction is not None:
            label = t("chat.story.compaction", number=first.compaction)
            place_link(
                session.id,
                "compaction",
                first.compaction,
                label=label,
                icon=":material/compress:",
            )


def _use(fact: NeededFact) -> Row:
    assert fact.needed_at is not None
    return {
        t("compact.lost.fact"): short_fact(fact.text, fact.kind, FACT_CHARS),
        t("compact.lost.kind"): reason_text(loss_code(fact.kind)()),
        t("compact.lost.needed_later"): f"#{fact.needed_at + 1} · "
        + t(f"compact.lost.by.{fact.needed_by}"),
    }
