"""Jobs of an engine: progress, cancelling, results that are kept, and whose they are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from datetime import timedelta

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.jobs import LEASE, JobRunner, Progress, Work
from ctxcore.json_types import JsonObject
from ctxcore.reasons.storage_problems import JobProblem
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import JobInfo
from tests.engines import START, engine_with
from tests.limits import HANG_SECONDS


def adding(*numbers: int) -> Work:
    """Adds numbers, one a unit."""

    def work() -> Generator[Progress, None, JsonObject]:
        total = 0
        for done, number in enumerate(numbers, start=1):
            total += number
            yield done, len(numbers)
        return {"sum": total}

    return work


class Held:
    """Work that stops after its first unit until it is let go."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.is_closed = False
        self.units = 0

    def __call__(self) -> Generator[Progress, None, JsonObject]:
        try:
            while self.units < 3:
                self.began.set()
                assert self.go_on.wait(HANG_SECONDS)
                self.units += 1
                yield self.units, 3
        finally:
            self.is_closed = True
        return {"units": self.units}


def finished(engine: ContextEngine, job: JobInfo) -> JobInfo:
    """The job once nobody works on it any more."""
    assert engine.jobs.wait(job.id, HANG_SECONDS)
    return engine.jobs.job(job.id)


def test_a_job_ends_with_a_result_that_another_engine_of_the_user_reads() -> None:
    with engine_with() as (engine, _):
        job = engine.jobs.start("adding", {"numbers": [1, 2, 3]}, adding(1, 2, 3))

        done = finished(engine, job)

        assert (job.state, done.state, done.result) == ("running", "done", {"sum": 6})
        assert ContextEngine(engine.store).jobs.job(job.id).result == {"sum": 6}
        assert [one.id for one in engine.jobs.recent("adding")] == [job.id]
        assert engine.jobs.recent("other") == []


def test_progress_is_seen_while_it_runs_and_a_cancelled_job_stops_before_its_next_unit() -> None:
    with engine_with() as (engine, _):
        held = Held()
        job = engine.jobs.start("held", {}, held)
        assert held.began.wait(HANG_SECONDS)

        cancelled = engine.jobs.cancel(job.id)
        held.go_on.set()

        assert (cancelled.state, cancelled.result) == ("cancelled", None)
        assert finished(engine, job).state == "cancelled"
        assert (held.units, held.is_closed) == (1, True)


def test_units_of_several_jobs_take_turns() -> None:
    with engine_with() as (engine, _):
        held = [Held(), Held()]
        jobs = [engine.jobs.start("held", {"number": at}, one) for at, one in enumerate(held)]
        assert all(one.began.wait(HANG_SECONDS) for one in held)

        quick = engine.jobs.start("adding", {}, adding(4, 5))  # both threads are taken
        for one in held:
            one.go_on.set()

        assert finished(engine, quick).result == {"sum": 9}
        assert [finished(engine, job).result for job in jobs] == [{"units": 3}] * 2


def test_the_same_work_on_unchanged_sessions_is_not_done_again() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session("s")
        engine.append(session.id, [{"role": "user", "content": "hello"}])

        def start(**given: bool) -> JobInfo:
            work = adding(1)
            return engine.jobs.start("adding", {"n": 1}, work, session_ids=[session.id], **given)

        first = start()
        finished(engine, first)

        assert start().id == first.id
        assert start(anew=True).id != first.id
        engine.pin(session.id, 0)
        pinned = start()
        assert pinned.id != first.id
        engine.append(session.id, [{"role": "user", "content": "more"}])
        assert start().id not in (first.id, pinned.id)
        for job in engine.jobs.recent():
            finished(engine, job)


def test_other_policies_are_other_work() -> None:
    with engine_with() as (engine, _):
        first = engine.jobs.start("adding", {}, adding(1), reads={"trigger_ratio": 0.8})
        other = engine.jobs.start("adding", {}, adding(1), reads={"trigger_ratio": 0.9})

        assert first.id != other.id
        assert {finished(engine, job).state for job in (first, other)} == {"done"}


def test_a_job_that_fails_says_why(caplog: pytest.LogCaptureFixture) -> None:
    def refusing() -> Generator[Progress, None, JsonObject]:
        yield 1, 2
        raise RecordNotFoundError(kind="call", record_id="c")

    def breaking() -> Generator[Progress, None, JsonObject]:
        yield 1, 2
        raise KeyError("secret words")

    with engine_with() as (engine, _), caplog.at_level(logging.CRITICAL):
        refused = finished(engine, engine.jobs.start("refusing", {}, refusing))
        broken = finished(engine, engine.jobs.start("breaking", {}, breaking))

    assert (refused.state, str(refused.error)) == ("failed", "there is no call 'c'")
    assert broken.error == JobProblem.BROKE_OFF(kind="KeyError")
    assert "secret" not in str(broken.error)


def test_nobody_sees_or_ends_the_jobs_of_another_user() -> None:
    with engine_with() as (engine, _):
        engine.user()  # the first user is an operator
        eve = ContextEngine(engine.store, user_id="eve")
        session = engine.create_session("mine")
        job = eve.jobs.start("adding", {}, adding(1))
        assert eve.jobs.wait(job.id, HANG_SECONDS)

        assert engine.jobs.recent() == []
        for refused in (engine.jobs.job, engine.jobs.cancel, engine.jobs.delete):
            with pytest.raises(RecordNotFoundError):
                refused(job.id)
        with pytest.raises(NotAllowedError):
            eve.jobs.start("adding", {}, adding(1), session_ids=[session.id])
        eve.jobs.delete(job.id)
        assert eve.jobs.recent() == []


def test_a_job_of_a_process_that_ended_becomes_interrupted() -> None:
    with engine_with() as (engine, _):
        now = START + timedelta(days=1)
        engine.store.create_user("local", at=START)
        engine.store.begin_job(
            "left",
            user_id="local",
            kind="adding",
            spec={},
            digest="d",
            session_ids=[],
            at=now,
            lease_until=now + LEASE,
        )
        before = ContextEngine(engine.store, clock=lambda: now)
        after = ContextEngine(engine.store, clock=lambda: now + LEASE)

        assert before.jobs.job("left").state == "running"
        assert [job.state for job in after.jobs.recent()] == ["interrupted"]
        assert after.jobs.job("left").state == "interrupted"


def test_what_runs_here_is_not_interrupted_however_long_a_unit_takes() -> None:
    with engine_with() as (engine, _):
        runner = JobRunner(engine.store)
        held = Held()
        early = ContextEngine(engine.store, job_runner=runner, clock=lambda: START)
        job = early.jobs.start("held", {}, held)
        assert held.began.wait(HANG_SECONDS)
        later = ContextEngine(engine.store, job_runner=runner, clock=lambda: START + 2 * LEASE)

        assert later.jobs.job(job.id).state == "running"
        held.go_on.set()
        assert finished(later, job).state == "done"


def test_old_results_are_swept_when_a_job_starts() -> None:
    with engine_with() as (engine, _):
        old = engine.jobs.start("adding", {}, adding(1))
        finished(engine, old)
        later = ContextEngine(engine.store, clock=lambda: START + timedelta(days=40))

        new = later.jobs.start("adding", {"n": 2}, adding(2))
        finished(later, new)

        assert [job.id for job in later.jobs.recent()] == [new.id]
