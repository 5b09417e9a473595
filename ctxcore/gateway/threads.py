"""Starts the threads of model calls, which are stopped and joined when the process ends.

A thread that Python meets within an import, or within the built-in model, hangs the end of the
process or aborts it: whatever it holds is never released.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

_EXIT_SECONDS = 5.0  # chosen: above a prompt batch of the built-in model, no long wait for the user

_lock = threading.Lock()
_stops: dict[threading.Thread, Callable[[], None]] = {}


def start_thread(work: Callable[[], None], *, name: str, stop: Callable[[], None]) -> None:
    """Runs `work` in a thread; `stop` is called from another one and makes it return soon."""

    def run() -> None:
        try:
            work()
        finally:
            with _lock:
                _stops.pop(threading.current_thread(), None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    with _lock:
        _stops[thread] = stop
    thread.start()


def stop_all() -> None:
    """Stops every thread that still runs, and waits for all of them, some seconds at most."""
    with _lock:
        running = dict(_stops)
    for stop in running.values():
        stop()
    latest = time.monotonic() + _EXIT_SECONDS
    for thread in running:
        thread.join(max(0.0, latest - time.monotonic()))


atexit.register(stop_all)
