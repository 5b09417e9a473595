"""A model for tests in processes of their own: it answers slowly, without any library."""

from __future__ import annotations

import time
from collections.abc import Generator

from ctxcore.gateway.values import (
    ModelReply,
    ModelRequest,
    ModelUsage,
    StreamEvent,
    TextDelta,
    Waiting,
)


class SlowGateway:
    """Says `word` `words` times, with `pause_seconds` before each."""

    def __init__(self, word: str, *, words: int = 1, pause_seconds: float = 0.0) -> None:
        self._word = word
        self._words = words
        self._pause_seconds = pause_seconds

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The words, then the whole reply."""
        for _ in range(self._words):
            time.sleep(self._pause_seconds)
            yield Waiting(seconds=self._pause_seconds)
            yield TextDelta(text=self._word)
        yield self.complete(request)

    def complete(self, request: ModelRequest) -> ModelReply:
        """The whole reply."""
        return ModelReply(
            text=self._word * self._words,
            thoughts=(),
            calls=(),
            finish_reason="stop",
            usage=ModelUsage(),
            model="slow",
            cost=None,
            latency_seconds=0.0,
            first_token_seconds=None,
        )
