"""The compaction dialog, and the buttons that compact, undo and redo.

A flag in the session state opens the dialog and callbacks close it. The proposal stays in the
session state until it is confirmed, refreshed or dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import cast

import streamlit as st

from ctxcore.assembly.records import Compaction
from ctxcore.engine.compactions import ProposedLosses
from ctxcore.engine.proposals import Proposal
from ctxcore.errors import ContextError
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.replay.losses import LossVerdict
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, SessionInfo
from dashboard import numbers
from dashboard.dialogs import close_dialog
from dashboard.lost_facts import (
    PIN_PROBLEM,
    LostRow,
    Pinning,
    show_kinds,
    show_lost_facts,
    unpin_block,
    unpin_button,
)
from dashboard.reads import can_redo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_summary
from dashboard.window_chart import comparison_table
from dashboard.window_panel import effect_text, segment_label
from dashboard.wording import error_text, reason_text, strategy_label

_SESSION = "compact_session"
_PROPOSAL = "compact_proposal"
_PROBLEM = "compact_problem"
_SUMMARY = "compact_summary"
_EDITED = "compact_edited"
_LOSSES = "compact_losses"
_DONE = "compact_done"
_FOCUS = "compact_focus"

MOST_LINES = 200  # chosen: keeps the dialog quick to draw
_PINS = "compact_pins"
_IS_NEW = "compact_pins_changed"
_LOSSES_OPEN = "compact_lost"


def open_compaction(session_id: str, focus: str = "") -> None:
    """Opens the dialog on the next run, with what to keep; a callback."""
    close_compaction()
    close_dialog()
    st.session_state[_SESSION] = session_id
    st.session_state[_FOCUS] = focus


def close_compaction() -> None:
    """Closes the dialog and drops its proposal; a callback."""
    _drop_proposal()
    _forget_pins()
    for key in (_SESSION, _FOCUS):
        st.session_state.pop(key, None)


def compaction_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if st.session_state.pop(_DONE, False):  # a callback in the dialog cannot show a toast
        st.toast(t("compact.done"), icon=":material/check:")
    session_id = st.session_state.get(_SESSION)
    if session_id is None:
        return
    draw = st.dialog(t("compact.title"), width="large", on_dismiss=close_compaction)(_dialog_body)
    draw(session_id)


def _dialog_body(session_id: str) -> None:
    st.text_input(
        t("compact.focus"),
        key=_FOCUS,
        placeholder=t("compact.focus_none"),
        help=t("compact.focus_help"),
        on_change=_drop_proposal,
    )
    try:
        proposal = _proposal(session_id)
    except LeaseTakenError:
        st.info(t("compact.busy"), icon=":material/hourglass_top:")
        _buttons(can_confirm=False)
        return
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=600), icon=":material/error:")
        _buttons(can_confirm=False)
        return
    if (problem := st.session_state.get(_PROBLEM)) is not None:
        st.warning(plain_label(problem, max_chars=400), icon=":material/sync_problem:")
    if proposal.record is None or proposal.after is None:
        st.info(_reason(proposal), icon=":material/info:")
        _show_pins_made(partial(_unpin, session_id))
        _buttons(can_confirm=False)
        return
    edited = _edited(proposal)
    _comparison(edited)
    _folded(proposal)
    _facts(edited)
    _summary(proposal, edited)
    on_unpin = partial(_unpin, session_id)
    _show_pins_made(on_unpin)
    _show_proposed_losses(proposal, edited, partial(_pin, session_id), on_unpin)
    _buttons(can_confirm=problem is None)


def _proposal(session_id: str) -> Proposal:
    """The current proposal; computed now if there is none."""
    if _PROPOSAL not in st.session_state:
        with st.spinner(t("compact.working")), _rework_toasts():
            focus = str(st.session_state.get(_FOCUS, ""))
            st.session_state[_PROPOSAL] = engine().propose(session_id, focus=focus)
    return cast("Proposal", st.session_state[_PROPOSAL])


def _edited(proposal: Proposal) -> Proposal:
    """The proposal with the summary as it is written now, measured again when that changes."""
    written = str(st.session_state.get(_SUMMARY) or "").strip()
    assert proposal.record is not None
    if not written or written == proposal.record.summary:
        return proposal
    known = st.session_state.get(_EDITED)
    if known is None or known[0] != written:
        known = (written, engine().edit(proposal, written))
        st.session_state[_EDITED] = known
    return cast("Proposal", known[1])


def _comparison(proposal: Proposal) -> None:
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


def _reason(proposal: Proposal) -> str:
    """Why nothing would change."""
    reason = proposal.outcome.reason
    if reason.code == OutcomeCode.NOTHING_FOLDS:
        return t("compact.nothing")
    return plain_label(reason_text(reason), max_chars=300)


def _folded(proposal: Proposal) -> None:
    """Lists the messages to fold, including those that the previous compaction had kept."""
    places = [seq - 1 for seq in proposal.folded]
    with st.expander(t("compact.folded", count=len(places)), key="compact_folded"):
        for line in folded_lines(engine().store, proposal.session_id, places):
            st.markdown(line)


def _facts(proposal: Proposal) -> None:
    """Draws the facts that are carried verbatim beside the summary."""
    record = proposal.record
    if record is None or not record.facts:
        return
    with st.expander(t("compact.facts"), key="compact_facts"):
        st.text(record.facts)


def _summary(proposal: Proposal, edited: Proposal) -> None:
    """Draws the summary for editing, and what the edit does to sizes and losses."""
    record, effect = proposal.record, edited.effect
    assert record is not None
    assert effect is not None
    if not record.summary:
        _no_summary(record)
        return
    st.session_state.setdefault(_SUMMARY, record.summary)
    written = st.text_area(
        t("compact.summary"), key=_SUMMARY, height=180, help=t("compact.summary_help")
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
            show_summary(edited, left)


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
        st.session_state[_PROBLEM] = error_text(error)
        return
    close_compaction()
    st.session_state[_DONE] = True
    st.rerun()


@report_errors(PIN_PROBLEM)
def _pin(session_id: str, seq: int) -> None:
    engine().pin(session_id, seq - 1)
    _restart(seq, is_pinned=True)


@report_errors(PIN_PROBLEM)
def _unpin(session_id: str, seq: int) -> None:
    unpin_block(session_id, seq)
    _restart(seq, is_pinned=False)


def _restart(seq: int, *, is_pinned: bool) -> None:
    """Drops the proposal, which the next run makes anew with the changed pin.

    The list of lost facts stays open: its label changes, which would close it.
    """
    _drop_proposal()
    st.session_state[_LOSSES_OPEN] = st.session_state.get(_LOSSES_OPEN, False)
    st.session_state[_PINS] = {**_noted_pins(), seq: is_pinned}
    st.session_state[_IS_NEW] = True


def _cancel() -> None:
    close_compaction()
    st.rerun()


def _drop_proposal() -> None:
    for key in (_PROPOSAL, _PROBLEM, _SUMMARY, _EDITED, _LOSSES):
        st.session_state.pop(key, None)


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


def _forget_pins() -> None:
    """Resets the pins made, for the next time the dialog opens."""
    for key in (_PINS, _IS_NEW):
        st.session_state.pop(key, None)


@contextmanager
def _rework_toasts() -> Iterator[None]:
    """Shows toasts around a proposal that is computed again because of a pin.

    The pin button is at the end of the dialog, where a spinner at its top is out of sight.
    """
    if not st.session_state.pop(_IS_NEW, False):
        yield
        return
    st.toast(t("compact.working"), icon="spinner")
    yield  # an error is shown by the dialog itself, which is then short
    st.toast(
        t("compact.again"), icon=":material/check:"
    )  # a fragment cannot replace the first toast


def _show_pins_made(on_unpin: Callable[[int], None]) -> None:
    """Draws what was pinned and unpinned in the dialog, with buttons to unpin."""
    for seq, is_pinned in _noted_pins().items():
        if not is_pinned:
            st.caption(f":material/keep_off: {t('context.unpinned', seq=seq)}")
            continue
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"compact_pinned_{seq}"
        ):
            st.caption(f":material/keep: {t('compact.lost.pinned', seq=seq)}", width="content")
            unpin_button(seq, key=f"compact_unpin_{seq}", on_unpin=on_unpin)


def _noted_pins() -> dict[int, bool]:
    return cast("dict[int, bool]", st.session_state.get(_PINS, {}))


def _show_proposed_losses(
    proposal: Proposal,
    edited: Proposal,
    on_pin: Callable[[int], None],
    on_unpin: Callable[[int], None],
) -> None:
    """Draws the facts that the proposal would lose, with a button to pin each."""
    if edited.record is None or edited.record.facts_lost is None:
        return
    losses = _losses(edited)
    rows = [LostRow.of(lost) for lost in losses.lost]
    _verdict(losses.verdict)
    if not rows:
        st.caption(f":material/check: {t('compact.lost.none')}")
        return
    title = t("compact.lost.proposed", count=f"{len(rows):,}")
    with st.expander(title, key=_LOSSES_OPEN, icon=":material/help:", on_change="rerun") as opened:
        if not opened.open:
            return
        show_kinds(rows)
        pinning = Pinning(
            session_id=proposal.session_id,
            view=engine().call_target(proposal.session_id).view,
            context=None,  # a lost fact is in no message of the next context
            help=t("compact.lost.pin_first_help"),
            on_pin=on_pin,
            on_unpin=on_unpin,
        )
        show_lost_facts(rows, pinning, key="compact_lost_facts")


def _losses(edited: Proposal) -> ProposedLosses:
    """What the proposal loses; read once for each summary, since it reads all facts."""
    known = st.session_state.get(_LOSSES)
    if known is None or known[0] is not edited:
        known = (edited, engine().proposed_losses(edited))
        st.session_state[_LOSSES] = known
    return cast("ProposedLosses", known[1])


def _verdict(verdict: LossVerdict) -> None:
    """Says how much of what the messages that stay use would be gone."""
    if verdict.gone:
        text = t("compact.verdict.gone", gone=f"{verdict.gone:,}", needed=f"{verdict.needed:,}")
        st.markdown(f":material/warning: **{text}**")
    elif verdict.needed:
        st.caption(t("compact.verdict.all_there", needed=f"{verdict.needed:,}"))
    elif verdict.has_later:
        st.caption(t("compact.verdict.not_needed"))


def compaction_buttons(
    session: SessionInfo,
    compactions: Sequence[CompactionInfo],
    *,
    page: str,
    problem: str,
    is_disabled: bool = False,
    is_primary: bool = False,
    with_compact: bool = True,
) -> None:
    """Draws compact, undo and redo; `page` prefixes their keys, `problem` keeps their errors.

    `with_compact` is false where the page has the first one in another place.
    """
    active_id = session.active_compaction_id
    with st.container(horizontal=True, gap="xsmall", key=f"{page}_compact_buttons"):
        if with_compact:
            compact_button(session, page=page, is_disabled=is_disabled, is_primary=is_primary)
        st.button(
            t("compact.undo"),
            key=f"{page}_undo",
            icon=":material/undo:",
            help=t("compact.undo_help"),
            disabled=is_disabled or active_id is None,
            on_click=_undo,
            args=(session.id, problem),
        )
        st.button(
            t("compact.redo"),
            key=f"{page}_redo",
            icon=":material/redo:",
            help=t("compact.redo_help"),
            disabled=is_disabled or not can_redo(compactions, active_id),
            on_click=_redo,
            args=(session.id, problem),
        )


def compact_button(
    session: SessionInfo, *, page: str, is_disabled: bool = False, is_primary: bool = False
) -> None:
    """Draws the button that opens the dialog; `page` prefixes its key."""
    st.button(
        t("compact.open"),
        key=f"{page}_compact",
        type="primary" if is_primary else "secondary",
        icon=":material/compress:",
        shortcut="Ctrl+K",
        disabled=is_disabled or not session.length,
        on_click=open_compaction,
        args=(session.id,),
    )


def _undo(session_id: str, problem: str) -> None:
    with report_errors(problem):
        undo_compaction(session_id)


def _redo(session_id: str, problem: str) -> None:
    with report_errors(problem):
        redo_compaction(session_id)


def undo_compaction(session_id: str) -> bool:
    """Undoes the active compaction and says so; False if there is none."""
    is_undone = engine().undo(session_id) is not None
    if is_undone:
        st.toast(t("compact.undone"), icon=":material/undo:")
    return is_undone


def redo_compaction(session_id: str) -> bool:
    """Applies the undone compaction again and says so; False if there is none."""
    is_redone = engine().redo(session_id) is not None
    if is_redone:
        st.toast(t("compact.redone"), icon=":material/redo:")
    return is_redone
