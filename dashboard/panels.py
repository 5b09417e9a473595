"""Owns the panels that several pages show: the window of a session, and the compaction dialog.

The dialog opens from a flag in the session state and closes in callbacks; a proposal waits there
until it is confirmed, refreshed or dropped.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.verdicts import Breakdown
from ctxcore.budget import TokenBudget
from ctxcore.engine.proposals import Proposal
from ctxcore.errors import ContextError
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.store.errors import LeaseTakenError
from ctxcore.tokens.count import count_tokens
from dashboard import numbers
from dashboard.charts.comparison import comparison_table
from dashboard.charts.window import outside_tokens, window_bar, window_table, with_reply
from dashboard.compactions_page.labels import strategy_label
from dashboard.compactions_page.pinning import pin, unpin
from dashboard.compactions_page.pins_made import (
    forget_pins,
    note_pin,
    show_pins_made,
    telling_of_work,
)
from dashboard.compactions_page.proposed_losses import keep_open, show_proposed_losses
from dashboard.filling import Filling, told
from dashboard.folding import folded_lines
from dashboard.safe_markdown import plain_label, with_line_breaks
from dashboard.services import engine
from dashboard.tell import tell, tell_error
from dashboard.texts import t

_SESSION = "compact_session"
_PROPOSAL = "compact_proposal"
_PROBLEM = "compact_problem"
_SUMMARY = "compact_summary"
_DONE = "compact_done"


def segment_label(name: str) -> str:
    """The words for a segment or a mark on the bar."""
    return t(f"common.segment.{name}")


# the window


def window_panel(
    context: Context, filling: Filling | None = None, *, reply_tokens: int = 0
) -> None:
    """How full the window is: numbers, bar and table; `reply_tokens` of a running answer added.

    `filling` is what the policy's trigger compares; without it, the input that the context tells.
    """
    breakdown = with_reply(context.breakdown, reply_tokens)
    is_exact = context.is_exact and not reply_tokens
    outside = outside_tokens(context)
    waiting = filling or Filling(tokens=context.breakdown.input_tokens + outside)
    waiting = waiting.plus(reply_tokens)
    st.markdown(_headline(breakdown, context.budget, waiting, is_exact=is_exact))
    how = t("compact.counted", how=numbers.exactness(is_exact))
    said = (_distance(waiting.tokens, context.budget), told(waiting), how)
    st.caption(" · ".join(filter(None, said)))
    if outside:
        st.caption(f":material/warning: {t('compact.outside', tokens=numbers.tokens(outside))}")
    st.html(window_bar(breakdown, context.budget, segment_label))
    st.html(window_table(breakdown, segment_label, is_exact=is_exact))


def _headline(
    breakdown: Breakdown, budget: TokenBudget | None, waiting: Filling, *, is_exact: bool
) -> str:
    """What is used, of the window and of the trigger; `waiting` is what the trigger counts."""
    used = numbers.tokens(breakdown.input_tokens, is_exact=is_exact)
    if budget is None:
        return t("compact.used_unknown", used=used)
    return t(
        "compact.used",
        used=used,
        usable=numbers.tokens(budget.usable_tokens),
        of_window=numbers.percent(breakdown.input_tokens, budget.window_tokens),
        of_trigger=numbers.percent(waiting.tokens, _trigger_tokens(budget)),
    )


def _trigger_tokens(budget: TokenBudget) -> int:
    """Where the next compaction starts by itself: what is above usable cannot be sent as it is."""
    return min(budget.trigger_tokens, budget.usable_tokens)


def _distance(waiting: int, budget: TokenBudget | None) -> str:
    """How far the next compaction is, in words, so that no colour is needed to read it."""
    if budget is None:
        return t("compact.no_window")
    left = _trigger_tokens(budget) - waiting
    if left <= 0:
        return t("compact.over_trigger", over=numbers.tokens(-left))
    return t("compact.to_trigger", left=numbers.tokens(left))


# the compaction dialog


def open_compaction(session_id: str) -> None:
    """Opens the dialog on the next run; a callback."""
    close_compaction()
    st.session_state[_SESSION] = session_id


def close_compaction() -> None:
    """Closes the dialog and drops its proposal; a callback."""
    _drop_proposal()
    forget_pins()
    st.session_state.pop(_SESSION, None)


def compaction_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if st.session_state.pop(_DONE, False):  # a callback of the dialog itself cannot show it
        st.toast(t("compact.done"), icon=":material/check:")
    session_id = st.session_state.get(_SESSION)
    if session_id is None:
        return
    draw = st.dialog(t("compact.title"), width="large", on_dismiss=close_compaction)(_dialog_body)
    draw(session_id)


def _dialog_body(session_id: str) -> None:
    try:
        proposal = _proposal(session_id)
    except LeaseTakenError:
        st.info(t("compact.busy"), icon=":material/hourglass_top:")
        _buttons(can_confirm=False)
        return
    except ContextError as error:
        st.error(plain_label(tell_error(error), max_chars=600), icon=":material/error:")
        _buttons(can_confirm=False)
        return
    if (problem := st.session_state.get(_PROBLEM)) is not None:
        st.warning(plain_label(problem, max_chars=400), icon=":material/sync_problem:")
    if proposal.record is None or proposal.after is None:
        st.info(_reason(proposal), icon=":material/info:")
        show_pins_made(partial(_unpin, session_id))
        _buttons(can_confirm=False)
        return
    _comparison(proposal)
    _folded(proposal)
    _facts(proposal)
    _summary(proposal)
    written = st.session_state.get(_SUMMARY) or proposal.record.summary
    on_unpin = partial(_unpin, session_id)
    show_pins_made(on_unpin)
    show_proposed_losses(proposal, written, partial(_pin_first, session_id), on_unpin)
    _buttons(can_confirm=problem is None)


def _proposal(session_id: str) -> Proposal:
    """The proposal in hand, worked out now if there is none."""
    if _PROPOSAL not in st.session_state:
        with st.spinner(t("compact.working")), telling_of_work():
            st.session_state[_PROPOSAL] = engine().propose(session_id)
    return cast("Proposal", st.session_state[_PROPOSAL])


def _comparison(proposal: Proposal) -> None:
    assert proposal.after is not None
    assert proposal.record is not None
    st.markdown(_gain(proposal))
    st.caption(
        t("compact.trigger", trigger=plain_label(tell(proposal.trigger.reason), max_chars=200))
    )
    before, after, record = proposal.before, proposal.after, proposal.record
    outside = (
        max(0, record.before_tokens - before.tokens),
        max(0, record.after_tokens - after.tokens),
    )
    st.html(comparison_table(before.breakdown, after.breakdown, segment_label, outside=outside))
    with st.expander(t("compact.steps", count=len(proposal.steps)), key="compact_steps"):
        for step in proposal.steps:
            st.markdown(
                t(
                    "compact.step",
                    strategy=plain_label(strategy_label(step.strategy)),
                    before=numbers.tokens(step.before_tokens),
                    after=numbers.tokens(step.after_tokens),
                    outcome=plain_label(tell(step.outcome), max_chars=300),
                )
            )


def _gain(proposal: Proposal) -> str:
    record = proposal.record
    assert record is not None
    saved = record.before_tokens - record.after_tokens
    return t(
        "compact.gain",
        before=numbers.tokens(record.before_tokens),
        after=numbers.tokens(record.after_tokens),
        saved=numbers.tokens(saved),
        share=numbers.percent(saved, record.before_tokens),
    )


def _reason(proposal: Proposal) -> str:
    """Why nothing would change."""
    reason = proposal.outcome.reason
    if reason.code == OutcomeCode.NOTHING_FOLDS:
        return t("compact.nothing")
    return plain_label(tell(reason), max_chars=300)


def _folded(proposal: Proposal) -> None:
    """The messages that it folds, those included that the compaction before it had kept."""
    places = [seq - 1 for seq in proposal.folded]
    with st.expander(t("compact.folded", count=len(places)), key="compact_folded"):
        for line in folded_lines(engine().store, proposal.session_id, places):
            st.markdown(line)


def _facts(proposal: Proposal) -> None:
    """What is carried word for word beside the summary."""
    record = proposal.record
    if record is None or not record.facts:
        return
    with st.expander(t("compact.facts"), key="compact_facts"):
        st.text(record.facts)


def _summary(proposal: Proposal) -> None:
    record = proposal.record
    assert record is not None
    if not record.summary:
        st.info(t("compact.truncation"), icon=":material/content_cut:")
        return
    st.session_state.setdefault(_SUMMARY, record.summary)
    edited = st.text_area(
        t("compact.summary"), key=_SUMMARY, height=180, help=t("compact.summary_help")
    )
    model = proposal.base.model
    change = count_tokens(edited, model) - count_tokens(record.summary, model)
    expected = record.after_tokens + change
    if not edited.strip():
        st.warning(t("compact.empty_summary"), icon=":material/warning:")
    elif expected >= record.before_tokens:
        after, before = numbers.tokens(expected), numbers.tokens(record.before_tokens)
        text = t("compact.not_smaller", after=after, before=before)
        st.warning(text, icon=":material/warning:")
    elif change:
        st.caption(t("compact.edited", after=numbers.tokens(expected, is_exact=False)))


def _buttons(*, can_confirm: bool) -> None:
    with st.container(horizontal=True, key="compact_buttons"):
        st.button(
            t("compact.confirm"),
            key="compact_confirm",
            type="primary",
            disabled=not can_confirm,
            on_click=_confirm,
        )
        st.button(t("compact.refresh"), key="compact_refresh", on_click=_drop_proposal)
        st.button(t("common.cancel"), key="compact_cancel", on_click=_cancel)


def _confirm() -> None:
    proposal = cast("Proposal", st.session_state[_PROPOSAL])
    try:
        engine().confirm(proposal, summary=st.session_state.get(_SUMMARY) or None)
    except ContextError as error:
        st.session_state[_PROBLEM] = tell_error(error)
        return
    close_compaction()
    st.session_state[_DONE] = True
    st.rerun()


def _pin_first(session_id: str, seq: int) -> None:
    """Keeps message `seq` out of the fold: the proposal is worked out again with the pin."""
    if pin(session_id, seq):
        _drop_proposal()
        keep_open()  # its label changes, which would close it before the next fact is looked at
        note_pin(seq, is_pinned=True)


def _unpin(session_id: str, seq: int) -> None:
    """Takes a pin back: the proposal is worked out again without it."""
    if unpin(session_id, seq):
        _drop_proposal()
        keep_open()
        note_pin(seq, is_pinned=False)


def _cancel() -> None:
    close_compaction()
    st.rerun()


def _drop_proposal() -> None:
    for key in (_PROPOSAL, _PROBLEM, _SUMMARY):
        st.session_state.pop(key, None)


def show_summary(text: str) -> None:
    """A summary as a reader sees it."""
    st.markdown(with_line_breaks(text) if text else t("compact.truncated"))
