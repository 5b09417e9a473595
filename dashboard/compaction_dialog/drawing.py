"""Draws a proposal: what the next call becomes, what folds, the summary to edit, what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from ctxcore.assembly.records import Compaction
from ctxcore.engine.proposals import Proposal
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.replay.losses import LossVerdict
from ctxcore.store.protocol import SessionStore
from dashboard import numbers
from dashboard.compaction_dialog.proposing import (
    LOSSES_OPEN,
    SUMMARY,
    losses_of,
    noted_pins,
    pin,
    unpin,
)
from dashboard.lost_facts import LostRow, Pinning, show_kinds, show_lost_facts, unpin_button
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import show_summary
from dashboard.window_chart import comparison_table
from dashboard.window_panel import effect_text, segment_label
from dashboard.wording import reason_text, strategy_label

MOST_LINES = 200  # chosen: keeps the dialog quick to draw


def show_comparison(proposal: Proposal) -> None:
    """Draws the next call without the proposal and with it, and the steps that lead there."""
    assert proposal.after is not None
    assert proposal.record is not None
    st.markdown(effect_text(proposal.effect))
    st.caption(
        t(
            "compact.trigger",
            trigger=plain_label(reason_text(proposal.trigger.reason), max_chars=200),
        )
    )
    before, after = proposal.before, proposal.after
    outside = (before.outside_tokens, after.outside_tokens)
    is_exact = after.is_exact
    st.html(
        comparison_table(
            before.breakdown, after.breakdown, segment_label, is_exact=is_exact, outside=outside
        )
    )
    with st.expander(t("compact.steps", count=len(proposal.steps)), key="compact_steps"):
        if before.outside_tokens:
            st.caption(t("compact.steps.told"))
        for step in proposal.steps:
            st.markdown(
                t(
                    "compact.step",
                    strategy=plain_label(strategy_label(step.strategy)),
                    before=numbers.tokens(step.before_tokens, is_exact=is_exact),
                    after=numbers.tokens(step.after_tokens, is_exact=is_exact),
                    outcome=plain_label(reason_text(step.outcome), max_chars=300),
                )
            )


def why_nothing(proposal: Proposal) -> str:
    """Why nothing would change."""
    reason = proposal.outcome.reason
    if reason.code == OutcomeCode.NOTHING_FOLDS:
        return t("compact.nothing")
    return plain_label(reason_text(reason), max_chars=300)


def show_folded(proposal: Proposal) -> None:
    """Lists the messages to fold, including those that the previous compaction had kept."""
    places = [seq - 1 for seq in proposal.folded]
    with st.expander(t("compact.folded", count=len(places)), key="compact_folded"):
        for line in folded_lines(engine().store, proposal.session_id, places):
            st.markdown(line)


def show_facts(proposal: Proposal) -> None:
    """Draws the facts that are carried verbatim beside the summary."""
    record = proposal.record
    if record is None or not record.facts:
        return
    with st.expander(t("compact.facts"), key="compact_facts"):
        st.text(record.facts)


def show_summary_field(proposal: Proposal, edited: Proposal) -> None:
    """Draws the summary for editing, and what the edit does to sizes and losses."""
    record, effect = proposal.record, edited.effect
    assert record is not None
    assert effect is not None
    if not record.summary:
        _no_summary(record)
        return
    st.session_state.setdefault(SUMMARY, record.summary)
    written = st.text_area(
        t("compact.summary"), key=SUMMARY, height=180, help=t("compact.summary_help")
    )
    more = len(edited.outcome.lost) - len(proposal.outcome.lost)
    if not written.strip():
        st.warning(t("compact.empty_summary"), icon=":material/warning:")
    elif effect.with_tokens >= effect.without_tokens + effect.unseen_tokens:
        after = numbers.tokens(effect.with_tokens, is_exact=effect.is_exact)
        before = numbers.tokens(effect.without_tokens, is_exact=effect.is_exact)
        st.warning(t("compact.not_smaller", after=after, before=before), icon=":material/warning:")
    if more > 0:
        st.warning(t("compact.loses_more", count=f"{more:,}"), icon=":material/warning:")
    elif edited is not proposal:
        st.caption(
            t("compact.edited", after=numbers.tokens(effect.with_tokens, is_exact=effect.is_exact))
        )
    _check(proposal, written)


def _no_summary(record: Compaction) -> None:
    """Says that nothing stands for the messages, and why where a summary failed."""
    reason = record.reason
    if reason is not None and reason.mentions(OutcomeCode.TRUNCATED_INSTEAD):
        why = plain_label(reason_text(reason), max_chars=400)
        st.warning(t("compact.summary_failed", reason=why), icon=":material/warning:")
    else:
        st.info(t("compact.truncation"), icon=":material/content_cut:")


def _check(proposal: Proposal, edited: str) -> None:
    """Draws why quotes took the place of a model's summary, or marks what its source lacks."""
    check = proposal.outcome.check
    if check is None:
        return
    if check.refused is not None:
        reason = plain_label(reason_text(check.refused), max_chars=400)
        st.warning(t("compact.quoted_instead", reason=reason), icon=":material/format_quote:")
    elif left := check.within(edited).marked:
        with st.container(border=True, key="compact_unsupported"):
            show_summary(edited, left, key="compact_summary_all")


def folded_lines(
    store: SessionStore, session_id: str, places: Sequence[int], *, most: int = MOST_LINES
) -> list[str]:
    """One line for each of the first messages at `places` (from 0), and the number of others."""
    shown = sorted(places)[:most]
    if not shown:
        return []
    wanted = set(shown)
    lines = [
        f"{info.seq}\\. **{t(f'chat.role.{info.message.role}')}** "
        f"{plain_label(info.message.text or t('chat.no_words'), max_chars=140)}"
        for info in store.messages(session_id, shown[0] + 1, shown[-1] + 1)
        if info.seq - 1 in wanted
    ]
    more = len(places) - len(shown)
    return [*lines, t("compact.more_folded", count=more)] if more else lines


def show_pins_made(session_id: str) -> None:
    """Draws what was pinned and unpinned in the dialog, with buttons to unpin."""
    for seq, is_pinned in noted_pins().items():
        if not is_pinned:
            st.caption(f":material/keep_off: {t('context.unpinned', seq=seq)}")
            continue
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"compact_pinned_{seq}"
        ):
            st.caption(f":material/keep: {t('compact.lost.pinned', seq=seq)}", width="content")
            unpin_button(seq, key=f"compact_unpin_{seq}", on_unpin=partial(unpin, session_id))


def show_proposed_losses(proposal: Proposal, edited: Proposal) -> None:
    """Draws the facts that the proposal would lose, with a button to pin each."""
    if edited.record is None or edited.record.facts_lost is None:
        return
    losses = losses_of(edited)
    rows = [LostRow.of(lost) for lost in losses.lost]
    _verdict(losses.verdict)
    if not rows:
        st.caption(f":material/check: {t('compact.lost.none')}")
        return
    title = t("compact.lost.proposed", count=f"{len(rows):,}")
    with st.expander(title, key=LOSSES_OPEN, icon=":material/help:", on_change="rerun") as opened:
        if not opened.open:
            return
        show_kinds(rows)
        pinning = Pinning(
            session_id=proposal.session_id,
            view=engine().call_target(proposal.session_id).view,
            context=None,  # a lost fact is in no message of the next context
            help=t("compact.lost.pin_first_help"),
            on_pin=partial(pin, proposal.session_id),
            on_unpin=partial(unpin, proposal.session_id),
        )
        show_lost_facts(rows, pinning, key="compact_lost_facts")


def _verdict(verdict: LossVerdict) -> None:
    """Says how much of what the messages that stay use would be gone."""
    if verdict.gone:
        text = t("compact.verdict.gone", gone=f"{verdict.gone:,}", needed=f"{verdict.needed:,}")
        st.markdown(f":material/warning: **{text}**")
    elif verdict.needed:
        st.caption(t("compact.verdict.all_there", needed=f"{verdict.needed:,}"))
    elif verdict.has_later:
        st.caption(t("compact.verdict.not_needed"))
