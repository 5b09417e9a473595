"""Slow reads: a page that is complete before they end, one thread a place, errors on the page."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from ctxcore.errors import ContextError
from dashboard import slow_reads
from dashboard.slow_reads import SlowRead
from tests.limits import HANG_SECONDS


def page() -> None:
    import streamlit as st

    from ctxcore.errors import ContextError
    from dashboard.slow_reads import read_slowly

    try:
        found = read_slowly(st.session_state["slow"], place="figures", text="Counting…")
    except ContextError as error:
        st.error(error.code)
    else:
        if found is not None:
            st.markdown(found)
    st.title("All is drawn")


class Work:
    """Reads that end when they are let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._go = threading.Event()

    def read(self, name: str) -> SlowRead[str]:
        def read() -> str:
            self.begun.append(name)
            assert self._go.wait(HANG_SECONDS)
            return f"read {name}"

        return SlowRead(key=name, read=read)

    def let_go(self) -> None:
        self._go.set()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    at = AppTest.from_function(page, default_timeout=HANG_SECONDS)

    def run(slow: SlowRead[str], *, waits: bool) -> AppTest:
        monkeypatch.setattr(slow_reads, "GRACE_SECONDS", HANG_SECONDS if waits else 0.0)
        at.session_state["slow"] = slow
        at.run()
        assert at.title[0].value == "All is drawn"
        return at

    return run


def drawn(at: AppTest) -> list[str]:
    return [str(element.value) for element in (*at.caption, *at.markdown, *at.error)]


def test_the_page_says_what_is_being_read_until_it_is_there(run: Callable[..., AppTest]) -> None:
    work = Work()
    assert drawn(run(work.read("a"), waits=False)) == [":material/hourglass_top: Counting…"]
    assert drawn(run(work.read("a"), waits=False)) == [":material/hourglass_top: Counting…"]

    work.let_go()

    assert drawn(run(work.read("a"), waits=True)) == ["read a"]
    assert work.begun == ["a"]


def test_what_is_shown_next_waits_for_the_last_read(run: Callable[..., AppTest]) -> None:
    work = Work()
    for name in "abc":
        run(work.read(name), waits=False)
    work.let_go()

    assert drawn(run(work.read("d"), waits=True)) == ["read d"]
    assert work.begun == ["a", "d"]


def test_an_error_is_raised_on_the_page_once(run: Callable[..., AppTest]) -> None:
    def fail() -> str:
        raise ContextError("no such thing")

    failing = SlowRead(key="a", read=fail)
    assert drawn(run(failing, waits=True)) == [ContextError("no such thing").code]
    assert drawn(run(SlowRead(key="a", read=lambda: "read again"), waits=True)) == ["read again"]
