"""The sessions page: find, keep, import and export sessions."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.sessions_page.sections import show_sessions
from dashboard.texts import t
from dashboard.wording import error_text

st.title(t("sessions.title"))
try:
    show_sessions()
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
