"""The usage page: what a session sent and cost a turn, what was left out, where its tokens went."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.shell import current_session
from dashboard.tell import tell_error
from dashboard.texts import t
from dashboard.usage.sections import show_usage
from dashboard.widgets import empty_state

st.title(t("usage.title"))
session = current_session()
if session is None or not session.length:
    empty_state(t("usage.empty"), icon=":material/monitoring:")
    st.stop()
try:
    show_usage(session)
except ContextError as error:
    st.error(tell_error(error), icon=":material/error:")
