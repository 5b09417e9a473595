"""The Lab page: tries policies on sessions, beside no compaction and a simple program."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.lab_page.sections import show_lab
from dashboard.texts import t
from dashboard.wording import error_text

st.title(t("lab.title"))
try:
    show_lab()
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
