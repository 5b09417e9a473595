"""Rows of the compaction page: the tree of compactions, failed attempts, and plans.

A compaction is active, an ancestor of the active one, or undone; undone ones stay in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from ctxcore.compaction.triggers import is_recorded
from ctxcore.engine.events import FAILED, PLANNED, SKIPPED
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.values import Reason, as_reason
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, Event, SessionInfo
from dashboard.reads import active_chain, names_in, number_in, reason_in, text_in

State: TypeAlias = Literal["active", "earlier", "undone"]

SHOWN = 50  # chosen: attempts and plans listed
TRIED = (FAILED, SKIPPED)
FORESEEN = (PLANNED,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """One compaction of the tree; `depth` counts the undone branches before it."""

    info: CompactionInfo
    state: State
    depth: int
    is_imported: bool

    @property
    def trigger(self) -> Reason | None:
        """The rule that started it."""
        return self.info.compaction.trigger

    @property
    def is_fallback(self) -> bool:
        """Whether it is a truncation in place of a summary that failed."""
        reason = self.info.compaction.reason
        return reason is not None and reason.mentions(OutcomeCode.TRUNCATED_INSTEAD)

    @property
    def is_quoted(self) -> bool:
        """Whether it quotes in place of a summary that was refused."""
        return self.info.is_quoted

    @property
    def unsupported(self) -> tuple[str, ...]:
        """What to mark in the summary; of a refused one nothing stands in it."""
        items = [str(one.get("text", "")) for one in self.info.checked("unsupported")]
        whole = [
            str(one.get("text", ""))
            for one in self.info.checked("sentences")
            if not one.get("items")
        ]
        return (*items, *whole)

    @property
    def focus(self) -> str:
        """What a person wanted kept."""
        return text_in(self.info.details, "focus")

    @property
    def instructions(self) -> str:
        """The instructions that its summary followed."""
        return text_in(self.info.details, "instructions")

    @property
    def is_still_over(self) -> bool:
        """Whether the trigger fired again at once, so that only a new session helps."""
        reason = self.info.compaction.reason
        return reason is not None and reason.mentions(OutcomeCode.STILL_OVER)

    @property
    def reason(self) -> Reason | None:
        """Why it was made, or what failed; without the reasons wrapped around that."""
        reason = self.info.compaction.reason
        return None if reason is None else _cause(reason)

    @property
    def was_chosen(self) -> bool:
        """Whether the policy chose between strategies and recorded why."""
        is_own = not (self.is_imported or self.is_fallback or self.is_quoted)
        return is_own and self.reason not in (None, self.trigger)

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies in its details, else in its record, else those it tried."""
        names = names_in(self.info.details, "strategies") or self.info.compaction.strategies
        return names or tuple(step.strategy for step in steps(self.info.details))

    @property
    def seconds(self) -> float | None:
        """How long it took to compute."""
        return number_in(self.info.details, "seconds")

    @property
    def cost(self) -> float | None:
        """What the summary cost in US dollars; None if nothing was paid or it is unknown."""
        return number_in(self.info.details, "cost")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One strategy that was tried."""

    strategy: str
    before_tokens: int
    after_tokens: int
    outcome: Reason


def compaction_rows(infos: Sequence[CompactionInfo], active_id: str | None) -> list[CompactionRow]:
    """The compactions of a session, newest first."""
    chain = {info.id for info in active_chain(infos, active_id)}
    depths = _depths(infos)
    return [
        CompactionRow(
            info=info,
            state="active" if info.id == active_id else "earlier" if info.id in chain else "undone",
            depth=depths[info.id],
            is_imported=is_recorded(info.compaction),
        )
        for info in reversed(infos)
    ]


def steps(details: JsonObject) -> list[StepRow]:
    """The recorded strategies of a compaction."""
    raw = details.get("steps")
    return [_step(step) for step in raw if isinstance(step, dict)] if isinstance(raw, list) else []


def _cause(reason: Reason) -> Reason:
    why = reason.facts.get("why")
    is_around = reason.code in _AROUND
    return _cause(why) if is_around and isinstance(why, Reason) else reason


_AROUND = (OutcomeCode.TRUNCATED_INSTEAD, OutcomeCode.QUOTED_INSTEAD, OutcomeCode.STILL_OVER)


def _depths(infos: Sequence[CompactionInfo]) -> dict[str, int]:
    """How often the tree had branched on the way to each compaction."""
    depths: dict[str, int] = {}
    seen: dict[str | None, int] = {}
    for info in infos:
        branch = seen.get(info.parent_id, 0)
        depths[info.id] = depths.get(info.parent_id or "", 0) + branch
        seen[info.parent_id] = branch + 1
    return depths


def _step(raw: JsonObject) -> StepRow:
    return StepRow(
        strategy=str(raw.get("strategy", "")),
        before_tokens=_whole(raw.get("before_tokens")),
        after_tokens=_whole(raw.get("after_tokens")),
        outcome=reason_in(raw, "outcome") or as_reason(""),
    )


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def length_then(store: SessionStore, session: SessionInfo, info: CompactionInfo) -> int:
    """The length of the history when the compaction was made, by message times."""
    low, high = max(info.compaction.covered_until, 1), session.length
    while low < high:
        middle = (low + high + 1) // 2
        later = store.messages(session.id, middle, middle)[0].created_at > info.created_at
        low, high = (low, middle - 1) if later else (middle, high)
    return low


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A compaction that was tried and changed nothing."""

    at: datetime
    has_failed: bool
    """Whether it failed; otherwise it was skipped."""
    trigger: Reason | None
    strategies: tuple[str, ...]
    reason: Reason | None
    seconds: float | None
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A compaction that a policy in shadow mode would have made."""

    at: datetime
    trigger: Reason | None
    strategies: tuple[str, ...]
    next_call_tokens: int | None
    """The next call as it was sent without it; None where that was not recorded."""
    expected_tokens: int | None
    messages: int | None

    @property
    def saved_ratio(self) -> float | None:
        """How much smaller the next call would have been; None where that is not known."""
        if not self.next_call_tokens or self.expected_tokens is None:
            return None
        return 1 - self.expected_tokens / self.next_call_tokens


def attempts(events: Iterable[Event]) -> list[Attempt]:
    """The attempts among `events`, in their order."""
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
    """The plans among `events`, in their order."""
    return [
        Plan(
            at=event.created_at,
            trigger=reason_in(event.body, "trigger"),
            strategies=names_in(event.body, "strategies"),
            next_call_tokens=_whole_in(event, "next_call_tokens"),
            expected_tokens=_whole_in(event, "expected_tokens"),
            messages=_whole_in(event, "messages_folded"),
        )
        for event in events
    ]


def _whole_in(event: Event, name: str) -> int | None:
    value = number_in(event.body, name)
    return None if value is None else int(value)
