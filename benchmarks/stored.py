"""Stored sessions to measure: messages in an SQLite file, behind the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ctxcore import ContextEngine, open_store
from ctxcore.engine.policies import save_figures
from ctxcore.messages.values import JsonObject

BATCH = 1_000  # messages a write
RESERVE_TOKENS = 4_096  # what `default` keeps free for the reply of a large model


def stored_session(
    messages: Sequence[JsonObject], folder: Path, *, model: str, usable_tokens: int
) -> tuple[ContextEngine, str]:
    """An engine and the id of a session that holds `messages`, with `usable_tokens` usable."""
    store = open_store(f"sqlite:///{folder / 'benchmark.db'}")
    save_figures(store, model, {"window_tokens": usable_tokens + RESERVE_TOKENS})
    engine = ContextEngine(store, model=model)
    session = engine.create_session("benchmark")
    for start in range(0, len(messages), BATCH):
        engine.append(session.id, messages[start : start + BATCH])
    return engine, session.id
