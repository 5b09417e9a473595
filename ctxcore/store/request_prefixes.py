"""Stores how requests that were made outside begin, so that the next one finds its session."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, insert, select

from ctxcore.store.database import Area, lock_name
from ctxcore.tables import REQUEST_PREFIX


class RequestPrefixes(Area):
    """The beginnings of requests, by digest."""

    def request_prefixes(self, user_id: str, digests: Collection[str]) -> dict[str, str]:
        of_user = REQUEST_PREFIX.c.user_id == user_id
        found = select(REQUEST_PREFIX.c.digest, REQUEST_PREFIX.c.session_id).where(
            of_user, REQUEST_PREFIX.c.digest.in_(sorted(digests))
        )
        with self._database.read() as connection:
            return {row.digest: row.session_id for row in connection.execute(found)}

    def save_request_prefix(self, session_id: str, digest: str, *, user_id: str) -> None:
        same = (REQUEST_PREFIX.c.user_id == user_id) & (REQUEST_PREFIX.c.digest == digest)
        row = {"user_id": user_id, "digest": digest, "session_id": session_id}
        with self._database.write() as connection:
            lock_name(connection, f"request_prefix:{user_id}:{digest}")
            connection.execute(delete(REQUEST_PREFIX).where(same))
            connection.execute(insert(REQUEST_PREFIX), row)
