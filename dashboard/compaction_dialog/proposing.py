"""The proposal of the dialog: made once, edited, and made anew where a pin or a way changes it.

It stays in the session state until it is confirmed, refreshed or dropped. A flag there opens the
dialog, and callbacks close it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import streamlit as st

from ctxcore.engine.compactions import ProposedLosses
from ctxcore.engine.proposals import Proposal
from ctxcore.errors import ContextError
from ctxcore.replay.alternatives import Alternative
from dashboard.dialogs import close_dialog
from dashboard.lost_facts import PIN_PROBLEM, unpin_block
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import choice_key, report_errors
from dashboard.wording import error_text

SESSION = "compact_session"
PROPOSAL = "compact_proposal"
PROBLEM = "compact_problem"
SUMMARY = "compact_summary"
EDITED = "compact_edited"
LOSSES = "compact_losses"
DONE = "compact_done"
FOCUS = "compact_focus"
WAY = "compact_way"
JOB = "compact_ways_job"
"""The id of the job that compares ways."""
WAYS = "compact_ways_rows"
"""The key of the table in which they stand."""
LOSSES_OPEN = "compact_lost"
_PINS = "compact_pins"
_IS_NEW = "compact_pins_changed"


def open_compaction(session_id: str, focus: str = "") -> None:
    """Opens the dialog on the next run, with what to keep; a callback."""
    close_compaction()
    close_dialog()
    st.session_state[SESSION] = session_id
    st.session_state[FOCUS] = focus


def close_compaction() -> None:
    """Closes the dialog and drops its proposal; a callback."""
    drop_proposal()
    for key in (SESSION, FOCUS, WAY, JOB, choice_key(WAYS), _PINS, _IS_NEW):
        st.session_state.pop(key, None)


def drop_proposal() -> None:
    """Drops the proposal, which the next run makes anew; a callback."""
    for key in (PROPOSAL, PROBLEM, SUMMARY, EDITED, LOSSES):
        st.session_state.pop(key, None)


def refresh() -> None:
    """Makes the proposal and the comparison of ways anew; a callback."""
    drop_proposal()
    st.session_state.pop(JOB, None)


def chosen_way() -> Alternative | None:
    """The preset or strategy that the proposal is made by; None: the policy in force."""
    return cast("Alternative | None", st.session_state.get(WAY))


def choose_way(way: Alternative | None) -> None:
    """Makes the proposal anew by another way, if it is another one."""
    if way != chosen_way():
        st.session_state[WAY] = way
        drop_proposal()


def current_proposal(session_id: str) -> Proposal:
    """The current proposal; computed now if there is none."""
    if PROPOSAL not in st.session_state:
        with st.spinner(t("compact.working")), _rework_toasts():
            focus = str(st.session_state.get(FOCUS, ""))
            made = engine().propose(session_id, focus=focus, way=chosen_way())
            st.session_state[PROPOSAL] = made
    return cast("Proposal", st.session_state[PROPOSAL])


def edited_proposal(proposal: Proposal) -> Proposal:
    """The proposal with the summary as it is written now, measured again when that changes."""
    written = str(st.session_state.get(SUMMARY) or "").strip()
    assert proposal.record is not None
    if not written or written == proposal.record.summary:
        return proposal
    known = st.session_state.get(EDITED)
    if known is None or known[0] != written:
        known = (written, engine().edit(proposal, written))
        st.session_state[EDITED] = known
    return cast("Proposal", known[1])


def losses_of(edited: Proposal) -> ProposedLosses:
    """What the proposal loses; read once for each summary, since it reads all facts."""
    known = st.session_state.get(LOSSES)
    if known is None or known[0] is not edited:
        known = (edited, engine().proposed_losses(edited))
        st.session_state[LOSSES] = known
    return cast("ProposedLosses", known[1])


def confirm() -> None:
    """Records the proposal and closes the dialog, or says why not; a callback."""
    proposal = cast("Proposal", st.session_state[PROPOSAL])
    try:
        engine().confirm(proposal, summary=st.session_state.get(SUMMARY) or None)
    except ContextError as error:
        st.session_state[PROBLEM] = error_text(error)
        return
    close_compaction()
    st.session_state[DONE] = True
    st.rerun()


@report_errors(PIN_PROBLEM)
def pin(session_id: str, seq: int) -> None:
    """Pins message `seq` and makes the proposal anew; a callback."""
    engine().pin(session_id, seq - 1)
    _restart(seq, is_pinned=True)


@report_errors(PIN_PROBLEM)
def unpin(session_id: str, seq: int) -> None:
    """Unpins message `seq` and makes the proposal anew; a callback."""
    unpin_block(session_id, seq)
    _restart(seq, is_pinned=False)


def _restart(seq: int, *, is_pinned: bool) -> None:
    """Drops the proposal, which the next run makes anew with the changed pin.

    The list of lost facts stays open: its label changes, which would close it.
    """
    refresh()
    st.session_state[LOSSES_OPEN] = st.session_state.get(LOSSES_OPEN, False)
    st.session_state[_PINS] = {**noted_pins(), seq: is_pinned}
    st.session_state[_IS_NEW] = True


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


def noted_pins() -> dict[int, bool]:
    """What was pinned and unpinned in the dialog, by message."""
    return cast("dict[int, bool]", st.session_state.get(_PINS, {}))
