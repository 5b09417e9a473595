"""Tests of how the threads of model calls end with the process."""

from __future__ import annotations

import subprocess
import sys

from tests.limits import HANG_SECONDS

ENDS_WITHIN_AN_IMPORT = """
import _imp
from ctxcore.gateway.streams import Feed

def read(cancellation):
    _imp.acquire_lock()
    try:
        yield "within an import"
        cancellation.event.wait()
    finally:
        _imp.release_lock()

class ImportsLast:
    def __del__(self):
        try:
            import colorsys
        except ImportError:  # Python has taken its finders down by then
            pass
        print("ended")

last = ImportsLast()
print(next(Feed(read).items(None)), flush=True)
"""


def test_python_ends_though_a_call_was_within_an_import() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDS_WITHIN_AN_IMPORT],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["within an import", "ended"]
