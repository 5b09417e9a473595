"""The usage page: what a session sent and cost a turn, what was left out, where its tokens went."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.selection import current_session
from dashboard.texts import t
from dashboard.usage.sections import show_usage
from dashboard.widgets import empty_state
from dashboard.wording import error_text

st.title(t("usage.title"))
session = current_session()
if session is None or not session.length:
    empty_state(t("usage.empty"), icon=":material/monitoring:")
    st.stop()
try:
    show_usage(session)
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
