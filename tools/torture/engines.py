"""Engines for attacks: a clock that is told, and a model that answers from a script."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from time import sleep

from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.values import (
    Gateway,
    ModelReply,
    ModelRequest,
    ModelUsage,
    StreamEvent,
    TextDelta,
)
from ctxcore.store.sql import open_store

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LONG = timedelta(days=1)  # after it every lease has ended
ANSWER = " ".join(f"part {number}" for number in range(120))
PIECE_CHARS = 24


def ticking(since: datetime, *, seconds: float = 0.3) -> Callable[[], datetime]:
    """A clock that every look moves on, so that partial answers are stored often."""
    looks = count()
    return lambda: since + timedelta(seconds=seconds * next(looks))


class ScriptedGateway(Gateway):
    """Answers `ANSWER`, in pieces that take a moment each."""

    def __init__(self, *, piece_seconds: float = 0.0005) -> None:
        self._piece_seconds = piece_seconds

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        for start in range(0, len(ANSWER), PIECE_CHARS):
            sleep(self._piece_seconds)
            yield TextDelta(text=ANSWER[start : start + PIECE_CHARS])
        yield self.complete(request)

    def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(
            text=ANSWER,
            thoughts=(),
            calls=(),
            finish_reason="stop",
            usage=ModelUsage(),
            model=request.model,
            cost=None,
            latency_seconds=0.0,
            first_token_seconds=None,
        )


@contextmanager
def opened(url: str, *, since: datetime = START) -> Iterator[ContextEngine]:
    """An engine on the database at `url`, whose clock starts at `since`."""
    store = open_store(url)
    try:
        yield ContextEngine(
            store, gateway=ScriptedGateway(), model="torture/m", clock=ticking(since)
        )
    finally:
        store.close()
