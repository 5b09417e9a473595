"""Owns what the compaction dialog tells of lost facts before anything is confirmed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ctxcore.engine.proposals import Proposal
from ctxcore.facts.presence import SearchedText
from dashboard.compactions_page.lost_facts import LostRow, Pinning, show_kinds, show_lost_facts
from dashboard.services import engine
from dashboard.texts import t

_OPEN = "compact_lost"


def still_lost(proposal: Proposal, summary: str) -> list[LostRow]:
    """What the proposal loses and `summary`, as it was edited, does not say either."""
    told = SearchedText(summary)
    return [LostRow.proposed(one) for one in proposal.outcome.lost if not told.says(one.fact)]


def keep_open() -> None:
    """Keeps the list as it is on the next run, whatever its label then says; a callback."""
    st.session_state[_OPEN] = st.session_state.get(_OPEN, False)


def show_proposed_losses(
    proposal: Proposal,
    summary: str,
    on_pin: Callable[[int], None],
    on_unpin: Callable[[int], None],
) -> None:
    """How many facts the context would no longer say, which, and a way to keep each."""
    if proposal.record is None or proposal.record.facts_lost is None:
        return
    rows = still_lost(proposal, summary)
    if not rows:
        st.caption(f":material/check: {t('compact.lost.none')}")
        return
    title = t("compact.lost.proposed", count=f"{len(rows):,}")
    with st.expander(title, key=_OPEN, icon=":material/help:", on_change="rerun") as opened:
        if not opened.open:
            return
        show_kinds(rows)
        pinning = Pinning(
            view=engine().call_target(proposal.session_id).view,
            context=None,  # what is lost is shown nowhere in the context to come
            help=t("compact.lost.pin_first_help"),
            on_pin=on_pin,
            on_unpin=on_unpin,
        )
        show_lost_facts(rows, pinning, key="compact_lost_facts", knows_later=False)
