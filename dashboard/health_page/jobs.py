"""Waits for the work that the health page starts."""

from __future__ import annotations

from typing import TypeVar

import streamlit as st

from dashboard.safe_markdown import plain_label
from dashboard.thread_jobs import Job
from dashboard.wording import error_text

T = TypeVar("T")


def wait_for(job: Job[T], text: str) -> None:
    """Says what is going on until a job has ended; a click meanwhile does not end it."""
    if not job.is_done:
        with st.spinner(text):
            for _ in job.follow():
                pass
    if job.error is not None:
        st.error(plain_label(error_text(job.error), max_chars=500), icon=":material/error:")
