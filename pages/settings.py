"""The settings page: thresholds for whom, how models are reached, who uses this, which language."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.settings.sections import show_settings
from dashboard.texts import t
from dashboard.wording import error_text

st.title(t("settings.title"))
try:
    show_settings()
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
