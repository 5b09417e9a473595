"""Engines for tests: a store, a scripted model behind the real gateway, a clock that ticks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import TurnEnded, TurnEvent
from ctxcore.engine.leases import WAIT_SECONDS
from ctxcore.engine.policies import save_figures
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.scripted import Script, ScriptedModel, ScriptedReply, count_words, echo
from ctxcore.litellm_loading import LITELLM_WARNINGS
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope
from tests.histories import assistant, user
from tests.limits import HANG_SECONDS

# Says more than a reader takes before it turns away, however late that is.
ENDLESS = ScriptedReply(text="more " * 100_000, chunk_chars=5, chunk_delay_seconds=0.01)
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Clock:
    """Each look at it is one second later."""

    def __init__(self) -> None:
        self._seconds = count()

    def __call__(self) -> datetime:
        return START + timedelta(seconds=next(self._seconds))


@contextmanager
def engine_with(
    replies: Iterable[Script] = (),
    *,
    otherwise: Script | None = None,
    window: int | None = 4_000,
    url: str = "sqlite://",
    name: str = "test",
    provider_window: int | None = None,
    user_id: str = "local",
    count_tokens: Callable[[str], int] = count_words,
    wait_seconds: float = WAIT_SECONDS,
) -> Iterator[tuple[ContextEngine, ScriptedModel]]:
    """An engine whose model answers as written; without more replies it echoes."""
    quiet_litellm()
    store = open_store(url)
    ids = count(1)
    model = ScriptedModel(
        name,
        replies,
        otherwise=otherwise or echo("Noted: {text}"),
        window_tokens=provider_window,
        count=count_tokens,
    )
    try:
        if window is not None:
            save_figures(store, model.model, {"window_tokens": window})
        engine = ContextEngine(
            store,
            user_id=user_id,
            gateway=LiteLLMGateway(),
            model=model.model,
            wait_seconds=wait_seconds,
            clock=Clock(),
            new_id=lambda: f"id-{next(ids)}",
        )
        yield engine, model
        assert engine.wait(timeout_seconds=HANG_SECONDS)
    finally:
        model.remove()
        store.close()


def quiet_litellm() -> None:
    """pytest restores the filters before each test, so the gateway's own are set again."""
    for message, category in LITELLM_WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)


def ended(events: Iterable[TurnEvent]) -> TurnEnded:
    """The last event of a turn."""
    last = list(events)[-1]
    assert isinstance(last, TurnEnded)
    return last


def compacted_session(
    engine: ContextEngine, told: str, *, turns: int = 30, **overrides: JsonValue
) -> str:
    """A session of which a compaction folded the message `told`."""
    policy: JsonObject = {"strategies": ["fold_oldest"], **overrides}
    engine.save_policy(Scope(kind="user", owner="local"), policy)
    session = engine.create_session("boats", system="Be brief.")
    said = [
        message
        for at in range(turns)
        for message in (user(f"pebble {at} " + "word " * 20), assistant(f"shell {at}"))
    ]
    engine.append(session.id, [*said[:8], user(told), assistant("Noted."), *said[8:]])
    engine.compact(session.id)
    return session.id


def saying(text: str) -> ScriptedReply:
    """A reply of words alone."""
    return ScriptedReply(text=text)
