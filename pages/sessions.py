"""The sessions page: find, keep, import and export sessions."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.sessions_page.sections import show_sessions
from dashboard.tell import tell_error
from dashboard.texts import t

st.title(t("sessions.title"))
try:
    show_sessions()
except ContextError as error:
    st.error(tell_error(error), icon=":material/error:")
