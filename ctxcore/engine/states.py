"""Owns the state of a session as designs that keep one would have it, read from records.

Nothing of it is stored: the active compaction, its parents and a lease say it all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ctxcore.engine.desk import Desk
from ctxcore.engine.proposals import lease_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What is summarized, up to where, and whether somebody is at it."""

    summary: str = ""
    summary_tokens: int = 0
    summary_created_at: datetime | None = None
    summarized_messages: int = 0
    """How many messages the summary stands for, system messages left out."""
    summarized_until: int = 0
    """The last message, from 1, that the summary stands for."""
    original_tokens: int = 0
    """What those messages took."""
    is_summarizing: bool = False
    """Whether a compaction is being worked out; false again once its lease has run out."""

    @property
    def compression_rate(self) -> float:
        """How much shorter the summary is than its source: 1 - summary / source."""
        return 1 - self.summary_tokens / self.original_tokens if self.original_tokens else 0.0


def session_state(desk: Desk, session_id: str) -> SessionState:
    """The state of a session now."""
    info = desk.store.active_compaction(session_id)
    lease = desk.store.lease(lease_of(session_id))
    is_summarizing = lease is not None and lease[1] > desk.clock()
    if info is None or not info.compaction.summary:
        return SessionState(is_summarizing=is_summarizing)
    record = info.compaction
    return SessionState(
        summary=record.summary,
        summary_tokens=record.summary_tokens,
        summary_created_at=info.created_at,
        summarized_messages=record.covered_messages,
        summarized_until=record.summarized_until,
        original_tokens=record.source_tokens,
        is_summarizing=is_summarizing,
    )
