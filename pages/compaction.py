"""The compaction page: what was compacted and why, what it did, and the way back."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard import background
from dashboard.compaction_dialog import compaction_dialog
from dashboard.compactions_page.sections import show_compactions
from dashboard.selection import current_session
from dashboard.texts import t
from dashboard.widgets import empty_state
from dashboard.wording import error_text

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
    st.error(error_text(error), icon=":material/error:")
