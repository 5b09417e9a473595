"""The context page: what the model is sent of each message, and the originals of shortened ones."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard import background
from dashboard.context_page.sections import show_context
from dashboard.selection import current_session
from dashboard.texts import t
from dashboard.widgets import empty_state
from dashboard.wording import error_text

st.title(t("context.title"))
session = current_session()
if session is None or not session.length:
    empty_state(t("context.empty"), icon=":material/visibility:")
    st.stop()
is_busy = background.is_busy(session.id)
try:
    if is_busy:
        background.watch(session.id)
    show_context(session)
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
