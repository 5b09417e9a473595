"""Pages know when another process has changed what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.messages.values import JsonObject
from ctxcore.store import open_store
from ctxcore.store.values import Scope
from dashboard import following
from dashboard.following import UNTOLD_SECONDS, Followed, Heard


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContextEngine]:
    """What the pages work with, beside which `elsewhere` changes things."""
    with closing(open_store(str(tmp_path / "chat.db"))) as store:
        engine = ContextEngine(store, model="gpt-4o")
        monkeypatch.setattr(following, "engine", lambda: engine)
        yield engine


@pytest.fixture
def elsewhere(engine: ContextEngine, tmp_path: Path) -> Iterator[ContextEngine]:
    with closing(open_store(str(tmp_path / "chat.db"))) as store:
        yield ContextEngine(store, model="gpt-4o")


def append(engine: ContextEngine, session_id: str) -> None:
    engine.append(session_id, [{"role": "user", "content": "more"}])


def save_policy(engine: ContextEngine, session_id: str) -> None:
    overrides: JsonObject = {"reserve_tokens": 999}
    engine.save_policy(Scope(kind="user", owner="local"), overrides)


def rename(engine: ContextEngine, session_id: str) -> None:
    engine.rename(session_id, "Other")


CHANGES = [
    ("usage", append, True),
    ("context", save_policy, True),
    ("sessions", rename, True),
    ("settings", save_policy, True),
    ("settings", append, False),
    ("chat", append, False),  # it looks after its session itself
]


@pytest.mark.parametrize(("page", "change", "is_shown"), CHANGES)
def test_a_page_is_drawn_again_for_what_it_shows(
    engine: ContextEngine,
    elsewhere: ContextEngine,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    change: Callable[[ContextEngine, str], None],
    is_shown: bool,
) -> None:
    session = engine.create_session("One")
    monkeypatch.setattr(following, "current_session", lambda: session)
    followed = Followed(lambda: following._state(page))
    assert not followed.has_changed()

    change(elsewhere, session.id)

    assert followed.has_changed() is is_shown
    assert not followed.has_changed()


def test_without_news_a_chat_looks_only_now_and_then(engine: ContextEngine) -> None:
    heard = Heard()
    assert not heard.is_time_to_look()

    heard.at -= UNTOLD_SECONDS

    assert heard.is_time_to_look()
    assert not heard.is_time_to_look()
