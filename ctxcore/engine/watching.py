"""Tells what an engine does to those that watch it: contexts, calls, compactions."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from ctxcore.assembly.context import Context
from ctxcore.engine.policies import EffectivePolicy
from ctxcore.errors import without_message
from ctxcore.store.values import CallInfo, Event

logger = logging.getLogger(__name__)


class Watcher(Protocol):
    """Watches an engine; called in the thread of what happens, right after it."""

    def on_context(
        self, session_id: str, context: Context, seconds: float, effective: EffectivePolicy
    ) -> None:
        """A context was built for a call, in that time, under that policy."""

    def on_call(self, call: CallInfo, first_token_seconds: float | None) -> None:
        """A call was made and stored, or failed.

        `first_token_seconds` is None where the answer came whole, or nobody told.
        """

    def on_event(self, event: Event) -> None:
        """Something else was recorded, e.g. a compaction."""


class Watchers:
    """Those that watch an engine; a fault of one is logged and stops nothing."""

    def __init__(self) -> None:
        self._watchers: tuple[Watcher, ...] = ()
        self._lock = threading.Lock()

    @property
    def are_there(self) -> bool:
        """Whether anybody watches."""
        return bool(self._watchers)

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Tells `watcher` from now on; the returned function ends this."""
        with self._lock:
            self._watchers = (*self._watchers, watcher)

        def remove() -> None:
            with self._lock:
                self._watchers = tuple(one for one in self._watchers if one is not watcher)

        return remove

    def tell(self, what: Callable[[Watcher], None]) -> None:
        """Calls `what` with every watcher."""
        for watcher in self._watchers:
            try:
                what(watcher)
            except Exception as error:
                name = type(watcher).__name__
                told = without_message(error)
                logger.exception("a watcher failed watcher=%s", name, exc_info=told)
