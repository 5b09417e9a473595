"""The reports page: savings, effects of settings, shadow mode, changes, alerts."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.reports_page.sections import show_reports
from dashboard.texts import t
from dashboard.wording import error_text

st.title(t("reports.title"))
try:
    show_reports()
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
