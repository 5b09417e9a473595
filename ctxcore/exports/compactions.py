"""The compactions that apply to a session, at their places among its messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ctxcore.compaction.triggers import is_recorded
from ctxcore.exports.values import SessionContent
from ctxcore.plain import Plain
from ctxcore.reasons.codes import TriggerCode
from ctxcore.store.values import CompactionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCompaction(Plain):
    """A compaction that stands for what is before the message `before_seq`."""

    before_seq: int
    summary: str
    before_tokens: int | None
    trigger: str | None
    """What asked for it, in Claude Code's words: `auto` or `manual`, or as it was recorded."""
    recorded_at: datetime | None


def placed_compactions(content: SessionContent) -> list[PlacedCompaction]:
    """Those that other programs recorded and those in force, by place; undone ones are left out."""
    recorded = [
        PlacedCompaction(
            before_seq=one.before_seq,
            summary=one.summary,
            before_tokens=one.before_tokens,
            trigger=one.trigger,
            recorded_at=one.recorded_at,
        )
        for one in content.imported
    ]
    own = [_placed(info) for info in _in_force(content) if not is_recorded(info.compaction)]
    return sorted((*recorded, *own), key=lambda placed: placed.before_seq)


def _in_force(content: SessionContent) -> Iterator[CompactionInfo]:
    """The active compaction and those before it, oldest first."""
    by_id = {info.id: info for info in content.compactions}
    chain: list[CompactionInfo] = []
    at = by_id.get(content.session.active_compaction_id or "")
    while at is not None:
        chain.append(at)
        at = by_id.get(at.parent_id or "")
    return reversed(chain)


def _placed(info: CompactionInfo) -> PlacedCompaction:
    made = info.compaction
    is_asked = made.trigger is not None and made.trigger.code == TriggerCode.ASKED
    return PlacedCompaction(
        before_seq=made.covered_until + 1,
        summary=made.summary,
        before_tokens=made.before_tokens or None,
        trigger="manual" if is_asked else "auto",
        recorded_at=info.created_at,
    )
