"""Processes as leases name them: which of them have certainly ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from ctxcore.store import holders
from ctxcore.store.holders import Holder, has_ended, holder_text, parse_holder, this_process


def own() -> Holder:
    found = parse_holder(this_process())
    assert found is not None
    return found


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended and was waited for."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_this_process_has_not_ended() -> None:
    assert own().pid == os.getpid()
    assert not has_ended(this_process())


def test_a_number_that_nobody_has_is_of_an_ended_process(ended: int) -> None:
    assert has_ended(holder_text(replace(own(), pid=ended)))


def test_a_process_that_nobody_waited_for_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        if not own().space:
            pytest.skip("only Linux tells it")
        stat = holders._stat_of(process.pid)
        assert stat is not None
        text = holder_text(replace(own(), pid=process.pid, started=stat[1]))
        assert not has_ended(text)

        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # leaves it a zombie

        assert has_ended(text)


def test_a_reused_number_is_not_taken_for_the_process() -> None:
    if not own().space:
        pytest.skip("only Linux tells when a process started")
    assert has_ended(holder_text(replace(own(), started="1")))


@pytest.mark.parametrize("change", [{"host": "other"}, {"space": "other"}])
def test_processes_elsewhere_are_never_certain(change: dict[str, str], ended: int) -> None:
    assert not has_ended(holder_text(replace(own(), pid=ended, **change)))


@pytest.mark.parametrize("text", [None, "", "?", "[]", json.dumps({"host": "h"})])
def test_a_holder_that_cannot_be_read_is_never_certain(text: str | None) -> None:
    assert parse_holder(text) is None
    assert not has_ended(text)


def test_without_proc_a_signal_tells_and_windows_is_never_asked(
    ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, gone = (holder_text(replace(own(), space="", pid=pid)) for pid in (os.getppid(), ended))
    monkeypatch.setattr(holders, "_space", lambda: "")
    holders._own_text.cache_clear()
    try:
        assert has_ended(gone)
        assert not has_ended(there)
        monkeypatch.setattr(sys, "platform", "win32")
        assert not has_ended(gone)
    finally:
        holders._own_text.cache_clear()
