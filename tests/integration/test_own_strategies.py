"""A strategy that somebody registers compacts like one of the library's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ctxcore import Policy, PolicyError, compact, register_strategy
from ctxcore.compaction.drafting import Draft
from ctxcore.messages.values import Message
from ctxcore.policy.names import STRATEGIES
from ctxcore.store.values import Scope
from tests.engines import engine_with
from tests.histories import assistant, user
from tests.words import words


def keep_three(draft: Draft) -> Draft:
    """Folds all but the newest three blocks."""
    return replace(draft, cut=max(draft.cut, len(draft.scope.blocks) - 3))


@pytest.fixture
def _registered() -> Iterator[None]:
    with STRATEGIES.restored():
        register_strategy("keep_three", keep_three)
        yield


def talk(turns: int) -> list[Message]:
    said = (user(words(60)), assistant(words(60)))
    return [message for _ in range(turns) for message in said]


@pytest.mark.usefixtures("_registered")
def test_compact_runs_it_and_names_it() -> None:
    policy = Policy(strategies=("keep_three",))

    result = compact(talk(10), policy=policy, max_tokens=2_000, force=True)

    assert [step.strategy for step in result.steps] == ["keep_three"]
    assert result.state.active is not None
    assert result.state.active.covered_until == 17


@pytest.mark.usefixtures("_registered")
def test_the_engine_runs_it_from_a_stored_policy_and_records_its_name() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, talk(10))
        engine.save_policy(Scope(kind="user", owner="local"), {"strategies": ["keep_three"]})

        info = engine.compact(session.id)

        assert info is not None
        assert info.compaction.strategies == ("keep_three",)


def test_a_stored_policy_that_names_a_missing_one_is_an_error_that_names_it() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        with STRATEGIES.restored():
            register_strategy("keep_three", keep_three)
            engine.save_policy(Scope(kind="user", owner="local"), {"strategies": ["keep_three"]})

        with pytest.raises(PolicyError, match="unknown: 'keep_three'") as caught:
            engine.context(session.id)

    assert caught.value.field == "strategies"
    assert "fold_oldest" in str(caught.value)
