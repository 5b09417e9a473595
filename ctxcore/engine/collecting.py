"""Puts off full garbage collections while very many objects are made that all stay for a while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_RARELY: Final = 1_000  # younger collections between full ones; chosen: millions of objects


@contextmanager
def rare_full_collections() -> Iterator[None]:
    """Has the process look through all its objects rarely; through new ones as often as before.

    A compaction of thousands of messages makes a quarter more objects again and again, and each
    time Python would look through every object of the process: a fifth of a compaction's time, for
    next to nothing. Threads that ask for it at once leave it as they found it.
    """
    young, middle, full = gc.get_threshold()
    if full >= _RARELY:
        yield
        return
    gc.set_threshold(young, middle, _RARELY)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, full)
