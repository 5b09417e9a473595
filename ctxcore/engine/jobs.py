"""Jobs: long work that a person starts, run in threads, with a result that is stored.

Work is a generator that gives its progress after each unit and returns its result as JSON. The
units of all jobs take turns in two threads; between two units a job can be cancelled. Only the
person who started a job sees it.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TypeAlias, TypeVar

from ctxcore import __version__
from ctxcore.assembly.records import working_state_to_json
from ctxcore.engine.asynchronous import async_twin
from ctxcore.engine.background import WorkQueue
from ctxcore.engine.services import EngineServices
from ctxcore.errors import ContextError, without_message
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_canonical
from ctxcore.reasons.storage_problems import JobProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import JobInfo, JobState

T = TypeVar("T")

logger = logging.getLogger(__name__)

Progress: TypeAlias = tuple[int, int]
"""How many units are done, and of how many."""
Work: TypeAlias = Callable[[], Generator[Progress, None, JsonObject]]

BUSY_THREADS = 2  # as many as compute for turns; an event loop waits 5 ms behind each
LEASE = timedelta(seconds=30)  # chosen: how long a killed process's job seems to run on
RENEW_SECONDS = 10.0  # chosen: a third of the lease, so that one failure does not end it
SAVE_SECONDS = 0.5  # chosen: as often as a page looks at the progress
KEPT_AFTER_END = timedelta(days=30)  # chosen: as long as a deleted session


class JobRunner:
    """Runs the jobs of one process; shared by the engines of all its users."""

    def __init__(
        self, store: SessionStore, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._clock = clock
        self._queue = WorkQueue(threads=BUSY_THREADS)
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()
        self._all_ended = threading.Event()

    def run(self, job_id: str, work: Work) -> None:
        """Starts the units of a stored job."""
        with self._lock:
            if not self._running:
                self._all_ended = threading.Event()
                renewing = threading.Thread(
                    target=self._renew, args=(self._all_ended,), name="ctxcore-leases", daemon=True
                )
                renewing.start()
            self._running[job_id] = _Running(job_id=job_id, steps=_steps(work))
        self._queue.submit(job_id, lambda: self._step(job_id))

    def is_running(self, job_id: str) -> bool:
        """Whether this process works on the job."""
        return job_id in self._running

    def cancel(self, job_id: str) -> None:
        """Asks a job to stop before its next unit."""
        if (run := self._running.get(job_id)) is not None:
            run.is_cancelled = True

    def wait(self, job_id: str, timeout_seconds: float | None = None) -> bool:
        """Waits until this process does not work on the job any more; False if time ran out."""
        end = None if timeout_seconds is None else monotonic() + timeout_seconds
        while self._queue.is_busy(job_id):
            left = None if end is None else max(end - monotonic(), 0.0)
            if not self._queue.wait(job_id, left):
                return False
        return True

    def _step(self, job_id: str) -> None:
        """Does one unit of the job, and queues the next behind those of the other jobs."""
        run = self._running[job_id]
        goes_on = False
        try:
            progress = None if run.is_cancelled else self._next(run)
            goes_on = progress is not None and self._saves(run, progress) and self._queued(run)
        finally:
            if not goes_on:
                self._drop(run)

    def _next(self, run: _Running) -> Progress | None:
        """The progress after the next unit; None at the end of the work, which is stored."""
        try:
            try:
                return next(run.steps)
            except StopIteration as ended:
                self._end(run, "done", result=ended.value)
        except ContextError as error:
            self._end(run, "failed", error=error.reason)
        except Exception as error:
            told = without_message(error)
            logger.exception("job broke off job=%s", run.job_id, exc_info=told)
            broke_off = JobProblem.BROKE_OFF(kind=type(error).__name__)
            self._end(run, "failed", error=broke_off)
        return None

    def _saves(self, run: _Running, progress: Progress) -> bool:
        """Stores the progress now and then; False once the job was cancelled or erased."""
        now = monotonic()
        if run.saved is None or now - run.saved >= SAVE_SECONDS:
            run.saved = now
            return self._store.save_job_progress(run.job_id, *progress)
        return not run.is_cancelled

    def _queued(self, run: _Running) -> bool:
        """Queues the next unit; False, and the job is interrupted, while the process ends."""
        try:
            self._queue.submit(run.job_id, lambda: self._step(run.job_id))
        except RuntimeError:  # no thread takes more work
            self._end(run, "interrupted")
            return False
        return True

    def _end(
        self,
        run: _Running,
        state: JobState,
        *,
        result: JsonObject | None = None,
        error: Reason | None = None,
    ) -> None:
        at = self._clock()
        if not self._store.end_job(run.job_id, state, at=at, result=result, error=error):
            logger.info("job has been ended elsewhere job=%s", run.job_id)

    def _drop(self, run: _Running) -> None:
        run.steps.close()
        with self._lock:
            del self._running[run.job_id]
            if not self._running:
                self._all_ended.set()

    def _renew(self, all_ended: threading.Event) -> None:
        """Keeps the leases of what runs here, however long a unit takes."""
        while not all_ended.wait(RENEW_SECONDS):
            with self._lock:
                mine = set(self._running)
            try:
                alive = self._store.renew_jobs(mine, lease_until=self._clock() + LEASE)
            except ContextError as error:
                logger.warning("leases of jobs not renewed error=%s", error)
                continue
            for job_id in mine - alive:
                self.cancel(job_id)


@dataclass(slots=True, kw_only=True)
class _Running:
    """A job in this process."""

    job_id: str
    steps: Generator[Progress, None, JsonObject]
    is_cancelled: bool = False
    saved: float | None = None
    """When its progress was last stored."""


def collect(steps: Generator[object, None, T]) -> T:
    """The result of work that is done here and now."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            result: T = ended.value
            return result


def _steps(work: Work) -> Generator[Progress, None, JsonObject]:
    """The units of `work`, which is called with the first of them."""
    return (yield from work())


class Jobs:
    """The jobs of one user."""

    def __init__(self, services: EngineServices, runner: JobRunner | None = None) -> None:
        self._services = services
        self._runner = runner or JobRunner(services.store, clock=services.clock)

    def start(
        self,
        kind: str,
        spec: JsonObject,
        work: Work,
        *,
        session_ids: Sequence[str] = (),
        reads: JsonValue = None,
        anew: bool = False,
    ) -> JobInfo:
        """Starts work in the background, or returns the job that has done the same already.

        The same is: the same kind and spec, the sessions as they were then, equal `reads`, the same
        version of this library. One that is running is returned in any case.

        Args:
            kind: A code for what the work does.
            spec: What is asked for; stored with the job, so that it can be shown and run again.
            work: Makes the generator that does it, in another thread; it must not use a page.
            session_ids: The sessions that it reads. Purging one of them erases the job.
            reads: What else the result follows from, e.g. the policies in force.
            anew: Does the work again even if there is a result.

        Raises:
            SessionNotFoundError, NotAllowedError: of one of the sessions.
        """
        states: list[JsonValue] = [self._state_of(session_id) for session_id in session_ids]
        based_on: JsonObject = {
            "kind": kind,
            "spec": spec,
            "sessions": states,
            "reads": reads,
            "version": __version__,
        }
        services, at = self._services, self._services.clock()
        self.sweep()
        job_id = services.new_id()
        job = services.store.begin_job(
            job_id,
            user_id=services.user().id,
            kind=kind,
            spec=spec,
            digest=hashlib.sha256(to_canonical(based_on).encode()).hexdigest(),
            session_ids=session_ids,
            at=at,
            lease_until=at + LEASE,
            reuses=not anew,
        )
        if job.id == job_id:
            self._runner.run(job_id, work)
        return job

    def job(self, job_id: str) -> JobInfo:
        """The job, with its result if it is done.

        Raises:
            RecordNotFoundError: there is none, or it is another user's.
        """
        job = self._own(job_id)
        if self._is_abandoned(job):
            self.interrupt_stale()
            return self._own(job_id)
        return job

    def recent(self, kind: str | None = None, *, limit: int = 50) -> list[JobInfo]:
        """The user's jobs, the newest first, without their results."""
        jobs = self._services.store.jobs(self._services.user_id, kind=kind, limit=limit)
        if not any(map(self._is_abandoned, jobs)):
            return jobs
        self.interrupt_stale()
        return self._services.store.jobs(self._services.user_id, kind=kind, limit=limit)

    def cancel(self, job_id: str) -> JobInfo:
        """Cancels a job that is running; its work stops before the next unit.

        Raises:
            RecordNotFoundError: there is none, or it is another user's.
        """
        self._own(job_id)
        self._services.store.end_job(job_id, "cancelled", at=self._services.clock())
        self._runner.cancel(job_id)
        return self._own(job_id)

    def delete(self, job_id: str) -> None:
        """Erases a job with its result; one that is running stops.

        Raises:
            RecordNotFoundError: there is none, or it is another user's.
        """
        self._own(job_id)
        self._services.store.delete_job(job_id)
        self._runner.cancel(job_id)

    def wait(self, job_id: str, timeout_seconds: float | None = None) -> bool:
        """Waits until this process does not work on the job any more; False if time ran out."""
        return self._runner.wait(job_id, timeout_seconds)

    def interrupt_stale(self) -> list[str]:
        """Marks the jobs of processes that have ended as interrupted; call it at start-up."""
        return self._services.store.interrupt_stale_jobs(at=self._services.clock())

    def sweep(self) -> list[str]:
        """Erases what ended more than 30 days ago, of all users; returns the ids."""
        return self._services.store.delete_jobs(before=self._services.clock() - KEPT_AFTER_END)

    def _own(self, job_id: str) -> JobInfo:
        job = self._services.store.job(job_id)
        if job.user_id != self._services.user_id:
            raise RecordNotFoundError(kind="job", record_id=job_id)
        return job

    def _is_abandoned(self, job: JobInfo) -> bool:
        """Whether a running job is one that no process works on."""
        is_here = self._runner.is_running(job.id)
        return job.state == "running" and not is_here and job.lease_until <= self._services.clock()

    def _state_of(self, session_id: str) -> JsonObject:
        """All that tells whether a session is as it was: messages are only ever appended."""
        session = self._services.session(session_id)
        marks = self._services.store.marks(session_id)
        edits = self._services.store.rule_edits(session_id)
        return {
            "id": session.id,
            "length": session.length,
            "active": session.active_compaction_id,
            "model": session.model,
            "goal": session.goal_seq,
            "tools": to_canonical(list(session.tools)),
            "working": working_state_to_json(session.working),
            "marks": [[mark.seq, mark.kind] for mark in marks],
            "rules": [[edit.seq, edit.kind, edit.text] for edit in edits],
        }

    # the same for an event loop, each verb in a thread of its own

    astart = async_twin(start)
    ajob = async_twin(job)
    arecent = async_twin(recent)
    acancel = async_twin(cancel)
    adelete = async_twin(delete)
    # `wait` has none: `await` is a word of Python
    ainterrupt_stale = async_twin(interrupt_stale)
    asweep = async_twin(sweep)
