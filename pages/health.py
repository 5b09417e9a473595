"""The health page, for operators: versions, database, running turns, errors, models, counters."""

import streamlit as st

from ctxcore.errors import ContextError
from dashboard.health_page.sections import show_health
from dashboard.texts import t
from dashboard.wording import error_text

st.title(t("health.title"))
try:
    show_health()
except ContextError as error:
    st.error(error_text(error), icon=":material/error:")
