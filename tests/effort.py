"""How much work a call is: as calls made, which a busy machine does not change, or as time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def calls_made(work: Callable[[T], object], given: T) -> int:
    """How many functions `work(given)` calls in this thread, those written in C included."""
    made = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(given)
    finally:
        sys.setprofile(before)
    return made


def processor_seconds(work: Callable[[T], object], given: T) -> float:
    """The processor time of the fastest of three runs; the first also loads what is needed."""
    return min(_timed(work, given) for _ in range(3))


def _timed(work: Callable[[T], object], given: T) -> float:
    started = time.process_time()
    work(given)
    return time.process_time() - started
