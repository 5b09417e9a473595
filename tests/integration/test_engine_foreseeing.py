"""What a policy would make of a stored session: the next call, the compaction that is due."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.policies import save_figures
from ctxcore.policy.values import Policy
from ctxcore.store.sql import open_store

MODEL = "scripted/demo"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    save_figures(store, MODEL, {"window_tokens": 2_000, "max_output_tokens": 200})
    made = ContextEngine(store, model=MODEL)
    made.user()
    yield made
    store.close()


def long_session(engine: ContextEngine) -> str:
    session = engine.create_session("Long")
    said = [{"role": "user", "content": f"Question {at}: " + "what? " * 60} for at in range(12)]
    engine.append(session.id, said)
    return session.id


def test_what_is_due_is_what_the_turn_would_do(engine: ContextEngine) -> None:
    session_id = long_session(engine)
    policy = Policy(trigger_ratio=0.3)

    foreseen = engine.foresee(session_id, policy)

    assert foreseen.trigger is not None
    assert foreseen.plan is not None
    made = engine.propose(session_id)
    assert foreseen.context.tokens == engine.context(session_id).tokens
    assert made.record is not None
    unplanned = engine.foresee(session_id, policy, plans=False)
    assert (unplanned.trigger, unplanned.plan) == (foreseen.trigger, None)
    assert engine.compactions(session_id) == []


def test_nothing_is_due_below_the_trigger_or_without_automatic_compaction(
    engine: ContextEngine,
) -> None:
    session_id = long_session(engine)

    assert engine.foresee(session_id, Policy(trigger_ratio=0.99)).plan is None
    off = engine.foresee(session_id, Policy(trigger_ratio=1.0))
    assert (off.trigger, off.plan) == (None, None)
    assert off.measured_tokens > 0


def test_another_user_s_session_is_not_foreseen(engine: ContextEngine) -> None:
    session_id = long_session(engine)
    other = ContextEngine(engine.store, user_id="eve", model=MODEL)
    other.user()

    with pytest.raises(NotAllowedError):
        other.foresee(session_id, Policy())
