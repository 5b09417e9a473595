"""Draws texts of models and people as markdown, within what a server and a browser can bear.

Of a long text the beginning is drawn, and the rest on request; what a browser may fail at as
markdown is drawn as plain text.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.nesting import is_beyond_browsers
from dashboard.safe_markdown import safe_markdown
from dashboard.texts import t

MOST_CHARS = 20_000  # chosen: an answer of 5,000 tokens; five times as many double the page's time
MOST_REST_CHARS = 200_000  # chosen: plain text that a browser draws within a second

Form = Callable[[str], str]
"""Makes safe markdown of a text."""


def show_text(text: str, *, key: str, form: Form = safe_markdown) -> None:
    """Draws a text; where it is long, its beginning and a switch with this key for the rest."""
    start = text[: _end_of_start(text)]
    write_text(start, form=form)
    if not (rest := text[len(start) :]):
        return
    if st.toggle(t("common.text.rest", count=f"{len(rest):,}"), key=key):
        _plain(rest[:MOST_REST_CHARS])
        if len(rest) > MOST_REST_CHARS:
            st.caption(t("chat.more_chars", count=f"{len(rest) - MOST_REST_CHARS:,}"))


def write_text(
    text: str, place: DeltaGenerator | None = None, *, form: Form = safe_markdown
) -> None:
    """Draws a text that is not long, in place of what `place` has if it is given."""
    markdown = form(text)
    if is_beyond_browsers(markdown):
        _plain(text, place)
    elif place is None:
        st.markdown(markdown)
    else:
        place.markdown(markdown)


def newest_part(text: str) -> str:
    """The end of a text that is still being written, from a line's start; all of it if short."""
    if len(text) <= MOST_CHARS:
        return text
    start = text.find("\n", len(text) - MOST_CHARS) + 1
    return text[start or len(text) - MOST_CHARS :]


def _plain(text: str, place: DeltaGenerator | None = None) -> None:
    code = st.code if place is None else place.code
    code(text, language=None, wrap_lines=True)


def _end_of_start(text: str) -> int:
    """Where the part of a long text ends that is drawn at once: with a line if there is one."""
    if len(text) <= MOST_CHARS:
        return len(text)
    return text.rfind("\n", MOST_CHARS // 2, MOST_CHARS) + 1 or MOST_CHARS
