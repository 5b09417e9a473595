"""Owns the page that stands in place of all others while environment or file are wrong."""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ConfigurationError, PolicyError
from dashboard.safe_markdown import plain_label
from dashboard.settings.inputs import field_name
from dashboard.tell import tell, tell_error, tell_recorded
from dashboard.texts import STATE_KEY, language_of, t


def show_configuration_problem(error: PolicyError | ConfigurationError) -> None:
    """Where the mistake is, what is there and what may be; no page works until it is corrected."""
    is_unknown = STATE_KEY not in st.session_state
    if is_unknown:  # the stored language is out of reach as well
        st.session_state[STATE_KEY] = language_of(st.context.locale)
    st.title(t("settings.problem.title"))
    st.error(_told(error), icon=":material/error:")
    st.markdown(t("settings.problem.help"))
    if is_unknown:
        del st.session_state[STATE_KEY]


def _told(error: PolicyError | ConfigurationError) -> str:
    if isinstance(error, ConfigurationError):
        return plain_label(tell_error(error), max_chars=500)
    return t(
        "settings.problem",
        source=plain_label(tell_recorded(error.source), max_chars=300),
        field=plain_label(field_name(error.field)),
        value=plain_label(repr(error.value), max_chars=100),
        allowed=plain_label(tell(error.allowed), max_chars=2_000),
    )
