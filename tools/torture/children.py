"""Child processes that can be killed at any moment, and tell what they have done so far.

They are forked, so that one takes milliseconds; the parent must have no threads and no open
database.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any, NoReturn, TypeAlias

Tell: TypeAlias = Callable[[Any], None]
"""Tells the parent a JSON value; what was told survives the child."""

HANG_SECONDS = 120.0  # chosen: far longer than anything a child does, beside other programs


@dataclass(slots=True)
class Child:
    """A process at work."""

    pid: int
    _pipe: int
    _told: bytes = b""

    def wait_until_told(self, lines: int) -> None:
        """Waits until it has told so much, or has ended."""
        while self._told.count(b"\n") < lines and self._read(HANG_SECONDS):
            pass

    def wait(self, seconds: float) -> None:
        """Lets it work for a while; returns earlier if it ends."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0 and self._read(left):
            pass

    def kill(self) -> None:
        """Kills it, whatever it does."""
        os.kill(self.pid, signal.SIGKILL)

    def ended(self) -> tuple[int, list[Any]]:
        """Waits for its end; its status, negative for a signal, and all that it told.

        Raises:
            TimeoutError: it hangs; it is killed.
        """
        while self._read(HANG_SECONDS):
            pass
        os.close(self._pipe)
        _, status = os.waitpid(self.pid, 0)
        whole = self._told.split(b"\n")[:-1]  # a line that was cut was not told
        return os.waitstatus_to_exitcode(status), [json.loads(line) for line in whole]

    def _read(self, seconds: float) -> bool:
        """Reads what it tells; False if it has ended, or, within a short time, tells nothing."""
        ready, _, _ = select.select([self._pipe], [], [], seconds)
        if not ready:
            if seconds >= HANG_SECONDS:
                self.kill()
                raise TimeoutError(f"a child hangs; it has told {self._told[-200:]!r}")
            return False
        data = os.read(self._pipe, 1 << 16)
        self._told += data
        return bool(data)


def start(work: Callable[[Tell], None]) -> Child:
    """A child that does `work` and ends."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    return Child(pid, reading)


def run(work: Callable[[Tell], None]) -> tuple[int, list[Any]]:
    """What a child that does `work` ended with, and told."""
    return start(work).ended()


def answers(work: Callable[[], Iterator[Any]]) -> list[Any]:
    """What `work` yields in a process of its own, after which nothing is left open in this one.

    Raises:
        RuntimeError: it failed.
    """

    def tell_all(tell: Tell) -> None:
        for value in work():
            tell(value)

    status, told = run(tell_all)
    if status:
        raise RuntimeError(told[-1] if told else f"the child ended with {status}")
    return told


def _work(work: Callable[[Tell], None], writing: int) -> NoReturn:
    def tell(value: Any) -> None:
        os.write(writing, json.dumps(value).encode() + b"\n")

    status = 0
    try:
        work(tell)
    except BaseException:  # noqa: BLE001 - told to the parent; nothing of it may run here
        status = 1
        tell({"failed": traceback.format_exc(limit=-6)[-2000:]})
    os._exit(status)
