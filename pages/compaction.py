"""The compaction page: what was compacted and why, what it did, and the way back."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard import background
from dashboard.compactions_page.sections import show_compactions
from dashboard.panels import compaction_dialog
from dashboard.shell import current_session
from dashboard.tell import tell_error
from dashboard.texts import t
from dashboard.widgets import empty_state

st.title(t("compaction.title"))
session = current_session()
if session is None or not session.length:
    empty_state(t("compaction.no_session"), icon=":material/compress:")
    st.stop()
is_busy = background.is_busy(session.id)
try:
    if is_busy:
        background.watch(session.id)
    show_compactions(session)
    compaction_dialog()
except ContextError as error:
    st.error(tell_error(error), icon=":material/error:")
