"""Owns what the compaction page tells: the tree of a session's compactions, and what each did.

A compaction is active, part of the active chain, or undone; undone ones stay in the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ctxcore.compaction.triggers import is_recorded
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.values import Reason, from_json, stated
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, SessionInfo

State: TypeAlias = Literal["active", "earlier", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """One compaction of the tree; `depth` counts the branches that were undone before it."""

    info: CompactionInfo
    state: State
    depth: int
    is_imported: bool

    @property
    def before_tokens(self) -> int | None:
        """The input before it; None where the program that made it did not say."""
        return self.info.compaction.before_tokens or None

    @property
    def saved_ratio(self) -> float | None:
        """The share of the input that it freed; below 0 where the input grew."""
        before = self.before_tokens
        return None if before is None else 1 - self.info.compaction.after_tokens / before

    @property
    def trigger(self) -> Reason | None:
        """The rule that asked for it."""
        return self.info.compaction.trigger

    @property
    def is_fallback(self) -> bool:
        """Whether a truncation took the place of a summary that failed."""
        reason = self.info.compaction.reason
        return reason is not None and reason.mentions(OutcomeCode.TRUNCATED_INSTEAD)

    @property
    def is_still_over(self) -> bool:
        """Whether a rule asked again at once, so that only a new session helps."""
        reason = self.info.compaction.reason
        return reason is not None and reason.mentions(OutcomeCode.STILL_OVER)

    @property
    def reason(self) -> Reason | None:
        """Why it was made, or what failed; without what was done instead and what is left to do."""
        reason = self.info.compaction.reason
        return None if reason is None else _cause(reason)

    @property
    def was_chosen(self) -> bool:
        """Whether the policy chose between strategies and said why."""
        is_own = not self.is_imported and not self.is_fallback
        return is_own and self.reason not in (None, self.trigger)

    @property
    def strategies(self) -> tuple[str, ...]:
        """What was done in the end, as it was told; else the strategies of its record."""
        told = names_in(self.info.details, "strategies") or self.info.compaction.strategies
        return told or tuple(one.strategy for one in steps(self.info.details))

    @property
    def seconds(self) -> float | None:
        """How long it took to work out."""
        return number_in(self.info.details, "seconds")

    @property
    def cost(self) -> float | None:
        """What the summary cost in US dollars; None where nothing was paid or it is not known."""
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
    chain = active_chain(infos, active_id)
    depths = _depths(infos)
    return [_row(info, active_id, chain, depths[info.id]) for info in reversed(infos)]


def active_chain(infos: Sequence[CompactionInfo], active_id: str | None) -> list[str]:
    """The active compaction and those it builds on, newest first."""
    by_id = {info.id: info for info in infos}
    chain: list[str] = []
    at = active_id
    while at is not None and at in by_id:
        chain.append(at)
        at = by_id[at].parent_id
    return chain


def steps(details: JsonObject) -> list[StepRow]:
    """The strategies that a compaction tried, as its record tells."""
    raw = details.get("steps")
    return [_step(one) for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []


def number_in(body: JsonObject, name: str) -> float | None:
    """A number that was recorded under a name; None where there is none."""
    value = body.get(name)
    return float(value) if isinstance(value, (int, float)) else None


def names_in(body: JsonObject, name: str) -> tuple[str, ...]:
    """Names that were recorded under a name; none where there are none."""
    value = body.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def reason_in(body: JsonObject, name: str) -> Reason | None:
    """A reason that was recorded under a name; None where there is none."""
    value = body.get(name)
    try:
        return from_json(value) if isinstance(value, dict) else None
    except ValueError:  # details of an import are as they came
        return None


def _cause(reason: Reason) -> Reason:
    why = reason.facts.get("why")
    is_around = reason.code in (OutcomeCode.TRUNCATED_INSTEAD, OutcomeCode.STILL_OVER)
    return _cause(why) if is_around and isinstance(why, Reason) else reason


def _row(
    info: CompactionInfo, active_id: str | None, chain: Sequence[str], depth: int
) -> CompactionRow:
    state: State = "active" if info.id == active_id else "earlier" if info.id in chain else "undone"
    return CompactionRow(
        info=info,
        state=state,
        depth=depth,
        is_imported=is_recorded(info.compaction),
    )


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
        outcome=reason_in(raw, "outcome") or stated(""),
    )


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def length_then(store: SessionStore, session: SessionInfo, info: CompactionInfo) -> int:
    """How long the history was when the compaction was made, by the times of its messages."""
    low, high = max(info.compaction.covered_until, 1), session.length
    while low < high:
        middle = (low + high + 1) // 2
        later = store.messages(session.id, middle, middle)[0].created_at > info.created_at
        low, high = (low, middle - 1) if later else (middle, high)
    return low
