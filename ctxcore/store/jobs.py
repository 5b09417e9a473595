"""Stores jobs: long work that a person started, with progress, lease and result."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, or_, select, update

from ctxcore.messages.values import JsonObject
from ctxcore.reasons.values import Reason, to_json
from ctxcore.store.database import Area, lock_name
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.rows import to_job_info
from ctxcore.store.values import JobInfo, JobState
from ctxcore.tables import JOB, JOB_SESSION

_IS_RUNNING = JOB.c.state == "running"
_WITHOUT_RESULT = [column for column in JOB.c if column.name != "result"]


class Jobs(Area):
    """The jobs of users."""

    def begin_job(
        self,
        job_id: str,
        *,
        user_id: str,
        kind: str,
        spec: JsonObject,
        digest: str,
        session_ids: Collection[str],
        at: datetime,
        lease_until: datetime,
        reuses: bool = True,
    ) -> JobInfo:
        is_alive = _IS_RUNNING & (JOB.c.lease_until > at)
        usable = or_(is_alive, JOB.c.state == "done") if reuses else is_alive
        same = select(JOB).where(JOB.c.user_id == user_id, JOB.c.digest == digest, usable)
        row: dict[str, Any] = {
            "id": job_id,
            "user_id": user_id,
            "kind": kind,
            "spec": spec,
            "digest": digest,
            "state": "running",
            "done": 0,
            "total": 0,
            "result": None,
            "error": None,
            "created_at": at,
            "lease_until": lease_until,
            "finished_at": None,
        }
        with self._database.write() as connection:
            lock_name(connection, f"job:{digest}")
            newest = same.order_by(JOB.c.created_at.desc()).limit(1)
            if (found := connection.execute(newest).mappings().first()) is not None:
                return to_job_info(found)
            connection.execute(insert(JOB), row)
            read = [{"job_id": job_id, "session_id": one} for one in sorted(set(session_ids))]
            if read:
                connection.execute(insert(JOB_SESSION), read)
        return self.job(job_id)

    def save_job_progress(self, job_id: str, done: int, total: int) -> bool:
        return self._change_running(job_id, done=done, total=total)

    def renew_jobs(self, job_ids: Collection[str], *, lease_until: datetime) -> set[str]:
        own = JOB.c.id.in_(sorted(job_ids)) & _IS_RUNNING
        with self._database.write() as connection:
            connection.execute(update(JOB).where(own), {"lease_until": lease_until})
            return set(connection.execute(select(JOB.c.id).where(own)).scalars())

    def end_job(
        self,
        job_id: str,
        state: JobState,
        *,
        at: datetime,
        result: JsonObject | None = None,
        error: Reason | None = None,
    ) -> bool:
        why = None if error is None else to_json(error)
        return self._change_running(job_id, state=state, finished_at=at, result=result, error=why)

    def job(self, job_id: str) -> JobInfo:
        found = self._first(select(JOB).where(JOB.c.id == job_id), to_job_info)
        if found is None:
            raise RecordNotFoundError(kind="job", record_id=job_id)
        return found

    def jobs(self, user_id: str, *, kind: str | None = None, limit: int = 50) -> list[JobInfo]:
        own = select(*_WITHOUT_RESULT).where(JOB.c.user_id == user_id)
        if kind is not None:
            own = own.where(JOB.c.kind == kind)
        newest = own.order_by(JOB.c.created_at.desc(), JOB.c.id.desc())
        return self._list(newest.limit(limit), to_job_info)

    def delete_job(self, job_id: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(JOB).where(JOB.c.id == job_id))

    def interrupt_stale_jobs(self, *, at: datetime) -> list[str]:
        stale = select(JOB.c.id).where(_IS_RUNNING, JOB.c.lease_until <= at)
        with self._database.write() as connection:
            job_ids = list(connection.execute(stale.order_by(JOB.c.id)).scalars())
            ended = {"state": "interrupted", "finished_at": at}
            connection.execute(update(JOB).where(JOB.c.id.in_(job_ids)), ended)
        return job_ids

    def delete_jobs(self, *, before: datetime) -> list[str]:
        old = JOB.c.finished_at < before
        with self._database.write() as connection:
            job_ids = list(connection.execute(select(JOB.c.id).where(old)).scalars())
            connection.execute(delete(JOB).where(old))
        return sorted(job_ids)

    def _change_running(self, job_id: str, **columns: Any) -> bool:
        """Changes a job if it is running; False if it is not."""
        running = update(JOB).where(JOB.c.id == job_id, _IS_RUNNING)
        with self._database.write() as connection:
            return connection.execute(running, columns).rowcount > 0
