"""Owns what the compaction dialog tells of pins that were made in it, each with the way back.

It is kept for the dialog's next run: a toast from its callbacks takes the place of the whole page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import streamlit as st

from dashboard.compactions_page.lost_facts import unpin_button
from dashboard.texts import t

_PINS = "compact_pins"
_IS_NEW = "compact_pins_changed"


def note_pin(seq: int, *, is_pinned: bool) -> None:
    """Keeps that message `seq` was pinned, or is no longer."""
    st.session_state[_PINS] = {**_noted(), seq: is_pinned}
    st.session_state[_IS_NEW] = True


def forget_pins() -> None:
    """For the next time the dialog opens."""
    for key in (_PINS, _IS_NEW):
        st.session_state.pop(key, None)


@contextmanager
def telling_of_work() -> Iterator[None]:
    """Says that a proposal is worked out again because of a pin, and that it is there.

    Whoever pinned looks at the end of the dialog and does not see a spinner at its top.
    """
    if not st.session_state.pop(_IS_NEW, False):
        yield
        return
    st.toast(t("compact.working"), icon="spinner")
    yield  # what goes wrong is told by the dialog, which is then as short as that
    st.toast(t("compact.again"), icon=":material/check:")  # a fragment cannot change the other


def show_pins_made(on_unpin: Callable[[int], None]) -> None:
    """What was pinned and unpinned."""
    for seq, is_pinned in _noted().items():
        if not is_pinned:
            st.caption(f":material/keep_off: {t('context.unpinned', seq=seq)}")
            continue
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"compact_pinned_{seq}"
        ):
            st.caption(f":material/keep: {t('compact.lost.pinned', seq=seq)}", width="content")
            unpin_button(seq, key=f"compact_unpin_{seq}", on_unpin=on_unpin)


def _noted() -> dict[int, bool]:
    return cast("dict[int, bool]", st.session_state.get(_PINS, {}))
