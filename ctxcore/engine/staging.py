"""Sessions that are written in several steps and seen at once, or not at all.

What a killed process leaves is in no list, and is erased once its lease has ended.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ctxcore.engine.leases import LEASE
from ctxcore.engine.services import EngineServices
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.holders import this_process
from ctxcore.store.sessions import is_staging_lease
from ctxcore.store.values import SessionInfo, Staging

logger = logging.getLogger(__name__)

_INDEXED_AT_ONCE = 1_000  # messages; chosen: a write that others wait for no longer than for import


class StagedSessions:
    """Sessions that are published together, with settings that are saved then."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self.id = services.new_id()
        """Who holds their leases."""
        self._session_ids: list[str] = []
        self.settings: dict[str, JsonValue] = {}
        """What is saved with the sessions, by name."""

    def create(
        self,
        *,
        title: str,
        model: str | None,
        origin: str,
        tools: Sequence[JsonObject],
        user_id: str | None = None,
    ) -> SessionInfo:
        """A session without messages, of the engine's user or another."""
        session = self._services.create_session(
            title=title,
            model=model,
            origin=origin,
            tools=tools,
            user_id=user_id,
            staging=self._staging(),
        )
        self._session_ids.append(session.id)
        return session

    def publish(self) -> None:
        """Makes the sessions searchable, then shows all of them at once."""
        store = self._services.store
        for session_id in self._session_ids:
            while store.index_pending(session_id, limit=_INDEXED_AT_ONCE):
                pass
        store.publish(self.id, self._session_ids, settings=self.settings)

    def erase(self) -> None:
        """Erases the sessions; what fails is left to the next sweep."""
        try:
            self._services.store.purge_staged(at=self._services.clock(), staging_id=self.id)
        except ContextError as error:
            logger.warning("staged sessions not erased error=%s", type(error).__name__)

    def _staging(self) -> Staging:
        until = self._services.clock() + LEASE
        return Staging(id=self.id, lease_until=until, holder=this_process())


@contextmanager
def staged_sessions(services: EngineServices) -> Iterator[StagedSessions]:
    """Sessions that are seen once the block has ended; nothing is left of them if it fails."""
    staged = StagedSessions(services)
    try:
        with services.leases.keeping(staged.id):
            yield staged
            staged.publish()
    except BaseException:
        staged.erase()
        raise


def erase_abandoned(services: EngineServices) -> list[str]:
    """Erases what killed processes staged; returns the ids of the sessions.

    Of processes of this machine at once, of others once their lease has expired.
    """
    for lease in services.leases.ended():
        if is_staging_lease(lease.name):
            services.store.release_lease(lease.name, lease.owner)
    return services.store.purge_staged(at=services.clock())
