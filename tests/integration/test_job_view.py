"""A job as a page draws it: a bar and Cancel while it runs, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.jobs import Progress
from ctxcore.json_types import JsonObject
from ctxcore.store.errors import RecordNotFoundError
from dashboard import services, texts
from tests.dashboard_app import open_dashboard
from tests.limits import HANG_SECONDS

ENDS = {
    ("cancelled", "en"): "Cancelled; nothing of it was kept.",
    ("cancelled", "zh"): "已取消，没有保留任何结果。",
    ("failed", "en"): "there is no call 'c'",
    ("gone", "zh"): "这个任务已不存在：它或它的某个会话已被删除。",
}


def page(job_id: str) -> None:
    """What a page does with a job."""
    import streamlit as st

    from dashboard.job_view import follow_job

    job = follow_job(job_id, key="test")
    if job is not None and job.result is not None:
        st.markdown(f"result: {job.result['sum']}")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContextEngine]:
    with open_dashboard(tmp_path, monkeypatch):
        yield services.engine()


def drawn(job_id: str, language: str = "en") -> AppTest:
    at = AppTest.from_function(page, args=(job_id,), default_timeout=HANG_SECONDS)
    at.session_state[texts.STATE_KEY] = language
    at.run()
    assert not at.exception
    return at


def adding() -> Generator[Progress, None, JsonObject]:
    yield 1, 1
    return {"sum": 3}


def test_a_running_job_has_a_bar_and_can_be_cancelled(engine: ContextEngine) -> None:
    go_on = threading.Event()

    def held() -> Generator[Progress, None, JsonObject]:
        yield 1, 4
        assert go_on.wait(HANG_SECONDS)
        yield 2, 4
        return {}

    job = engine.jobs.start("held", {}, held)
    at = drawn(job.id)
    at.button(key="test_cancel").click().run()
    go_on.set()

    assert engine.jobs.wait(job.id, HANG_SECONDS)
    assert engine.jobs.job(job.id).state == "cancelled"
    assert [info.value for info in at.info] == [ENDS["cancelled", "en"]]


def test_the_page_draws_the_result_of_a_job_that_is_done(engine: ContextEngine) -> None:
    job = engine.jobs.start("adding", {}, adding)
    assert engine.jobs.wait(job.id, HANG_SECONDS)

    at = drawn(job.id)

    assert [text.value for text in at.markdown] == ["result: 3"]
    assert not at.button


@pytest.mark.parametrize(("ending", "language"), ENDS)
def test_a_job_without_a_result_says_how_it_ended(
    engine: ContextEngine, ending: str, language: str
) -> None:
    def ended() -> Generator[Progress, None, JsonObject]:
        assert go_on.wait(HANG_SECONDS)
        if ending == "failed":
            raise RecordNotFoundError(kind="call", record_id="c")
        yield 1, 1
        return {}

    go_on = threading.Event()
    job = engine.jobs.start(ending, {}, ended)
    if ending == "cancelled":
        engine.jobs.cancel(job.id)
    go_on.set()
    assert engine.jobs.wait(job.id, HANG_SECONDS)
    if ending == "gone":
        engine.jobs.delete(job.id)

    at = drawn(job.id, language)

    shown = [element.value for element in (*at.info, *at.error, *at.warning)]
    assert shown == [ENDS[ending, language]]
