"""Sessions that nobody changed for long: which are due, under whose policy, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ctxcore.engine.core import KEPT_AFTER_DELETE, ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.policy.layers import Layer
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MINE = Scope(kind="user", owner="local")


class Later:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Later:
    return Later()


@pytest.fixture
def engine(clock: Later) -> Iterator[ContextEngine]:
    store = open_store("sqlite://")
    made = ContextEngine(store, clock=clock, model="openai/gpt-4o")
    made.user()
    yield made
    store.close()


def session_of(engine: ContextEngine, days: int, user_id: str = "local") -> str:
    at = NOW - timedelta(days=days)  # when it was made and last changed
    name = f"{user_id}-{days}"
    return engine.store.create_session(name, user_id=user_id, at=at, title=name).id


def due(engine: ContextEngine) -> list[str]:
    return [one.session.id for one in engine.due_sessions()]


def test_nothing_is_deleted_unless_somebody_asks_for_it(engine: ContextEngine) -> None:
    session_of(engine, 10_000)

    assert engine.delete_due() == []


def test_the_narrowest_scope_decides(engine: ContextEngine) -> None:
    old, older = session_of(engine, 40), session_of(engine, 400)
    kept = session_of(engine, 500)
    engine.save_policy(Scope(), {"delete_after_days": 30})
    assert due(engine) == [old, older, kept]

    engine.save_policy(MINE, {"delete_after_days": 365})
    engine.save_policy(Scope(kind="session", owner=kept), {"delete_after_days": None})

    assert due(engine) == [older]
    model = Scope(kind="user_model", owner="local", model="openai/gpt-4o")
    engine.save_policy(model, {"delete_after_days": None})
    assert due(engine) == []


def test_environment_and_file_count_where_nothing_is_stored(engine: ContextEngine) -> None:
    session_id = session_of(engine, 40)
    layer = Layer(name="environment", overrides={"delete_after_days": 30})
    other = ContextEngine(engine.store, clock=lambda: NOW, layers=[layer])

    assert due(other) == [session_id]


def test_a_change_is_foreseen_for_one_scope(engine: ContextEngine) -> None:
    session_id = session_of(engine, 40)

    foreseen = engine.due_sessions(instead=(MINE, 30))

    assert [(one.session.id, one.days) for one in foreseen] == [(session_id, 30)]
    assert engine.due_sessions() == []
    engine.save_policy(MINE, {"delete_after_days": 30})
    assert engine.due_sessions(instead=(MINE, None)) == []


def test_what_is_due_can_be_restored_until_it_is_erased(
    engine: ContextEngine, clock: Later
) -> None:
    session_id = session_of(engine, 40)
    engine.save_policy(MINE, {"delete_after_days": 30})

    assert [one.session.id for one in engine.delete_due()] == [session_id]
    assert [one.id for one in engine.sessions(deleted=True)] == [session_id]
    clock.now += KEPT_AFTER_DELETE / 2
    assert engine.purge_expired() == []
    clock.now += KEPT_AFTER_DELETE
    assert engine.purge_expired() == [session_id]


def test_what_was_restored_or_imported_is_not_deleted_at_once(engine: ContextEngine) -> None:
    session_id = session_of(engine, 40)
    engine.save_policy(MINE, {"delete_after_days": 30})
    engine.delete_due()
    engine.restore(session_id)
    made = engine.store.create_session("new", user_id="local", at=NOW)
    engine.store.rename(made.id, "of a file", at=NOW - timedelta(days=400))

    assert engine.delete_due() == []


def test_sessions_of_others_are_due_for_operators_only(engine: ContextEngine) -> None:
    engine.create_user("ana")
    theirs = session_of(engine, 40, "ana")
    engine.save_policy(Scope(), {"delete_after_days": 30})
    ana = ContextEngine(engine.store, user_id="ana", clock=lambda: NOW)

    assert due(engine) == []
    assert [one.session.id for one in engine.due_sessions(everybody=True)] == [theirs]
    with pytest.raises(NotAllowedError):
        ana.due_sessions(everybody=True)


def test_only_the_user_s_own_deleted_sessions_are_erased(engine: ContextEngine) -> None:
    engine.create_user("ana")
    mine, theirs = session_of(engine, 1), session_of(engine, 1, "ana")
    for session_id in (mine, theirs):
        engine.delete(session_id)

    assert engine.purge_all_deleted() == [mine]
    assert engine.store.session(theirs).deleted_at is not None
