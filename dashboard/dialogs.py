"""Which dialog is open: at most one, since a page cannot draw two.

A popover from which a dialog opens is closed, else it would stay in front and take Escape.
"""

from __future__ import annotations

import streamlit as st

DETAILS = "chat_details"
"""The key of the popover from which dialogs open."""

_OPEN = "dialog_open"


def open_dialog(name: str) -> None:
    """Opens a dialog on the next run, in place of another one."""
    st.session_state[_OPEN] = name
    if DETAILS in st.session_state:
        st.session_state[DETAILS] = False


def close_dialog() -> None:
    """Closes the dialog that is open, if any."""
    st.session_state.pop(_OPEN, None)


def is_open(name: str) -> bool:
    """Whether the dialog is open."""
    return st.session_state.get(_OPEN) == name


def is_any_open() -> bool:
    """Whether some dialog is open."""
    return _OPEN in st.session_state
