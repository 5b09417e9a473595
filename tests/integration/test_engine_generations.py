"""What each compaction in force lost, generation by generation."""

from __future__ import annotations

import pytest

from ctxcore.compaction.loss_report import RANKS
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.generations import GenerationLosses
from tests.engines import engine_with
from tests.limits import HANG_SECONDS
from tests.losing_sessions import losing_session

MORE = [
    {"role": role, "content": f"And then REQ-{number}? " + "It is so. " * 30}
    for number in range(5_000, 5_040)
    for role in ("user", "assistant")
]


def two_generations(engine: ContextEngine) -> str:
    session_id, _ = losing_session(engine)
    engine.append(session_id, MORE)
    assert engine.compact(session_id) is not None
    return session_id


def test_each_generation_has_its_own_losses_and_verdict() -> None:
    with engine_with() as (engine, _):
        session_id = two_generations(engine)

        generations = engine.generations(session_id)

        made = engine.compactions(session_id)
        assert [one.number for one in generations] == [info.number for info in made] == [1, 2]
        for one, info in zip(generations, made, strict=True):
            report = engine.losses(session_id, info.id)
            assert one.lost == report.lost
            assert one.verdict == report.verdict
            assert sum(map(one.count, RANKS)) == len(report.lost or ())
        first = {fact.text for fact in generations[0].lost or ()}
        assert first
        assert first.isdisjoint(fact.text for fact in generations[1].lost or ())


def test_what_was_undone_is_no_generation() -> None:
    with engine_with() as (engine, _):
        session_id = two_generations(engine)

        engine.undo(session_id)

        assert [one.number for one in engine.generations(session_id)] == [1]
        assert {life.last for life in engine.sentence_lives(session_id)} <= {1}


def test_the_job_has_the_same() -> None:
    with engine_with() as (engine, _):
        session_id = two_generations(engine)

        job = engine.start_generations(session_id)
        assert engine.jobs.wait(job.id, HANG_SECONDS)
        result = engine.jobs.job(job.id).result

        assert result is not None
        found = result["generations"]
        assert isinstance(found, list)
        read = [GenerationLosses.from_dict(one) for one in found if isinstance(one, dict)]
        assert [one.to_dict() for one in read] == [
            one.to_dict() for one in engine.generations(session_id)
        ]


def test_they_are_of_the_own_sessions_alone() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.create_user("eve")
        other = ContextEngine(engine.store, user_id="eve")

        for ask in (other.generations, other.start_generations, other.sentence_lives):
            with pytest.raises(NotAllowedError):
                ask(session.id)
