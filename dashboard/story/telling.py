"""Draws what became of a message: which calls had it, what folded it, and who used it later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.compaction.loss_report import loss_code
from ctxcore.engine.stories import MessageStory, StoryStep
from ctxcore.replay.losses import NeededFact
from ctxcore.store.values import SessionInfo
from dashboard.addresses import Place, place_button, place_link
from dashboard.excerpts import short_fact
from dashboard.reads import message_story
from dashboard.safe_markdown import plain_label
from dashboard.story.presets import show_pin, show_presets
from dashboard.texts import t
from dashboard.widgets import Row, plain_table
from dashboard.wording import reason_text

FACT_CHARS = 80  # chosen: fits a column
MOST_STEPS = 100  # chosen: keeps the page quick to draw
MOST_LINKS = 12  # chosen: a line or two; the table has all


def show_story(session: SessionInfo, seq: int, *, key: str, page: Place = "m") -> None:
    """Draws what became of message `seq`, and what the presets would have made of it.

    `page` names the page that it stands on by one of its places.
    """
    if page != "m":
        label = t("common.open_message", seq=f"{seq:,}")
        place_link(session.id, "m", seq, label=label, icon=":material/chat:")
    with st.spinner(t("story.working")):
        story = message_story(session, seq)
    if not story.steps:
        st.caption(t("story.no_calls"))
        return
    st.markdown(f"**{_sentence(story)}**")
    if len(chain := [*_chain(story)]) > 1:
        st.markdown(" → ".join(chain))
    shown = story.steps[-MOST_STEPS:]
    plain_table(_rows(shown), alt=t("story", seq=story.seq))
    if len(shown) < len(story.steps):
        st.caption(t("story.newest", shown=f"{len(shown):,}", count=f"{len(story.steps):,}"))
    _links(session, story, key, page)
    if story.uses:
        st.caption(t("story.uses"))
        plain_table([_use(fact) for fact in story.uses], alt=t("story.uses"))
    st.caption(t("story.recallable" if story.is_recallable else "story.not_recallable"))
    if not story.steps[-1].is_shown:
        show_pin(session.id, seq, key=key)
    show_presets(session, seq, key=key)


def _chain(story: MessageStory) -> Iterator[str]:
    """The turning points of the story, in order."""
    yield t("story.chain.said", seq=f"{story.seq:,}")
    shown: VerdictKind | None = "kept"
    for step in story.steps[:MOST_LINKS]:
        if step.is_shown and shown is None:
            yield t("story.chain.back", call=f"{step.call:,}")
        elif step.verdict == "compressed" and shown != "compressed":
            yield t("story.chain.shortened", call=f"{step.call:,}")
        elif not step.is_shown and shown is not None:
            yield _hidden(step)
        shown = step.verdict if step.is_shown else None
    for use in story.uses[:1]:
        assert use.needed_at is not None
        by = t(f"compact.lost.by.{use.needed_by}")
        yield t("story.chain.needed", seq=f"{use.needed_at + 1:,}", by=by)


def _hidden(step: StoryStep) -> str:
    """How the message went out of sight."""
    call = f"{step.call:,}"
    if step.verdict != "summarized":
        reason = plain_label(reason_text(step.reason), max_chars=200)
        return t("story.chain.dropped", call=call, reason=reason)
    if step.compaction is None or step.trigger is None:
        return t("story.chain.folded_plain", call=call)
    trigger = plain_label(reason_text(step.trigger), max_chars=200)
    return t("story.chain.folded", call=call, number=step.compaction, trigger=trigger)


def _sentence(story: MessageStory) -> str:
    """What became of the message, in one sentence."""
    last = story.steps[-1]
    if story.hidden_from is None:
        name = "whole" if last.verdict == "kept" else last.verdict
        return t(f"story.always.{name}")
    needed = f"{len(story.uses):,}"
    first = next(step for step in story.steps if not step.is_shown)
    gone = t("story.hidden", call=f"{first.call:,}", needed=needed)
    return gone if not last.is_shown else f"{gone} {t('story.back')}"


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
        row[t("usage.compaction")] = f"{step.compaction:,}" if step.compaction else "–"
    return row


def _links(session: SessionInfo, story: MessageStory, key: str, page: Place) -> None:
    """Draws the ways to the first call without the message, and to what folded it."""
    first = next((step for step in story.steps if not step.is_shown), None)
    if first is None:
        return
    with st.container(horizontal=True, key=f"{key}_links"):
        label = t("usage.timeline.call", number=f"{first.call:,}")
        place_link(session.id, "call", first.call, label=label, icon=":material/monitoring:")
        if first.compaction is None:
            return
        label, icon = t("story.compaction", number=first.compaction), ":material/compress:"
        if page == "compaction":
            place_button(page, first.compaction, label=label, icon=icon, key=f"{key}_compaction")
        else:
            place_link(session.id, "compaction", first.compaction, label=label, icon=icon)


def _use(fact: NeededFact) -> Row:
    assert fact.needed_at is not None
    return {
        t("compact.lost.fact"): short_fact(fact.text, fact.kind, FACT_CHARS),
        t("compact.lost.kind"): reason_text(loss_code(fact.kind)()),
        t("compact.lost.needed_later"): f"#{fact.needed_at + 1} · "
        + t(f"compact.lost.by.{fact.needed_by}"),
    }
