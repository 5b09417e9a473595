"""Owns compactions that changed nothing: what failed, what was skipped, what was only planned.

They come from the session's events, newest first, and only so many of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ctxcore.engine.events import FAILED, PLANNED, SKIPPED
from ctxcore.reasons.values import Reason
from ctxcore.store.values import Event
from dashboard.compactions_page.rows import names_in, number_in, reason_in

SHOWN = 50
TRIED = (FAILED, SKIPPED)
FORESEEN = (PLANNED,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A compaction that was tried and changed nothing."""

    at: datetime
    has_failed: bool
    """Whether it was worked out and did not succeed; otherwise there was nothing to do."""
    trigger: Reason | None
    strategies: tuple[str, ...]
    reason: Reason | None
    seconds: float | None
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A compaction that a policy in shadow mode would have done."""

    at: datetime
    trigger: Reason | None
    strategies: tuple[str, ...]
    before_tokens: int | None
    expected_tokens: int | None
    saved_ratio: float | None
    messages: int | None


def attempts(events: Iterable[Event]) -> list[Attempt]:
    """What was tried, in the order in which it came."""
    return [
        Attempt(
            at=event.created_at,
            has_failed=event.kind == FAILED,
            trigger=reason_in(event.body, "trigger"),
            strategies=names_in(event.body, "strategies"),
            reason=reason_in(event.body, "reason"),
            seconds=number_in(event.body, "seconds"),
            cost=number_in(event.body, "cost"),
        )
        for event in events
    ]


def plans(events: Iterable[Event]) -> list[Plan]:
    """What would have been done, in the order in which it came."""
    return [
        Plan(
            at=event.created_at,
            trigger=reason_in(event.body, "trigger"),
            strategies=names_in(event.body, "strategies"),
            before_tokens=_whole(event, "original_tokens"),
            expected_tokens=_whole(event, "expected_tokens"),
            saved_ratio=number_in(event.body, "saved_ratio"),
            messages=_whole(event, "messages_folded"),
        )
        for event in events
    ]


def _whole(event: Event, name: str) -> int | None:
    value = number_in(event.body, name)
    return None if value is None else int(value)
