"""Owns pinning back what a compaction lost: whether a message can be, what that adds, the way back.

A pin keeps a whole block, so that what is taken back are the pins of all its messages.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.errors import ContextError
from dashboard.services import engine
from dashboard.tell import tell_error

Pinnable: TypeAlias = Literal["free", "pinned", "excluded", "shown"]

PROBLEM = "pinning_problem"

_AHEAD = 32  # messages looked at in one go for the rest of a block


def pinnable(seq: int, view: HistoryView, context: Context | None) -> Pinnable:
    """Whether pinning message `seq` would change anything, and if not, why."""
    anchors = view.anchors()
    if seq in anchors.pinned:
        return "pinned"
    if seq in anchors.excluded:
        return "excluded"
    is_shown = context is not None and context.verdict(seq - 1).verdict == "kept"
    return "shown" if is_shown else "free"


def block_tokens(seq: int, view: HistoryView) -> int:
    """What a pin of message `seq` keeps: all of its block, a call with its results."""
    return sum(row.tokens for row in _block(seq, view))


def _block(seq: int, view: HistoryView) -> list[Counted]:
    head, length = view.get([seq])[0].block, view.count()
    found: list[Counted] = []
    for first in range(head, length + 1, _AHEAD):
        rows = view.get(range(first, min(first + _AHEAD, length + 1)))
        found += [row for row in rows if row.block == head]
        if rows[-1].block != head:
            break
    return found


def pin(session_id: str, seq: int) -> bool:
    """Keeps message `seq` in every context; False, with the reason kept, if that fails."""
    try:
        engine().pin(session_id, seq - 1)
    except ContextError as error:
        st.session_state[PROBLEM] = tell_error(error)
        return False
    return True


def unpin(session_id: str, seq: int) -> bool:
    """Lets the block of message `seq` be folded again; False, with the reason kept, if not."""
    try:
        view = engine().call_target(session_id).view
        for row in _block(seq, view):
            engine().unpin(session_id, row.seq - 1)
    except ContextError as error:
        st.session_state[PROBLEM] = tell_error(error)
        return False
    return True
