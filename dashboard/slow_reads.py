"""Reads what takes seconds in a thread: the page is complete before, and redrawn when it is there.

What is read must be cached, since the redrawn page reads it again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from dashboard.thread_jobs import Job

GRACE_SECONDS = 0.3  # chosen: a page that waits longer no longer feels immediate
LOOK_SECONDS = 0.5  # chosen: the page follows soon after the end

SLOW_READS = "slow_reads"
"""Where a browser session keeps what is being read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRead(Generic[T]):
    """Something to read; without a session of Streamlit, which a thread has not."""

    key: Hashable
    """What the content depends on."""
    read: Callable[[], T]


def read_slowly(slow: SlowRead[T], *, place: str, text: str) -> T | None:
    """What was read; None as long as it takes, and `text` then stands here.

    A place of the page has one thread at a time: what it shows next waits for the last to end.

    Raises:
        ContextError: the read raised it.
    """
    jobs: dict[str, tuple[Hashable, Job[Any]]] = st.session_state.setdefault(SLOW_READS, {})
    key, job = jobs.pop(place) if place in jobs else (slow.key, _begun(slow))
    is_done = job.wait(GRACE_SECONDS)
    if is_done and key != slow.key:
        key, job = slow.key, _begun(slow)
        is_done = job.wait(GRACE_SECONDS)
    if not is_done:
        jobs[place] = (key, job)
        _watch(place, text)
        return None
    if job.error is not None:
        raise job.error
    return cast("T", job.result)  # there is one without an error


def _begun(slow: SlowRead[T]) -> Job[T]:
    return Job(lambda _: slow.read())


@st.fragment(run_every=LOOK_SECONDS)
def _watch(place: str, text: str) -> None:
    """Says what is being done, and runs the page again once it is."""
    _, job = st.session_state[SLOW_READS].get(place, (None, None))
    if job is None or job.is_done:
        st.rerun()
    st.caption(f":material/hourglass_top: {text}")
