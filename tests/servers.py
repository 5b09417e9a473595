"""Servers of the dashboard as processes of their own, for tests that speak to them."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.limits import HANG_SECONDS


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(
    command: Sequence[str], port: int, *, folder: Path, log: Path, variables: Mapping[str, str]
) -> Iterator[str]:
    """Runs `command` in `folder` until the block ends; gives the address, once it answers."""
    with started(command, port, folder=folder, log=log, variables=variables) as (address, _):
        yield address


@contextmanager
def started(
    command: Sequence[str], port: int, *, folder: Path, log: Path, variables: Mapping[str, str]
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same, and the process, which a test may kill."""
    with log.open("w", encoding="utf-8") as opened:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "CTXCORE_WARM_UP": "0", **variables},
            stdout=opened,
            stderr=opened,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(f"{address}/_stcore/health", process)
            yield address, process
        finally:
            process.terminate()
            process.wait(timeout=HANG_SECONDS)


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until the server answers `ok`."""
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(address, timeout=HANG_SECONDS) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"no answer from {address}")
